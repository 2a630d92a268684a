import { type ObjectOid, parseCommitOid } from './values.ts';
import type { IndexEntry } from './write-commands.ts';

/**
 * One path of `git status --porcelain=v2 -z` with what commit and index have there. Latin-1, one character a byte; of a repository that lies
 * among the files it ends with `/`.
 */
export interface ChangedRecord {
  readonly kind: 'changed' | 'unmerged' | 'untracked' | 'ignored';
  readonly path: string;
  /** Index against HEAD, then work tree against index; `.` means the same. */
  readonly staged: string;
  readonly unstaged: string;
  /** Null where the commit, or the index, has nothing under the path. */
  readonly head: IndexEntry | null;
  readonly index: IndexEntry | null;
  /** Whether HEAD, index or work tree have a repository there. */
  readonly isSubmodule: boolean;
}

/** Null when the output has another form. */
export function parseChangedRecords(output: Buffer): readonly ChangedRecord[] | null {
  const lines = output.toString('latin1').split('\0');
  if (lines.pop() !== '') return null;
  const records: ChangedRecord[] = [];
  for (const line of lines) {
    if (line.startsWith('# ')) continue;
    const record = parseRecord(line);
    if (record === null) return null;
    records.push(record);
  }
  return records;
}

const changed = /^1 (\S)(\S) (\S{4}) (\d{6}) (\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) (.+)$/s;
const unmerged = /^u (\S)(\S) (?:\S+ ){8}(.+)$/s;
const untracked = /^([?!]) (.+)$/s;
const nothing = { head: null, index: null, isSubmodule: false };
const absentMode = '000000';
const repositoryMode = '160000';

function parseRecord(line: string): ChangedRecord | null {
  const plain = untracked.exec(line);
  if (plain !== null) {
    const [, letter = '', path = ''] = plain;
    const kind = letter === '?' ? 'untracked' : 'ignored';
    return { kind, path, staged: letter, unstaged: letter, ...nothing };
  }
  const conflict = unmerged.exec(line);
  if (conflict !== null) {
    const [, staged = '', unstaged = '', path = ''] = conflict;
    return { kind: 'unmerged', path, staged, unstaged, ...nothing };
  }
  const [, staged = '', unstaged = '', sub = '', headMode = '', indexMode = '', workMode, ...rest] =
    changed.exec(line) ?? [];
  const [headOid, indexOid, path] = rest;
  if (headOid === undefined || indexOid === undefined || path === undefined) return null;
  return {
    kind: 'changed',
    path,
    staged,
    unstaged,
    head: entryOf(headMode, headOid),
    index: entryOf(indexMode, indexOid),
    isSubmodule: sub.startsWith('S') || [headMode, indexMode, workMode].includes(repositoryMode),
  };
}

/** An intent to add has a mode and no object. */
function entryOf(mode: string, name: string): IndexEntry | null {
  const oid: ObjectOid | null = /^0+$/.test(name) ? null : parseCommitOid(name);
  return mode === absentMode || oid === null ? null : { mode, oid };
}
