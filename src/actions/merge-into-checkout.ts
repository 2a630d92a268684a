import { isAuthorityError } from '../errors/index.ts';
import { lineOf, runExpecting } from '../git/expect-success.ts';
import { type MergePlan, planMerge } from '../git/merge-plan.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import type { CommitMessage, CommitOid } from '../git/values.ts';
import type { RefLog } from '../git/write-commands.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { leftAt } from './action-refusal.ts';
import { checkOut } from './check-out.ts';
import { runForOid } from './commit-index.ts';
import type { FamilyTurn } from './in-family.ts';
import { whileLocked } from './index-lock.ts';
import { leaveConflict } from './leave-conflict.ts';
import { moveBranch } from './move-branch.ts';
import { loggedIdentity, requireIdentity } from './require-identity.ts';
import { type BornBranch, dirty, type MergeSide, readTrackedChanges } from './settled-checkout.ts';

/** A merge into a branch that is checked out. */
export interface CheckoutMerge {
  readonly head: BornBranch;
  readonly theirs: CommitOid;
  readonly message: CommitMessage;
  readonly log: RefLog;
  readonly side: MergeSide;
}

export interface Merged {
  /** What it took: nothing, a branch that only moved, or a commit of its own. */
  readonly kind: 'none' | 'forward' | 'merge';
  /** Where the branch is now. */
  readonly oid: CommitOid;
}

/**
 * Merges a commit into a checkout of the turn. The result is worked out in objects first, then index and files are taken there, and then
 * the captured branch moves, in one step, if it still is what was captured. Only conflicts are left to a person in the files.
 * @throws `merge_conflict` | `action_refused` | `unmerged_index` | `identity_missing` | `ref_moved` | `repository_locked` |
 *   `untrusted_repository_config` | `no_space` | `git_failed` | as `FileCapability.assertCurrent`
 */
export async function mergeIntoCheckout(
  context: ActionContext,
  turn: FamilyTurn,
  merge: CheckoutMerge,
  signal?: AbortSignal,
): Promise<Merged> {
  const { head, theirs, side, log } = merge;
  const { git } = context;
  const place = pinnedPlace(turn.capability);
  const plan = await planMerge(context, turn.capability, { ours: head.commit, theirs }, signal);
  const changes = await readTrackedChanges(context, turn.capability, signal);
  if (plan.kind === 'none') return { kind: 'none', oid: head.commit };
  const user = await context.user(signal);
  if (plan.kind === 'conflict') {
    if (changes.length > 0) throw dirty(side, changes);
    const { tree } = plan;
    return await leaveConflict(context, turn, { ...merge, tree, identity: loggedIdentity(user) }, signal);
  }
  const isThere =
    changes.length > 0 &&
    changes.every(({ unstaged }) => unstaged === '.') &&
    (await isStaged(context, turn, plan));
  if (changes.length > 0 && !isThere) throw dirty(side, changes);
  const identity = plan.kind === 'merge' ? requireIdentity(user) : loggedIdentity(user);
  using hooks = await context.hooks(turn.capability);
  const next =
    plan.kind === 'forward'
      ? plan.next
      : await runForOid(
          git,
          writeCommands.commitTree(place, {
            tree: plan.tree,
            parents: [head.commit, theirs],
            message: await hooks.message(merge.message, 'merge', identity),
            identity,
          }),
        );
  if (!isThere) await checkOut(context, turn, { head, next, side }, signal);
  try {
    if (plan.kind === 'merge') await hooks.run('pre-merge-commit', identity);
    await moveBranch(context, turn, { head, next, identity, log });
  } catch (error) {
    // What had moved already says more.
    const hasMoved = isAuthorityError(error) && 'committed' in error.details;
    throw hasMoved ? error : leftAt(error, { partial: true, stage: 'merge', staged: true });
  }
  // It is only told; what it makes of that changes nothing (githooks(5)).
  await hooks.run('post-merge', identity, ['0']).catch(() => {});
  return { kind: plan.kind, oid: next };
}

/**
 * Whether the index holds already what the merge comes to: a server that was killed after it had checked it out leaves it so, and then only
 * the branch has to move.
 */
async function isStaged(
  { git }: ActionContext,
  { capability }: FamilyTurn,
  plan: Extract<MergePlan, { kind: 'forward' | 'merge' }>,
): Promise<boolean> {
  const place = pinnedPlace(capability);
  const tree = await whileLocked(capability, () => runForOid(git, writeCommands.writeTree(place)));
  if (plan.kind === 'merge') return tree === plan.tree;
  const printed = await runExpecting(git, readCommands.treeOf(place, plan.next));
  return tree === lineOf(printed);
}
