import { isReservedPath } from './reserved-path.ts';
import { parseStatusRecords } from './status-records.ts';

/** What `git status --porcelain=v2 -z` says of a work tree, counted. */
export interface StatusCounts {
  /** Tracked files that differ from HEAD, in the index or on disk, conflicts included. */
  readonly tracked: number;
  readonly untracked: number;
  /** Of the tracked ones, those with conflicts. */
  readonly unmerged: number;
  /** Of the untracked ones, those that are repositories of their own. */
  readonly repositories: number;
  /** Directories that stand for all in them, in Latin-1 and without the slash at the end. */
  readonly ignoredDirectories: readonly string[];
}

/** Null when the output has another form: nothing unknown counts as clean. */
export function countStatus(output: Buffer): StatusCounts | null {
  const records = parseStatusRecords(output);
  if (records === null) return null;
  const untracked = records.filter(({ kind, path }) => kind === 'untracked' && !isReservedPath(path));
  const ignored = records.filter(({ kind }) => kind === 'ignored');
  return {
    tracked: records.filter(({ kind }) => kind === 'changed' || kind === 'unmerged').length,
    untracked: untracked.length,
    unmerged: records.filter(({ kind }) => kind === 'unmerged').length,
    repositories: untracked.filter(({ path }) => path.endsWith('/')).length,
    ignoredDirectories: ignored.flatMap(({ path }) => (path.endsWith('/') ? [path.slice(0, -1)] : [])),
  };
}
