import type { ArchiveMember, Archives, WrittenArchive } from '../archive/archives.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { isIndexLocked } from '../git/operation-state.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import { runWriting, runWritingOrNot } from '../git/run-writing.ts';
import { type IndexChange, writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { leftAt } from './action-refusal.ts';
import type { Confirmations } from './discard-confirmations.ts';
import type { DiscardOutcome, DiscardPreview, DiscardRequest } from './discard-contract.ts';
import { type DiscardPlan, planDiscard } from './discard-plan.ts';
import { previewOf } from './discard-preview.ts';
import {
  discardFacts,
  filesArea,
  indexArea,
  objectsPath,
  printRecords,
  recordsPath,
} from './discard-record.ts';
import { assertOpenScope, type DiscardScope, parseScope } from './discard-scope.ts';
import { type FamilyTurn, familyKey, inFamily } from './in-family.ts';
import { indexLocked, whileLocked } from './index-lock.ts';
import { namesOf } from './read-changes.ts';
import { removeEmptied, removeKept } from './remove-kept.ts';

/** What discards need beside what all actions do. */
export interface DiscardContext extends ActionContext {
  readonly archives: Archives;
  readonly confirmations: Confirmations;
}

/** See `RepositoryActions.discard`. */
export async function discard(
  context: DiscardContext,
  selector: string,
  request: DiscardRequest,
  signal?: AbortSignal,
): Promise<DiscardOutcome> {
  const scope = parseScope(request);
  const task = (turn: FamilyTurn) => discardInTurn(context, turn, scope, request, signal);
  return await inFamily(context, selector, task, signal);
}

async function discardInTurn(
  context: DiscardContext,
  turn: FamilyTurn,
  scope: DiscardScope,
  request: DiscardRequest,
  signal?: AbortSignal,
): Promise<DiscardOutcome> {
  const { capability } = turn;
  assertOpenScope(request, capability);
  const plan = await planDiscard(context, capability, scope, signal);
  requireConfirmation(context, capability.root, plan, scope, request);
  if (await isIndexLocked(capability)) throw indexLocked();
  const archive = await keep(context, turn, plan, signal);
  await destroyOrForget(context, turn, plan, archive, () => recheck(context, turn, scope, plan, signal));
  await context.archives.finish(archive.id);
  const { counts, left } = previewOf(plan);
  return { archive: archive.id, counts, left };
}

/** @throws `confirmation_required` | `state_changed`, each with the preview of the state as it is now */
function requireConfirmation(
  { confirmations }: DiscardContext,
  root: string,
  plan: DiscardPlan,
  { key }: DiscardScope,
  { token, caller }: DiscardRequest,
): void {
  if (token === plan.token) return;
  const preview = previewOf(plan);
  if (token !== undefined) throw refusedWith('state_changed', preview);
  if (caller !== undefined) {
    const asked = JSON.stringify([caller, root, key]);
    if (confirmations.confirms(asked, plan.token)) return;
    confirmations.note(asked, plan.token);
  }
  throw refusedWith('confirmation_required', preview);
}

function refusedWith(
  code: 'confirmation_required' | 'state_changed',
  preview: DiscardPreview,
): AuthorityError {
  return new AuthorityError(code, { details: { reasonKey: 'actions.discard.confirm', ...preview } });
}

/** Writes the archive. @throws `not_archivable` | `archive_quota_exceeded` | ...: nothing was destroyed */
async function keep(
  { archives, git }: DiscardContext,
  { capability }: FamilyTurn,
  plan: DiscardPlan,
  signal?: AbortSignal,
): Promise<WrittenArchive> {
  const oids = plan.changes.flatMap(({ staged, index }) =>
    staged === '.' || index === null ? [] : [index.oid],
  );
  const pack =
    oids.length === 0
      ? null
      : await runWriting(git, readCommands.packObjects(pinnedPlace(capability), [...new Set(oids)]), signal);
  const members = function* (): Generator<ArchiveMember> {
    yield { area: indexArea, path: recordsPath, bytes: Buffer.from(printRecords(plan)) };
    if (pack !== null) yield { area: indexArea, path: objectsPath, bytes: pack };
    for (const { path } of plan.files) yield { area: filesArea, path, from: capability.held.directory };
  };
  const facts = discardFacts(capability, plan);
  return await archives.write(
    { kind: 'discard', owner: familyKey(capability), facts, members: members() },
    signal,
  );
}

/** The archive may have taken its time. @throws `state_changed` */
async function recheck(
  context: DiscardContext,
  { capability }: FamilyTurn,
  scope: DiscardScope,
  plan: DiscardPlan,
  signal?: AbortSignal,
): Promise<void> {
  const now = await planDiscard(context, capability, scope, signal);
  if (now.token !== plan.token) throw refusedWith('state_changed', previewOf(now));
}

/**
 * The index first, since Git changes all of it or nothing; then the files, each of which must still be what the archive has; then the files
 * of the commit, where nothing stands. From the index on the action goes to its end, whoever waits for it.
 */
async function destroyOrForget(
  context: DiscardContext,
  turn: FamilyTurn,
  plan: DiscardPlan,
  archive: WrittenArchive,
  check: () => Promise<void>,
): Promise<void> {
  const recovery = { restore: archive.id };
  let stage: 'check' | 'reset' | 'clean' | 'checkout' = 'check';
  try {
    await check();
    await turn.assertCurrent();
    stage = 'reset';
    await resetIndex(context, turn, plan);
    stage = 'clean';
    const changed = await removeFiles(turn, archive);
    if (changed.length > 0) throw fileChanged(changed);
    stage = 'checkout';
    await bringBack(context, turn, plan);
  } catch (error) {
    if (stage !== 'check' && !(stage === 'reset' && isUntouched(error)))
      throw leftAt(error, { partial: true, stage, archive: archive.id, recovery });
    // Nothing was destroyed, so there is nothing to bring back.
    await context.archives.drop(archive.id).catch(() => undefined);
    throw error;
  }
}

/** Whether Git said itself that it did not change the index; one that was killed may have. */
function isUntouched(error: unknown): boolean {
  if (!isAuthorityError(error)) return false;
  return (
    error.details['exitCode'] !== undefined ||
    (error.code === 'repository_locked' && error.details['what'] === 'index')
  );
}

async function resetIndex(
  { git }: DiscardContext,
  { capability }: FamilyTurn,
  { changes, head }: DiscardPlan,
): Promise<void> {
  const entries = changes.flatMap((record): readonly IndexChange[] => {
    // An intent to add has neither.
    const like = record.head?.oid ?? record.index?.oid ?? head.commit;
    if (record.staged === '.' && record.head !== null) return [];
    return [{ path: record.path, entry: record.head, like }];
  });
  if (entries.length === 0) return;
  const command = writeCommands.setIndex(pinnedPlace(capability), entries);
  await whileLocked(capability, () => runWriting(git, command));
}

/** Files that are not what was kept are left alone. */
async function removeFiles(turn: FamilyTurn, { entries }: WrittenArchive): Promise<readonly string[]> {
  const { held } = turn.capability;
  const files = entries.filter(({ area }) => area === filesArea);
  const changed: string[] = [];
  for (const entry of files) {
    await turn.assertCurrent();
    if ((await removeKept(held, entry)) === 'changed') changed.push(entry.path);
  }
  await turn.assertCurrent();
  await removeEmptied(
    held,
    files.map(({ path }) => path),
  );
  return changed;
}

async function bringBack(context: DiscardContext, turn: FamilyTurn, { changes }: DiscardPlan): Promise<void> {
  const { git, configuration } = context;
  const { capability } = turn;
  const paths = changes.filter(({ head }) => head !== null).map(({ path }) => path);
  if (paths.length === 0) return;
  const place = await configuration.clear(capability, 'work-tree');
  await turn.assertCurrent();
  const command = writeCommands.checkOutIndex(place, paths);
  const all = await whileLocked(capability, () => runWritingOrNot(git, command));
  if (!all)
    throw new AuthorityError('git_failed', {
      details: { command: command.name, reason: 'files-in-the-way' },
    });
}

function fileChanged(paths: readonly string[]): AuthorityError {
  return new AuthorityError('identity_changed', { details: { what: 'file', paths: namesOf(paths) } });
}
