import type { ArchiveEntry, ArchiveSummary } from '../archive/archives.ts';
import type { OpenArchive } from '../archive/open-archive.ts';
import type { RestoredEntry } from '../archive/restore-entry.ts';
import type { NativeEntry } from '../capability/handles.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { captureHead } from '../git/captured-head.ts';
import { findStanding } from '../git/operation-state.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { runWriting } from '../git/run-writing.ts';
import { type IndexChange, writeCommands } from '../git/write-commands.ts';
import { actionRefused } from './action-refusal.ts';
import type { DiscardContext } from './discard.ts';
import type { Discarded, RestoreDiscardedOutcome, RestoreDiscardedRequest } from './discard-contract.ts';
import { lookAt, readRecords } from './discard-plan.ts';
import { shown } from './discard-preview.ts';
import { type DiscardedChange, filesArea, objectsPath, readChangesOf, readMember } from './discard-record.ts';
import { assertOpenScope, parseScope } from './discard-scope.ts';
import { type FamilyTurn, familyKey, inFamily } from './in-family.ts';
import { whileLocked } from './index-lock.ts';

/** See `RepositoryActions.discarded`. */
export async function listDiscarded(
  { authority, archives }: DiscardContext,
  selector: string,
  signal?: AbortSignal,
): Promise<readonly Discarded[]> {
  await using capability = await authority.authorizeRepository(selector, signal);
  const summaries = await archives.list(familyKey(capability));
  await capability.assertCurrent(signal);
  return summaries
    .filter(({ kind }) => kind === 'discard')
    .map((summary) => present(summary, capability.root));
}

function present(
  { id, createdAt, keptUntil, facts, finished, entries, bytes }: ArchiveSummary,
  root: string,
): Discarded {
  const { root: where, branch, head } = facts;
  return {
    archive: id,
    createdAt,
    keptUntil,
    here: where === root,
    finished,
    branch: typeof branch === 'string' ? branch : null,
    head: typeof head === 'string' ? head : null,
    files: entries,
    bytes,
  };
}

/** See `RepositoryActions.restoreDiscarded`. */
export async function restoreDiscarded(
  context: DiscardContext,
  selector: string,
  request: RestoreDiscardedRequest,
  signal?: AbortSignal,
): Promise<RestoreDiscardedOutcome> {
  const scope = parseScope({ paths: request.paths });
  return await inFamily(
    context,
    selector,
    async (turn) => {
      assertOpenScope({ paths: request.paths }, turn.capability);
      using archive = await context.archives.open(request.archive);
      const { kind, owner } = archive.summary;
      // As if there were none: what others have is nobody's business.
      if (kind !== 'discard' || owner !== familyKey(turn.capability))
        throw new AuthorityError('archive_not_found');
      const operation = await findStanding(turn.capability);
      if (operation !== null) throw actionRefused('actions.merge.inProgress', { operation });
      return await restoreInTurn(context, turn, archive, scope.includesPath, signal);
    },
    signal,
  );
}

async function restoreInTurn(
  context: DiscardContext,
  turn: FamilyTurn,
  archive: OpenArchive,
  includes: (path: string) => boolean,
  signal?: AbortSignal,
): Promise<RestoreDiscardedOutcome> {
  const { capability } = turn;
  const all = await archive.entries();
  const everything = await readChangesOf(archive, all);
  const changes = everything.filter(({ path }) => includes(path));
  // Looked at before Git does: what is then found as it was here, Git has judged.
  const judged = await lookAtAll(
    capability,
    changes.filter(({ head }) => head !== null),
  );
  // With the ignored files, each by name: whatever stands in the work tree and is not among them is as commit and index have it.
  const records = await readRecords(context, capability, true, signal);
  const own = new Set(records.map(({ path }) => path));
  const outcomes = await archive.restore(capability.held, {
    entries: all.filter(({ area, path }) => area === filesArea && includes(path)),
    mayReplace: async (path, standing) => isSame(judged.get(path), standing) && !isWithin(path, own),
    assertCurrent: turn.assertCurrent,
  });
  const dirty = new Set(records.filter(({ kind }) => kind === 'changed').map(({ path }) => path));
  const kept = new Set(everything.filter(({ head }) => head !== null).map(({ path }) => path));
  const fits = ({ path }: DiscardedChange) => !dirty.has(path) && !hasOtherKind(path, kept);
  const staged = await restoreIndex(context, turn, archive, all, changes.filter(fits));
  const isStaged = new Set(staged);
  return {
    restored: pathsOf(outcomes, 'restored'),
    present: pathsOf(outcomes, 'present'),
    conflicts: outcomes
      .filter(({ outcome }) => outcome === 'in-the-way' || outcome === 'refused')
      .map(({ path, outcome, code }) => ({ path: shown(path), reason: code ?? outcome })),
    staged: staged.map(shown),
    unstaged: changes
      .filter((change) => change.isStaged && !isStaged.has(change.path))
      .map(({ path }) => shown(path)),
  };
}

/** Puts staged entries back where the commit is the one that they were staged against. A deletion is never done again. */
async function restoreIndex(
  { git }: DiscardContext,
  turn: FamilyTurn,
  archive: OpenArchive,
  all: readonly ArchiveEntry[],
  changes: readonly DiscardedChange[],
): Promise<readonly string[]> {
  const { capability } = turn;
  const head = await captureHead(capability, git);
  if (head.commit !== archive.summary.facts['head']) return [];
  const entries = changes.flatMap(({ path, index, isStaged }): readonly IndexChange[] =>
    isStaged && index !== null ? [{ path, entry: index, like: index.oid }] : [],
  );
  const pack = await readMember(archive, all, objectsPath);
  if (entries.length === 0 || pack === null) return [];
  const place = pinnedPlace(capability);
  await turn.assertCurrent();
  await runWriting(git, writeCommands.unpackObjects(place, pack));
  await whileLocked(capability, () => runWriting(git, writeCommands.setIndex(place, entries)));
  return entries.map(({ path }) => path);
}

type Looks = ReadonlyMap<string, NativeEntry>;

async function lookAtAll(
  { held }: RepositoryCapability,
  changes: readonly DiscardedChange[],
): Promise<Looks> {
  const looks = new Map<string, NativeEntry>();
  for (const { path } of changes) {
    const standing = await lookAt(held.directory, path);
    if (standing !== null) looks.set(path, standing);
  }
  return looks;
}

function isSame(before: NativeEntry | undefined, now: NativeEntry): boolean {
  return (
    before !== undefined &&
    before.inode === now.inode &&
    before.size === now.size &&
    before.modifiedNs === now.modifiedNs &&
    before.changedNs === now.changedNs
  );
}

/** Whether the index has a directory where a file would be, or a file where a directory would be. */
function hasOtherKind(path: string, kept: ReadonlySet<string>): boolean {
  if (isWithin(path, kept) && !kept.has(path)) return true;
  for (const other of kept) if (other.startsWith(`${path}/`)) return true;
  return false;
}

/** Whether a path, or a directory above it, is among the names; a name that ends with `/` is that of a repository. */
function isWithin(path: string, names: ReadonlySet<string>): boolean {
  if (names.has(path)) return true;
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    if (names.has(path.slice(0, slash)) || names.has(path.slice(0, slash + 1))) return true;
  }
  return false;
}

function pathsOf(outcomes: readonly RestoredEntry[], wanted: RestoredEntry['outcome']): readonly string[] {
  return outcomes.filter(({ outcome }) => outcome === wanted).map(({ path }) => shown(path));
}
