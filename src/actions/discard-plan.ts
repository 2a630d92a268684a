import { createHash } from 'node:crypto';
import type { NativeEntry } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { isReservedName } from '../capability/transaction-name.ts';
import { type CapturedHead, captureHead } from '../git/captured-head.ts';
import { type ChangedRecord, parseChangedRecords } from '../git/changed-records.ts';
import { malformedOutput, runExpecting } from '../git/expect-success.ts';
import { findUnfinished } from '../git/operation-state.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused } from './action-refusal.ts';
import type { DiscardScope } from './discard-scope.ts';
import { findOpenMerge } from './open-merge-heads.ts';
import { namesOf, unmergedIndex } from './read-changes.ts';

/** Something that stands in the work tree and is to go. Latin-1. */
export interface DoomedFile {
  readonly path: string;
  readonly standing: NativeEntry;
  readonly kind: 'tracked' | 'untracked' | 'ignored';
}

/** What a discard would do to one state of a checkout. */
export interface DiscardPlan {
  readonly head: CapturedHead;
  /** Tracked paths that differ from the commit. */
  readonly changes: readonly ChangedRecord[];
  readonly files: readonly DoomedFile[];
  /** What is left alone: submodules, and repositories among the files. */
  readonly left: readonly string[];
  /** Stands for exactly this state and this scope. */
  readonly token: string;
}

const batch = 32;

/**
 * Reads what differs from the commit, within a scope. Changes nothing.
 * @throws `action_refused`: `actions.merge.inProgress` (details.operation) | `actions.commit.clean` | `actions.discard.blocked` (details.reason
 *   `ignored-in-the-way`, details.paths) | `unmerged_index` (details.paths) | `untrusted_repository_config` | `git_failed` | ...
 */
export async function planDiscard(
  context: ActionContext,
  capability: RepositoryCapability,
  scope: DiscardScope,
  signal?: AbortSignal,
): Promise<DiscardPlan> {
  const operation = await findUnfinished(capability);
  if (operation !== null) throw actionRefused('actions.merge.inProgress', { operation });
  const head = await captureHead(capability, context.git, signal);
  const merge = await findOpenMerge(context, capability, head.commit, signal);
  if (merge.heads.length > 0) throw actionRefused('actions.merge.inProgress', { operation: 'merge' });
  const all = await readRecords(context, capability, scope.ignored, signal);
  const records = all.filter((record) => scope.includes(record) && !isReserved(record));
  const unmerged = records.filter(({ kind }) => kind === 'unmerged');
  if (unmerged.length > 0) throw unmergedIndex(unmerged);
  const isOwn = ({ path, isSubmodule }: ChangedRecord) => !isSubmodule && !path.endsWith('/');
  const own = records.filter(isOwn);
  if (own.length === 0) throw actionRefused('actions.commit.clean');
  const files = await findDoomed(capability, own);
  await assertNothingInTheWay(context, capability, own, files, signal);
  const changes = own.filter(({ kind }) => kind === 'changed');
  const left = records.filter((record) => !isOwn(record)).map(({ path }) => path);
  return { head, changes, files, left, token: tokenOf(capability, scope, { head, changes, files }) };
}

/** What a change under way has moved aside is no file of the checkout; recovery puts it back or finishes. */
function isReserved({ path }: ChangedRecord): boolean {
  return isReservedName(path.slice(path.lastIndexOf('/') + 1));
}

/** All that differs from HEAD, with names of ignored files where they are asked for. */
export async function readRecords(
  { git, configuration, user }: ActionContext,
  capability: RepositoryCapability,
  ignored: boolean,
  signal?: AbortSignal,
): Promise<readonly ChangedRecord[]> {
  const { excludesFile } = await user(signal);
  const place = await configuration.clear(capability, 'work-tree', signal);
  const command = readCommands.status(place, {
    ignored,
    ...(excludesFile === undefined ? {} : { excludesFile }),
  });
  const records = parseChangedRecords(await runExpecting(git, command, signal));
  if (records === null) throw malformedOutput(command);
  return records;
}

/** What stands under each path. Where the commit has a file, whatever stands there has to make room for it. */
async function findDoomed(
  { held }: RepositoryCapability,
  records: readonly ChangedRecord[],
): Promise<readonly DoomedFile[]> {
  const files = new Map<string, DoomedFile>();
  for (let start = 0; start < records.length; start += batch) {
    const some = records.slice(start, start + batch);
    const found = await Promise.all(some.map(({ path }) => lookAt(held.directory, path)));
    some.forEach(({ path, kind }, at) => {
      const standing = found[at] ?? null;
      if (standing === null || standing.type === 'directory') return;
      // One that is untracked as well as changed counts as tracked.
      if (files.get(path)?.kind === 'tracked') return;
      files.set(path, { path, standing, kind: kind === 'changed' ? 'tracked' : (kind as 'untracked') });
    });
  }
  return [...files.values()];
}

/** Null when nothing stands there, or something that is no directory stands above. */
export async function lookAt(
  directory: RepositoryCapability['held']['directory'],
  path: string,
): Promise<NativeEntry | null> {
  try {
    return await directory.stat(Buffer.from(path, 'latin1'), null);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) return null;
    throw refusalOf(error);
  }
}

/** A file of the commit can come back only where nothing is left that the scope keeps. */
async function assertNothingInTheWay(
  { git }: ActionContext,
  capability: RepositoryCapability,
  records: readonly ChangedRecord[],
  files: readonly DoomedFile[],
  signal?: AbortSignal,
): Promise<void> {
  const doomed = new Set(files.map(({ path }) => path));
  const inTheWay = new Set<string>();
  for (const { path, head } of records) {
    if (head === null || doomed.has(path)) continue;
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      const above = path.slice(0, slash);
      const found = await lookAt(capability.held.directory, above);
      if (found !== null && found.type !== 'directory' && !doomed.has(above)) inTheWay.add(above);
    }
    const found = await lookAt(capability.held.directory, path);
    if (found?.type !== 'directory') continue;
    const name = Buffer.from(path, 'latin1').toString('utf8');
    // What cannot be asked about counts as occupied.
    if (Buffer.from(name).toString('latin1') !== path) inTheWay.add(path);
    const command = readCommands.untrackedBelow(pinnedPlace(capability), [name]);
    const below = (await runExpecting(git, command, signal)).toString('latin1').split('\0').slice(0, -1);
    for (const inside of below) if (!doomed.has(inside)) inTheWay.add(inside);
  }
  if (inTheWay.size === 0) return;
  const paths = namesOf([...inTheWay]);
  throw actionRefused('actions.discard.blocked', { reason: 'ignored-in-the-way', paths });
}

function tokenOf(
  { held }: RepositoryCapability,
  { key }: DiscardScope,
  { head, changes, files }: Pick<DiscardPlan, 'head' | 'changes' | 'files'>,
): string {
  const { inode, device } = held.identity;
  const state = [
    [String(inode), String(device), key, head.branch, head.commit],
    changes.map(({ path, staged, unstaged, head: was, index }) => [path, staged, unstaged, was, index]),
    files.map(({ path, kind, standing }) => [
      path,
      kind,
      standing.mode,
      standing.size,
      String(standing.inode),
      String(standing.modifiedNs),
      String(standing.changedNs),
    ]),
  ];
  return createHash('sha256').update(JSON.stringify(state)).digest('base64url');
}
