import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { findCommit } from './find-commit.ts';
import { shortNameBelow } from './head.ts';
import { brokenHead, commitOrUnborn } from './head-commit.ts';
import type { GitRunner } from './run-git.ts';
import { readSymbolicFile } from './symbolic-file.ts';
import { type CommitOid, parseCommitOid, parseRefName, type RefName } from './values.ts';

/** Where HEAD stood at one moment, in immutable terms. */
export interface CapturedHead {
  /** The branch; null when HEAD is detached. */
  readonly branch: RefName | null;
  /** Null for a branch without a commit. */
  readonly commit: CommitOid | null;
}

const heads = 'refs/heads/';

/**
 * Reads HEAD by its full ref, so that no tag stands in for a branch (W39).
 * @throws `identity_changed` when HEAD is gone or malformed | `repository_unsupported` (details.reason `head`) when it leads outside
 *   refs/heads or to a name that is not UTF-8 | `git_failed` (details.reason also `broken-head`) | `aborted`
 */
export async function captureHead(
  capability: RepositoryCapability,
  git: GitRunner,
  signal?: AbortSignal,
): Promise<CapturedHead> {
  const head = await readSymbolicFile(capability.repository.gitDirectory, 'HEAD');
  if (head === null) throw new AuthorityError('identity_changed', { details: { what: 'git dir' } });
  if (head.kind === 'symbolic') {
    const branch = branchOf(head.ref);
    return { branch, commit: await commitOrUnborn(capability, git, branch, signal) };
  }
  const oid = parseCommitOid(head.oid);
  const commit = oid && (await findCommit(capability, git, oid, signal));
  if (commit === null || commit !== oid) throw brokenHead();
  return { branch: null, commit };
}

function branchOf(latin1Ref: string): RefName {
  const name = shortNameBelow(heads, latin1Ref);
  const ref = name === null ? null : parseRefName(heads + name);
  if (ref === null) throw new AuthorityError('repository_unsupported', { details: { reason: 'head' } });
  return ref;
}
