import { createHash } from 'node:crypto';
import type { DirectoryHandle, NativeEntry } from '../capability/handles.ts';
import type { ManagedWorktreeCapability } from '../capability/managed-worktree-capability.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { type CapturedHead, captureHead } from '../git/captured-head.ts';
import { malformedOutput, runExpecting } from '../git/expect-success.ts';
import { type IndexEntry, parseIndexEntries } from '../git/index-entries.ts';
import { findStanding, isIndexLocked, type StandingOperation } from '../git/operation-state.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { preserveCommands } from '../git/preserve-commands.ts';
import { readCommands } from '../git/read-commands.ts';
import { parseStatusRecords, type StatusRecord } from '../git/status-records.ts';
import type { ArchiveContext } from './archive-context.ts';
import { findUnsent, type UnsentCommits } from './preflight-commits.ts';
import { findObstacles } from './removal-obstacles.ts';

/** One worktree as it stands at one moment. Paths are Latin-1. */
export interface WorktreeSurvey {
  readonly head: CapturedHead;
  readonly records: readonly StatusRecord[];
  readonly entries: readonly IndexEntry[];
  /** Tracked files that Git was told not to look at, and that stand there all the same: they may hold anything. */
  readonly hidden: readonly string[];
  /** What stands there and is in no commit as it stands. */
  readonly files: ReadonlyMap<string, NativeEntry>;
  /** Repositories of their own in it: submodules with files, clones, other worktrees, and whatever is called `.git`. */
  readonly repositories: readonly string[];
  /** Other file systems mounted in it. */
  readonly mounts: readonly string[];
  readonly operation: StandingOperation;
  readonly locks: { readonly worktree: boolean; readonly index: boolean };
  readonly commits: UnsentCommits;
  /** Stands for exactly this state. */
  readonly token: string;
}

const batch = 64;

/**
 * Looks at everything that would be gone with the worktree. Whatever cannot be read is a refusal; nothing counts as clean because it was
 * not seen. Neither the configuration of the repository nor that of a user hides a file (W7, W8).
 * @param ownLock whether the worktree lock there is ours, and so none
 * @throws `untrusted_repository_config` | `git_failed` | `identity_changed` | `repository_unsupported` | `storage_failed` | ...
 */
export async function surveyWorktree(
  context: ArchiveContext,
  capability: ManagedWorktreeCapability,
  { ownLock = false, signal }: { readonly ownLock?: boolean; readonly signal?: AbortSignal | undefined } = {},
): Promise<WorktreeSurvey> {
  const { git } = context;
  const { held, repository } = capability;
  const locks = {
    worktree: !ownLock && (await exists(repository.gitDirectory, 'locked')),
    index: await isIndexLocked(capability),
  };
  const head = await captureHead(capability, git, signal);
  const entries = await readEntries(context, capability, signal);
  const records = await readRecords(context, capability, signal);
  const operation = await findStanding(capability);
  const commits = await findUnsent(git, capability, head, signal);
  const obstacles = await findObstacles(held.directory);
  const isReached = (path: string) => !obstacles.mounts.some((mount) => `${path}/`.startsWith(`${mount}/`));
  const reached = entries.filter(({ path }) => isReached(path));
  const submodules = await findSubmodules(held.directory, reached);
  const nested = records.filter(({ path }) => path.endsWith('/')).map(({ path }) => path.slice(0, -1));
  const hiddenFiles = await lookAtAll(
    held.directory,
    reached.filter(({ isHidden, isSubmodule }) => isHidden && !isSubmodule).map(({ path }) => path),
  );
  const changed = records
    .filter(({ path }) => !path.endsWith('/') && isReached(path))
    .map(({ path }) => path);
  const files = new Map([...hiddenFiles, ...(await lookAtAll(held.directory, changed))]);
  for (const path of submodules) files.delete(path);
  const survey = {
    head,
    records,
    entries,
    hidden: [...hiddenFiles.keys()],
    files,
    repositories: [...new Set([...nested, ...submodules, ...obstacles.repositories])],
    mounts: obstacles.mounts,
    operation,
    locks,
    commits,
  };
  return { ...survey, token: tokenOf(capability, survey) };
}

