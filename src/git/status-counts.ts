import { parseStatusRecords } from './status-records.ts';

/** What `git status --porcelain=v2 -z` says of a work tree, counted. */
export interface StatusCounts {
  /** Tracked files that differ from HEAD, in the index or on disk, conflicts included. */
  readonly tracked: number;
  readonly untracked: number;
  /** Directories that stand for all in them, in Latin-1 and without the slash at the end. */
  readonly ignoredDirectories: readonly string[];
}

/** Null when the output has another form: nothing unknown counts as clean. */
export function countStatus(output: Buffer): StatusCounts | null {
  const records = parseStatusRecords(output);
  if (records === null) return null;
  const untracked = records.filter(({ kind }) => kind === 'untracked').length;
  const ignored = records.filter(({ kind }) => kind === 'ignored');
  return {
    tracked: records.length - untracked - ignored.length,
    untracked,
    ignoredDirectories: ignored.flatMap(({ path }) => (path.endsWith('/') ? [path.slice(0, -1)] : [])),
  };
}
