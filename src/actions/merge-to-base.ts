import { sameLiveIdentity } from '../capability/identity.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, type ErrorCode, isAuthorityError } from '../errors/index.ts';
import { type BranchHolder, findBranchHolders } from '../git/branch-holders.ts';
import { assertOwnAdministration } from '../git/own-administration.ts';
import { readRefTips } from '../git/ref-tips.ts';
import type { CommitMessage, CommitOid, RefName } from '../git/values.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused } from './action-refusal.ts';
import { findBase, localBranchOf } from './base-branch.ts';
import { refMoved } from './commit-index.ts';
import { type FamilyTurn, inFamily } from './in-family.ts';
import { mergeIntoCheckout } from './merge-into-checkout.ts';
import { mergeMessage, shortName } from './merge-message.ts';
import { staleTarget } from './move-branch.ts';
import type { MergeToBaseOutcome } from './repository-actions.ts';
import { type BornBranch, captureSettled, requireClean } from './settled-checkout.ts';

/** See `RepositoryActions.mergeToBase`. One turn holds all checkouts of the repository. */
export async function mergeToBase(
  context: ActionContext,
  selector: string,
  signal?: AbortSignal,
): Promise<MergeToBaseOutcome> {
  return await inFamily(context, selector, (turn) => mergeInTurn(context, turn, signal), signal);
}

async function mergeInTurn(
  context: ActionContext,
  turn: FamilyTurn,
  signal?: AbortSignal,
): Promise<MergeToBaseOutcome> {
  const source = await captureSettled(context, turn, signal);
  const base = await captureBase(context, turn, source, signal);
  await requireClean(context, turn.capability, 'current', signal);
  const theirs = source.commit;
  const message = mergeMessage('branch', shortName(source.branch), shortName(base.branch));
  const holder = await findHolder(turn, base.branch);
  await using target = await authorizeHolder(context, turn.capability, holder, signal);
  const merge = { base, theirs, message } as const;
  const { kind, oid } = await mergeIntoHolder(context, turn, target, merge, signal);
  return { kind, oid, previous: base.commit, mergedOid: theirs, mergedInto: target.root };
}

async function captureBase(
  context: ActionContext,
  { capability }: FamilyTurn,
  source: BornBranch,
  signal?: AbortSignal,
): Promise<BornBranch> {
  const found = await findBase(context, capability, signal);
  const branch = found === null ? null : localBranchOf(found);
  if (branch === null) throw actionRefused('actions.mergeToBase.noOwner', { reason: 'no-base' });
  if (branch === source.branch) throw actionRefused('actions.mergeToBase.onBase');
  const tips = await readRefTips(capability, context.git, [branch], signal);
  const commit = tips.get(branch)?.commit ?? null;
  if (commit === null) throw actionRefused('actions.mergeToBase.noOwner', { reason: 'no-local-branch' });
  return { branch, commit };
}

/**
 * The one checkout that has the branch. Where none has, nobody would see the merge, nor be there to resolve it.
 * @throws `action_refused` (`actions.mergeToBase.noOwner`, `actions.merge.inProgress`) | as `findBranchHolders`
 */
async function findHolder({ capability }: FamilyTurn, branch: RefName): Promise<BranchHolder> {
  const [holder, ...others] = await findBranchHolders(capability, branch);
  if (holder === undefined) {
    throw actionRefused('actions.mergeToBase.noOwner', { reason: 'not-checked-out' });
  }
  if (others.length > 0) throw actionRefused('actions.mergeToBase.noOwner', { reason: 'several-owners' });
  if (holder.operation !== null) {
    const { operation } = holder;
    throw actionRefused('actions.merge.inProgress', { operation, reason: 'operation-in-progress' });
  }
  return holder;
}

/** What says that a checkout gives no authority; anything else says that it could not be judged. */
const unauthorized: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  // A path that no selector can have.
  'invalid_request',
  'workspace_not_authorized',
  'git_root_not_authorized',
  'git_repository_required',
  'repository_unsupported',
  'repository_identity_changed',
]);

/**
 * The main checkout by the authority of the worktree (R22), and every other one by its own. The administration that names a path proves
 * nothing of it, so the checkout must be one of this very repository.
 * @throws `merge_target_unauthorized` | as `Authority.authorizeRepository` where it cannot be judged
 */
async function authorizeHolder(
  { authority }: ActionContext,
  source: RepositoryCapability,
  { checkout }: BranchHolder,
  signal?: AbortSignal,
): Promise<RepositoryCapability> {
  if (checkout.kind === 'main') return await authority.mainCheckoutOf(source, signal);
  if (checkout.path === null) throw targetUnauthorized();
  const target = await authority.authorizeRepository(checkout.path, signal).catch((error: unknown) => {
    throw isAuthorityError(error) && unauthorized.has(error.code) ? targetUnauthorized() : error;
  });
  if (isSameFamily(target, source)) return target;
  await target[Symbol.asyncDispose]();
  throw targetUnauthorized();
}

function isSameFamily(one: RepositoryCapability, other: RepositoryCapability): boolean {
  const [left, right] = [one, other].map(({ repository }) => repository.commonDirectory.identity());
  return left !== undefined && right !== undefined && sameLiveIdentity(left, right);
}

async function mergeIntoHolder(
  context: ActionContext,
  turn: FamilyTurn,
  target: RepositoryCapability,
  {
    base,
    theirs,
    message,
  }: { readonly base: BornBranch; readonly theirs: CommitOid; readonly message: CommitMessage },
  signal?: AbortSignal,
) {
  const assertCurrent = async () => {
    await turn.assertCurrent();
    await target.assertCurrent();
  };
  const targetTurn = { capability: target, assertCurrent };
  await assertCurrent();
  await assertOwnAdministration(target);
  const head = await captureSettled(context, targetTurn, signal);
  if (head.branch !== base.branch || head.commit !== base.commit) throw refMoved(staleTarget);
  const merge = { head, theirs, message, log: 'merge', side: 'owner' } as const;
  return await mergeIntoCheckout(context, targetTurn, merge, signal);
}

function targetUnauthorized(): AuthorityError {
  return new AuthorityError('merge_target_unauthorized', {
    details: { reasonKey: 'actions.mergeToBase.targetUnauthorized', reason: 'target-unauthorized' },
  });
}
