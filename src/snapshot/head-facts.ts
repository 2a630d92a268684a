import { managedFactsOf } from '../authority/managed-facts.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { parseBaseRevision, refsOfBase, resolveBaseAmong } from '../git/base-revision.ts';
import { chooseDefaultBranch, defaultCandidates, readBranchPointers } from '../git/branch-facts.ts';
import { brokenHead, commitOrUnborn, readHeadCommit } from '../git/head-commit.ts';
import { readRefTips } from '../git/ref-tips.ts';
import type { GitRunner } from '../git/run-git.ts';
import { type CommitOid, parseCommitOid, parseRefName, type RefName } from '../git/values.ts';
import type { FileStamps } from './file-stamps.ts';

/** Where HEAD is, and what it is compared with. */
export interface HeadFacts {
  readonly branch: string | null;
  readonly detached: boolean;
  /** Null on an unborn branch. */
  readonly sha: CommitOid | null;
  readonly unborn: boolean;
  readonly defaultBranch: string | null;
  readonly baseName: string | null;
  readonly base: CommitOid | null;
  /** Where the branch of this name at origin was when it was last fetched. */
  readonly origin: CommitOid | null;
  readonly upstream: { readonly name: string; readonly tip: CommitOid } | null;
}

const heads = 'refs/heads/';
const remotes = 'refs/remotes/';
const originRefs = 'refs/remotes/origin/';

/**
 * Reads HEAD and the refs around it by their full names (W39).
 * @throws `git_failed` when HEAD leads to something that cannot be read: it is never taken for an unborn branch | `identity_changed`
 */
export async function readHeadFacts(
  capability: RepositoryCapability,
  git: GitRunner,
  stamps: FileStamps,
  signal: AbortSignal,
): Promise<HeadFacts> {
  await stamps.add('common', `${originRefs}HEAD`);
  const pointers = await readBranchPointers(capability);
  const { branch } = pointers;
  const own = branch === null ? null : parseRefName(heads + branch);
  const counterpart = branch === null ? null : parseRefName(originRefs + branch);
  const managed = managedFactsOf(capability);
  const base = managed?.baseName == null ? null : parseBaseRevision(managed.baseName);
  const wanted = new Set<RefName>();
  for (const ref of [own, counterpart, ...(base === null ? [] : refsOfBase(base))])
    if (ref !== null) wanted.add(ref);
  for (const name of defaultCandidates(pointers)) {
    for (const ref of [heads + name, originRefs + name].map(parseRefName)) if (ref !== null) wanted.add(ref);
  }
  for (const ref of wanted) await stamps.addRef(ref);
  const tips = new Map(await readRefTips(capability, git, [...wanted], signal));
  const upstreamRef = own === null ? null : (tips.get(own)?.upstream ?? null);
  if (upstreamRef !== null && !wanted.has(upstreamRef)) {
    await stamps.addRef(upstreamRef);
    for (const [ref, tip] of await readRefTips(capability, git, [upstreamRef], signal)) tips.set(ref, tip);
  }
  const commitOf = (ref: RefName | null) => (ref === null ? null : (tips.get(ref)?.commit ?? null));
  const sha =
    own === null
      ? await readDetached(capability, git, pointers.detachedOid, stamps, signal)
      : (commitOf(own) ?? (await commitOrUnborn(capability, git, own, signal)));
  const defaultBranch = chooseDefaultBranch(pointers, {
    local: (name) => tips.has((heads + name) as RefName),
    remote: (name) => tips.has((originRefs + name) as RefName),
  });
  const baseName = managed?.baseName ?? defaultBranch;
  const named = baseName === null ? null : parseBaseRevision(baseName);
  // The name of the default branch is one of those that were looked up, whichever way it is resolved.
  const found = named && (await resolveBaseAmong(capability, git, named, tips, signal));
  const recorded = managed?.baseOid == null ? null : parseCommitOid(managed.baseOid);
  const upstreamTip = commitOf(upstreamRef);
  return {
    branch,
    detached: pointers.detachedOid !== null,
    sha,
    unborn: sha === null,
    defaultBranch,
    baseName,
    base: found?.oid ?? recorded,
    origin: commitOf(counterpart),
    upstream:
      upstreamRef === null || upstreamTip === null ? null : { name: shortOf(upstreamRef), tip: upstreamTip },
  };
}

/** Also for a HEAD on something else than a branch, or on one whose name is no UTF-8: then no stamp tells where it leads. */
async function readDetached(
  capability: RepositoryCapability,
  git: GitRunner,
  oid: string | null,
  stamps: FileStamps,
  signal: AbortSignal,
): Promise<CommitOid | null> {
  if (oid === null) stamps.giveUp();
  const sha = await readHeadCommit(capability, git, signal);
  if (oid !== null && sha !== oid) throw brokenHead();
  return sha;
}

function shortOf(ref: RefName): string {
  for (const prefix of [heads, remotes]) if (ref.startsWith(prefix)) return ref.slice(prefix.length);
  return ref;
}
