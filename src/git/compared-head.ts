import type { ManagedFacts } from '../capability/managed-worktree-capability.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import {
  type BaseRevision,
  invalidBase,
  parseBaseRevision,
  type ResolvedBase,
  refsOfBase,
  resolveBaseAmong,
} from './base-revision.ts';
import {
  type BranchPointers,
  chooseDefaultBranch,
  defaultCandidates,
  readBranchPointers,
} from './branch-facts.ts';
import { commitOrUnborn, readHeadCommit } from './head-commit.ts';
import { type RefTip, readRefTips } from './ref-tips.ts';
import type { GitRunner } from './run-git.ts';
import { type CommitOid, parseCommitOid, parseRefName, type RefName } from './values.ts';

/** What HEAD is compared with. */
export interface BaseQuery {
  /** Must exist. Without it: what a managed worktree was created from, else the default branch. */
  readonly base?: BaseRevision;
  /** What is known of a managed worktree's creation; null for every other checkout. */
  readonly managed: ManagedFacts | null;
}

/** HEAD and what it is compared with, as commits that cannot move any more. */
export interface ComparedHead {
  /** Null on an unborn branch. */
  readonly head: CommitOid | null;
  /** Null when nothing tells. */
  readonly base: ResolvedBase | null;
  readonly remote: RemoteCopy;
}

/**
 * What is known to be pushed of the branch: its configured upstream, else the branch of its name on `origin`. No such ref is a fact too: then
 * nothing is. It is unknown where HEAD is detached, and where the upstream was never fetched or is gone.
 */
export type RemoteCopy =
  | { readonly state: 'known'; readonly ref: RefName; readonly commit: CommitOid }
  | { readonly state: 'known'; readonly ref: null; readonly commit: null }
  | { readonly state: 'unknown'; readonly ref: RefName | null; readonly commit: null };

/**
 * Looks all of it up in one process where nothing unusual is configured.
 * @throws `invalid_base_revision` (details.reason `not-found`) | `git_failed` (details.reason also `broken-head`) |
 *   `identity_changed` | `aborted` | `shutting_down`
 */
export async function readComparedHead(
  capability: RepositoryCapability,
  git: GitRunner,
  query: BaseQuery,
  signal?: AbortSignal,
): Promise<ComparedHead> {
  const pointers = await readBranchPointers(capability);
  const stored = query.base === undefined ? storedBases(query.managed) : [query.base];
  const tips = await readRefTips(capability, git, refsToLookUp(pointers, stored, query), signal);
  const look = { capability, git, tips, signal };
  const [head, base, remote] = await Promise.all([
    findHead(look, pointers),
    findBase(look, pointers, stored, query),
    findRemote(look, pointers),
  ]);
  return { head, base, remote };
}

interface Look {
  readonly capability: RepositoryCapability;
  readonly git: GitRunner;
  readonly tips: ReadonlyMap<RefName, RefTip>;
  readonly signal: AbortSignal | undefined;
}

const heads = 'refs/heads/';
const originRefs = 'refs/remotes/origin/';

function storedBases(managed: ManagedFacts | null): BaseRevision[] {
  if (managed === null) return [];
  const oid = parseCommitOid(managed.baseOid ?? '');
  const named = parseBaseRevision(managed.baseName ?? '');
  return [
    ...(oid === null ? [] : [{ kind: 'commit', oid, label: managed.baseName ?? oid } as const]),
    ...(named === null ? [] : [named]),
  ];
}

function refsToLookUp(
  pointers: BranchPointers,
  bases: readonly BaseRevision[],
  query: BaseQuery,
): readonly RefName[] {
  const names = [
    ...(pointers.branch === null ? [] : [pointers.branch]),
    ...(query.base === undefined ? defaultCandidates(pointers) : []),
  ];
  const refs = names.flatMap((name) => [heads + name, originRefs + name]);
  return [...new Set([...refs.flatMap((ref) => parseRefName(ref) ?? []), ...bases.flatMap(refsOfBase)])];
}

async function findHead(
  { capability, git, tips, signal }: Look,
  pointers: BranchPointers,
): Promise<CommitOid | null> {
  if (pointers.detachedOid !== null) return parseCommitOid(pointers.detachedOid);
  // A branch that cannot be told as text, or a ref that is no branch.
  if (pointers.branch === null) return readHeadCommit(capability, git, signal);
  const ref = (heads + pointers.branch) as RefName;
  return tips.get(ref)?.commit ?? commitOrUnborn(capability, git, ref, signal);
}

async function findBase(
  { capability, git, tips, signal }: Look,
  pointers: BranchPointers,
  bases: readonly BaseRevision[],
  query: BaseQuery,
): Promise<ResolvedBase | null> {
  for (const base of bases) {
    const resolved = await resolveBaseAmong(capability, git, base, tips, signal);
    if (resolved !== null) return resolved;
  }
  if (query.base !== undefined) throw invalidBase('not-found');
  const name = chooseDefaultBranch(pointers, {
    local: (branch) => tips.has((heads + branch) as RefName),
    remote: (branch) => tips.has((originRefs + branch) as RefName),
  });
  const base = parseBaseRevision(name ?? '');
  return base && resolveBaseAmong(capability, git, base, tips, signal);
}

async function findRemote(
  { capability, git, tips, signal }: Look,
  { branch }: BranchPointers,
): Promise<RemoteCopy> {
  if (branch === null) return { state: 'unknown', ref: null, commit: null };
  const upstream = tips.get((heads + branch) as RefName)?.upstream ?? null;
  const sameName = (originRefs + branch) as RefName;
  // A local upstream says nothing of what was pushed.
  const configured = upstream?.startsWith('refs/remotes/') ? upstream : null;
  if (configured === null && !tips.has(sameName)) return { state: 'known', ref: null, commit: null };
  const ref = configured ?? sameName;
  const tip = tips.get(ref) ?? (await readRefTips(capability, git, [ref], signal)).get(ref);
  return tip?.commit ? { state: 'known', ref, commit: tip.commit } : { state: 'unknown', ref, commit: null };
}
