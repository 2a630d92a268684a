import type { ArchiveFacts } from '../archive/archives.ts';
import { isCanonicalForm } from '../capability/canonical-form.ts';
import type { ManagedFacts } from '../capability/managed-worktree-capability.ts';
import { type CommitOid, parseBranchName, parseCommitOid } from '../git/values.ts';

/** What the archive of a worktree says of it. */
export interface ArchivedFacts {
  readonly path: string;
  readonly mainRoot: string;
  /** Short name; null on a detached HEAD. */
  readonly branch: string | null;
  readonly head: CommitOid;
  readonly managed: ManagedFacts;
  /** Files that are in no commit. */
  readonly files: number;
}

export function printFacts({ managed, ...facts }: ArchivedFacts): ArchiveFacts {
  return { version: 1, ...facts, managed: { ...managed } };
}

/** Null for facts of another form. The state directory is ours alone; what decides about authority is proven again by whoever restores. */
export function readFacts({
  version,
  path,
  mainRoot,
  branch,
  head,
  managed,
  files,
}: ArchiveFacts): ArchivedFacts | null {
  const oid = typeof head === 'string' ? parseCommitOid(head) : null;
  const known =
    version === 1 &&
    typeof path === 'string' &&
    isCanonicalForm(path) &&
    typeof mainRoot === 'string' &&
    isCanonicalForm(mainRoot) &&
    (branch === null || (typeof branch === 'string' && parseBranchName(branch) !== null)) &&
    typeof managed === 'object' &&
    managed !== null &&
    typeof files === 'number';
  if (!known || oid === null) return null;
  return { path, mainRoot, branch, head: oid, managed: managed as unknown as ManagedFacts, files };
}