/** Every file by name, ignored ones included; the ignore file of the user decides only what is called ignored. */
async function readRecords(
  { git, configuration, user }: ArchiveContext,
  capability: ManagedWorktreeCapability,
  signal?: AbortSignal,
): Promise<readonly StatusRecord[]> {
  const { excludesFile } = await user(signal);
  const place = await configuration.clear(capability, 'work-tree', signal);
  const command = readCommands.status(place, { ignored: true, excludesFile });
  const records = parseStatusRecords(await runExpecting(git, command, signal));
  if (records === null) throw malformedOutput(command);
  return records;
}

async function readEntries(
  { git }: ArchiveContext,
  capability: ManagedWorktreeCapability,
  signal?: AbortSignal,
): Promise<readonly IndexEntry[]> {
  const command = preserveCommands.indexEntries(pinnedPlace(capability));
  const entries = parseIndexEntries(await runExpecting(git, command, signal));
  if (entries === null) throw malformedOutput(command);
  return entries;
}

/** Git does not look below them. One that was never checked out is an empty directory, or none. */
async function findSubmodules(
  root: DirectoryHandle,
  entries: readonly IndexEntry[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { path, isSubmodule } of entries) {
    if (!isSubmodule) continue;
    const entry = await lookAt(root, path);
    if (entry === null) continue;
    if (entry.type === 'directory' && (await isEmpty(root, path))) continue;
    found.push(path);
  }
  return found;
}

async function isEmpty(root: DirectoryHandle, path: string): Promise<boolean> {
  try {
    const { names } = await root.list(bytesOf(path), { rootPath: '/', limit: 1 }, null);
    return names.length === 0;
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Those of the names that something other than a directory stands under. */
async function lookAtAll(
  root: DirectoryHandle,
  paths: readonly string[],
): Promise<ReadonlyMap<string, NativeEntry>> {
  const found = new Map<string, NativeEntry>();
  for (let start = 0; start < paths.length; start += batch) {
    const some = paths.slice(start, start + batch);
    const entries = await Promise.all(some.map((path) => lookAt(root, path)));
    some.forEach((path, at) => {
      const entry = entries[at] ?? null;
      if (entry !== null && entry.type !== 'directory') found.set(path, entry);
    });
  }
  return found;
}

/** Null when nothing stands there, or something that is no directory stands above. */
export async function lookAt(root: DirectoryHandle, path: string): Promise<NativeEntry | null> {
  try {
    return await root.stat(bytesOf(path), null);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) return null;
    throw refusalOf(error);
  }
}

async function exists(directory: DirectoryHandle, name: string): Promise<boolean> {
  return (await lookAt(directory, name)) !== null;
}

export function bytesOf(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}

function tokenOf({ held }: ManagedWorktreeCapability, survey: Omit<WorktreeSurvey, 'token'>): string {
  const { inode, device } = held.directory.place();
  const hash = createHash('sha256');
  const add = (...fields: readonly (string | number | boolean | bigint | null)[]): void => {
    hash.update(
      `${JSON.stringify(fields.map((field) => (typeof field === 'bigint' ? `${field}` : field)))}\n`,
    );
  };
  const { head, records, entries, files, repositories, mounts, operation, locks, commits } = survey;
  add(inode, device, head.branch, head.commit, operation, locks.worktree, locks.index);
  add(commits.unpushed.count, commits.unreachable.count);
  for (const { path, staged, unstaged } of records) add(path, staged, unstaged);
  for (const { path, oid, isHidden, isUnmerged } of entries) add(path, oid, isHidden, isUnmerged);
  for (const path of [...repositories, ...mounts]) add(path);
  for (const [path, entry] of files) {
    add(path, entry.mode, entry.size, entry.inode, entry.modifiedNs, entry.changedNs);
  }
  return hash.digest('base64url');
}
