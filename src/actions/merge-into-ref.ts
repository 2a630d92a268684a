import { findBranchHolders } from '../git/branch-holders.ts';
import { planMerge } from '../git/merge-plan.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { runWriting } from '../git/run-writing.ts';
import type { CommitMessage, CommitOid } from '../git/values.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { assertCommitted, refMoved, runForOid } from './commit-index.ts';
import type { FamilyTurn } from './in-family.ts';
import { mergeConflict } from './leave-conflict.ts';
import type { Merged } from './merge-into-checkout.ts';
import { staleTarget } from './move-branch.ts';
import type { ActionWarning } from './repository-actions.ts';
import { loggedIdentity, requireIdentity } from './require-identity.ts';
import type { BornBranch } from './settled-checkout.ts';

export interface RefMerge {
  readonly base: BornBranch;
  readonly theirs: CommitOid;
  readonly message: CommitMessage;
}

/**
 * Merges a commit into a branch that nobody has checked out: in objects only, and the branch moves in one step if it still is what was
 * captured. A merge with conflicts leaves nothing.
 * @throws `merge_conflict` (details.conflictFiles) | `ref_moved` | as `mergeIntoCheckout`
 */
export async function mergeIntoRef(
  context: ActionContext,
  turn: FamilyTurn,
  { base, theirs, message }: RefMerge,
  signal?: AbortSignal,
): Promise<Merged & { readonly warnings: readonly ActionWarning[] }> {
  const { git } = context;
  const { capability } = turn;
  const place = pinnedPlace(capability);
  const plan = await planMerge(context, capability, { ours: base.commit, theirs }, signal);
  if (plan.kind === 'none') return { kind: 'none', oid: base.commit, warnings: [] };
  if (plan.kind === 'conflict') {
    throw mergeConflict(plan.paths, { recovery: { inProgress: null, resolve: 'updateFromBase' } });
  }
  const user = await context.user(signal);
  const identity = plan.kind === 'merge' ? requireIdentity(user) : loggedIdentity(user);
  const parents = [base.commit, theirs];
  const next =
    plan.kind === 'forward'
      ? plan.next
      : await runForOid(
          git,
          writeCommands.commitTree(place, { tree: plan.tree, parents, message, identity }),
        );
  await turn.assertCurrent();
  if ((await findBranchHolders(capability, base.branch)).length > 0) throw refMoved(staleTarget);
  const change = { ref: base.branch, next, previous: base.commit, identity, log: 'merge' } as const;
  await runWriting(git, writeCommands.updateRef(place, change));
  await assertCommitted(git, turn, base, next);
  // Files that were checked out before the branch moved are behind it now.
  const isHeld = (await findBranchHolders(capability, base.branch)).length > 0;
  return {
    kind: plan.kind,
    oid: next,
    warnings: isHeld ? [{ stage: 'checked-out-meanwhile', code: 'ref_moved' }] : [],
  };
}
