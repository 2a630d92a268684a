import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { findCommit } from './find-commit.ts';
import { type RefTip, readRefTips } from './ref-tips.ts';
import type { GitRunner } from './run-git.ts';
import { type CommitOid, parseBranchName, parseCommitOid, parseRefName, type RefName } from './values.ts';

/** What a caller compares with, as it was named; where it leads, only the repository knows. Made only by `parseBaseRevision`. */
export type BaseRevision =
  | { readonly kind: 'commit'; readonly oid: CommitOid; readonly label: string }
  | {
      readonly kind: 'refs';
      /** The first of these that exists is meant. */
      readonly candidates: readonly RefName[];
      /** The name without `refs/heads/` or `refs/remotes/`. */
      readonly label: string;
    };

/** A base that cannot move any more. */
export interface ResolvedBase {
  readonly oid: CommitOid;
  readonly label: string;
}

const heads = 'refs/heads/';
const remotes = 'refs/remotes/';
const origin = 'origin/';

/**
 * Reads a full object name, `refs/heads/x`, `refs/remotes/origin/x`, `origin/x` or the name of a branch, of which the remote's copy comes
 * before the local one (wire contract, 1.5). `origin/x` is what /detect and /branches call a branch that is not local, and means that
 * one (W40); a branch that is itself named so comes after it. Null for anything else: no abbreviation, no revision syntax, no tag (R20).
 */
export function parseBaseRevision(text: string): BaseRevision | null {
  const oid = parseCommitOid(text);
  if (oid !== null) return { kind: 'commit', oid, label: oid };
  if (text.startsWith(heads)) return named(text.slice(heads.length), localOnly);
  if (text.startsWith(remotes + origin)) return named(text.slice(remotes.length), remoteOnly);
  // `HEAD` would else be the default branch of the remote.
  if (text.startsWith('refs/') || text === 'HEAD') return null;
  return named(text, text.startsWith(origin) ? remoteByItsName : originFirst);
}

/**
 * Finds the commit that a base leads to now; what is compared afterwards is that commit, whatever happens to the ref.
 * @throws `invalid_base_revision` (details.reason `not-found`) | `git_failed` | `aborted` | `shutting_down`
 */
export async function resolveBase(
  capability: RepositoryCapability,
  git: GitRunner,
  base: BaseRevision,
  signal?: AbortSignal,
): Promise<ResolvedBase> {
  const tips = await readRefTips(capability, git, refsOfBase(base), signal);
  const resolved = await resolveBaseAmong(capability, git, base, tips, signal);
  if (resolved === null) throw invalidBase('not-found');
  return resolved;
}

/** The refs that tell where the base leads. */
export function refsOfBase(base: BaseRevision): readonly RefName[] {
  return base.kind === 'refs' ? base.candidates : [];
}

/** The same for who has looked up `refsOfBase` together with other refs. Null when nothing of that name leads to a commit. */
export async function resolveBaseAmong(
  capability: RepositoryCapability,
  git: GitRunner,
  base: BaseRevision,
  tips: ReadonlyMap<RefName, RefTip>,
  signal?: AbortSignal,
): Promise<ResolvedBase | null> {
  if (base.kind === 'commit') {
    const oid = await findCommit(capability, git, base.oid, signal);
    return oid && { oid, label: base.label };
  }
  const found = base.candidates.find((ref) => tips.has(ref));
  const commit = found === undefined ? null : (tips.get(found)?.commit ?? null);
  return commit === null ? null : { oid: commit, label: base.label };
}

export function invalidBase(reason: 'malformed' | 'not-found'): AuthorityError {
  return new AuthorityError('invalid_base_revision', { details: { reason } });
}

type Candidates = (name: string) => readonly string[];
const localOnly: Candidates = (name) => [heads + name];
const remoteOnly: Candidates = (name) => [remotes + name];
const originFirst: Candidates = (name) => [remotes + origin + name, heads + name];
const remoteByItsName: Candidates = (name) => [remotes + name, remotes + origin + name, heads + name];

function named(name: string, candidatesOf: Candidates): BaseRevision | null {
  const branch = parseBranchName(name);
  if (branch === null) return null;
  const candidates = candidatesOf(branch).flatMap((ref) => parseRefName(ref) ?? []);
  return { kind: 'refs', candidates, label: branch };
}
