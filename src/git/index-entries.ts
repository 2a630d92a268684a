import { type ObjectOid, parseCommitOid } from './values.ts';

/** One entry of the index. */
export interface IndexEntry {
  /** Latin-1. */
  readonly path: string;
  readonly oid: ObjectOid;
  /** A commit of another repository stands here (gitsubmodules(7)). */
  readonly isSubmodule: boolean;
  /** Git was told not to look whether the file changed (`assume-unchanged`), or to do without it (`skip-worktree`). */
  readonly isHidden: boolean;
  readonly isUnmerged: boolean;
}

const submoduleMode = '160000';
const letterOfSkipped = 'S';

/** Reads `ls-files -z -v -s`; null when the output has another form. */
export function parseIndexEntries(output: Buffer): readonly IndexEntry[] | null {
  const lines = output.toString('latin1').split('\0');
  if (lines.pop() !== '') return null;
  const entries: IndexEntry[] = [];
  for (const line of lines) {
    const [, letter, mode, name, stage, path] =
      /^([A-Za-z?]) ([0-7]{6}) ([0-9a-f]{40,64}) ([0-3])\t(.+)$/s.exec(line) ?? [];
    const oid = parseCommitOid(name ?? '');
    if (letter === undefined || path === undefined || oid === null) return null;
    // Lower case says `assume-unchanged`, and Git says it so of sparse entries, too.
    const isHidden = letter !== letter.toUpperCase() || letter === letterOfSkipped;
    entries.push({ path, oid, isSubmodule: mode === submoduleMode, isHidden, isUnmerged: stage !== '0' });
  }
  return entries;
}
