import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import {
  type BaseRevision,
  invalidBase,
  parseBaseRevision,
  type ResolvedBase,
  resolveBase,
} from '../git/base-revision.ts';
import { readBranchFacts } from '../git/branch-facts.ts';
import { findBranchHolders } from '../git/branch-holders.ts';
import { findMergeBase } from '../git/merge-base.ts';
import {
  type BranchName,
  type CommitOid,
  parseBranchName,
  parseRefName,
  type RefName,
} from '../git/values.ts';
import type { CreateContext } from './create-context.ts';
import type { ParsedRequest } from './create-request.ts';
import type { CreationPlan } from './journal.ts';
import { freeBranch, type KnownBranches, readKnownBranches } from './known-branches.ts';
import { mnemonicName, slugOf } from './names.ts';
import type { VerifiedPull } from './verified-pulls.ts';

/** Which branch is checked out, and what it began at: all in commits, which do not move. */
export type ChosenBranch = Pick<
  CreationPlan,
  'branch' | 'oid' | 'ownsBranch' | 'baseOid' | 'baseName' | 'copiedFrom' | 'upstream'
>;

/**
 * @throws `invalid_base_revision` (details.reason `not-found`) | `branch_not_found` | `branch_conflict` | `creation_names_used_up` | `git_failed`
 */
export async function chooseBranch(
  { git }: CreateContext,
  main: RepositoryCapability,
  request: ParsedRequest,
  pull: VerifiedPull | null,
  signal?: AbortSignal,
): Promise<ChosenBranch> {
  const known = await readKnownBranches(main, git, signal);
  const repository: Repository = {
    known,
    resolve: (base) => resolveBase(main, git, base, signal),
    defaultBase: async () => {
      const { defaultBranch } = await readBranchFacts(main, git, signal);
      return defaultBranch === null ? null : parseBaseRevision(defaultBranch);
    },
    isHeld: async (branch) => (await findBranchHolders(main, headOf(branch))).length > 0,
    mergeBase: (base, head) => findMergeBase(main, git, base, head, signal),
  };
  if (pull !== null) return pullCheckOut(repository, pull);
  return request.intent === 'branch-off' ? branchOff(repository, request) : checkOut(repository, request);
}

interface Repository {
  readonly known: KnownBranches;
  resolve(base: BaseRevision): Promise<ResolvedBase>;
  defaultBase(): Promise<BaseRevision | null>;
  isHeld(branch: BranchName): Promise<boolean>;
  mergeBase(base: CommitOid, head: CommitOid): Promise<CommitOid | null>;
}

async function branchOff(repository: Repository, request: ParsedRequest): Promise<ChosenBranch> {
  const base = request.base ?? (await repository.defaultBase());
  if (base === null) throw invalidBase('not-found');
  const { oid } = await repository.resolve(base);
  const wanted = request.branchName ?? parseBranchName(slugOf(request.slug ?? mnemonicName()));
  if (wanted === null) throw new AuthorityError('invalid_branch_name');
  const branch = freeBranch(repository.known, wanted);
  const baseName = nameOf(base);
  return { branch, oid, ownsBranch: true, baseOid: oid, baseName, copiedFrom: null, upstream: null };
}

/** A branch that is checked out somewhere is copied, since Git has each in one checkout only. */
async function checkOut(repository: Repository, request: ParsedRequest): Promise<ChosenBranch> {
  const target = request.branchName ?? (await targetOf(repository, request));
  const { local, remote } = repository.known;
  if (!local.has(target) && !remote.has(target)) throw new AuthorityError('branch_not_found');
  const isLocal = local.has(target);
  const { oid } = await repository.resolve({
    kind: 'refs',
    candidates: [isLocal ? headOf(target) : originOf(target)],
    label: target,
  });
  const base = await baseOf(repository, request, target, oid);
  if (isLocal && !(await repository.isHeld(target)))
    return { branch: target, oid, ownsBranch: false, ...base, copiedFrom: null, upstream: null };
  const branch = freeBranch(repository.known, target);
  return {
    branch,
    oid,
    ownsBranch: true,
    ...base,
    copiedFrom: isLocal ? target : null,
    upstream: isLocal ? null : target,
  };
}

/** The branch follows that of `origin` only where it is the very head; none is made up for it. */
async function pullCheckOut(repository: Repository, pull: VerifiedPull): Promise<ChosenBranch> {
  const { headOid: oid, headRef, baseRef: baseName, forkOwner } = pull;
  const wanted = forkOwner === null ? headRef : parseBranchName(`${forkOwner}/${headRef}`);
  if (wanted === null) throw new AuthorityError('invalid_branch_name');
  const tipOf = async (name: BranchName | null) => {
    const { local, remote } = repository.known;
    if (name === null || !(local.has(name) || remote.has(name))) return null;
    return (
      await repository.resolve({ kind: 'refs', candidates: [originOf(name), headOf(name)], label: name })
    ).oid;
  };
  const isOwn = forkOwner === null && repository.known.remote.has(headRef) && (await tipOf(headRef)) === oid;
  return {
    branch: freeBranch(repository.known, wanted),
    oid,
    ownsBranch: true,
    baseOid: await tipOf(baseName),
    baseName,
    copiedFrom: null,
    upstream: isOwn ? headRef : null,
  };
}

async function targetOf(repository: Repository, { base }: ParsedRequest): Promise<BranchName> {
  const named = base ?? (await repository.defaultBase());
  const target = named && nameOf(named);
  if (target === null) throw new AuthorityError('branch_not_found');
  return target;
}

/** What the work on an existing branch is compared with: never the branch itself, which would show no work at all. */
async function baseOf(
  repository: Repository,
  request: ParsedRequest,
  target: BranchName,
  head: CommitOid,
): Promise<Pick<CreationPlan, 'baseOid' | 'baseName'>> {
  const asked = request.branchName === null ? null : request.base;
  const base = asked ?? (await repository.defaultBase());
  const baseName = base && nameOf(base);
  if (base === null || baseName === target) return { baseOid: null, baseName: null };
  const { oid } = await repository.resolve(base);
  return { baseOid: await repository.mergeBase(oid, head), baseName };
}

/** The short name of a branch, wherever its copy was taken from. */
function nameOf(base: BaseRevision): BranchName | null {
  if (base.kind === 'commit') return null;
  const isRemote = base.candidates[0]?.startsWith('refs/remotes/origin/') ?? false;
  const name = isRemote ? base.label.replace(/^origin\//, '') : base.label;
  return parseBranchName(name);
}

export function headOf(branch: BranchName): RefName {
  return fullName(`refs/heads/${branch}`);
}

export function originOf(branch: BranchName): RefName {
  return fullName(`refs/remotes/origin/${branch}`);
}

function fullName(text: string): RefName {
  const ref = parseRefName(text);
  if (ref === null) throw new AuthorityError('invalid_branch_name');
  return ref;
}
