import { isDeepStrictEqual } from 'node:util';
import { captureHead } from '../git/captured-head.ts';
import { findUnfinished, readMergeHeads } from '../git/operation-state.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { runWriting } from '../git/run-writing.ts';
import type { UserIdentity } from '../git/user-configuration.ts';
import type { CommitOid } from '../git/values.ts';
import { type RefLog, writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { assertCommitted, refMoved } from './commit-index.ts';
import type { FamilyTurn } from './in-family.ts';
import type { BornBranch } from './settled-checkout.ts';

export interface BranchMove {
  readonly head: BornBranch;
  readonly next: CommitOid;
  readonly identity: UserIdentity;
  readonly log: RefLog;
}

/**
 * Moves the branch that is checked out, if it and HEAD still are what was captured, and proves that it did.
 * @throws `ref_moved`; with details.committed the branch had moved, and details.stage says what somebody did then | as `runWriting`
 */
export async function moveBranch(
  context: ActionContext,
  turn: FamilyTurn,
  { head, next, identity, log }: BranchMove,
): Promise<void> {
  const { git } = context;
  const { capability } = turn;
  await assertSettled(context, turn, head);
  await turn.assertCurrent();
  const change = { ref: head.branch, next, previous: head.commit, identity, log };
  await runWriting(git, writeCommands.updateRef(pinnedPlace(capability), change));
  await assertCommitted(git, turn, head, next);
  const { branch } = await captureHead(capability, git);
  if (branch !== head.branch) {
    throw refMoved({ ...staleTarget, committed: next, partial: true, stage: 'merge-ownership-changed' });
  }
}

/** Whoever switched the branch, moved it or began something meanwhile may have changed index and files, too. @throws `ref_moved` */
export async function assertSettled(
  { git }: ActionContext,
  { capability }: FamilyTurn,
  head: BornBranch,
): Promise<void> {
  const isSettled = (await findUnfinished(capability)) === null;
  const isMerging = (await readMergeHeads(capability)).length > 0;
  if (isSettled && !isMerging && isDeepStrictEqual(await captureHead(capability, git), head)) return;
  throw refMoved(staleTarget);
}

/** By which existing clients choose their text. */
export const staleTarget = { reasonKey: 'actions.merge.staleTarget' } as const;
