import { isDeepStrictEqual } from 'node:util';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { type CapturedHead, captureHead } from '../git/captured-head.ts';
import { emptyTreeOf } from '../git/empty-tree.ts';
import { lineOf, malformedOutput, runExpecting } from '../git/expect-success.ts';
import { findUnfinished, readMergeHeads } from '../git/operation-state.ts';
import { type PinnedPlace, pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import type { GitCommand, GitRunner } from '../git/run-git.ts';
import { runWriting } from '../git/run-writing.ts';
import type { UserIdentity } from '../git/user-configuration.ts';
import { type CommitMessage, type CommitOid, type ObjectOid, parseCommitOid } from '../git/values.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused } from './action-refusal.ts';
import type { FamilyTurn } from './in-family.ts';
import { whileLocked } from './index-lock.ts';
import type { ActionWarning, CommitOutcome } from './repository-actions.ts';

export interface IndexCommit {
  /** Where HEAD stood when the action began. */
  readonly head: CapturedHead;
  /** Further parents; empty but for a merge. */
  readonly mergeHeads: readonly CommitOid[];
  readonly message: CommitMessage;
  readonly identity: UserIdentity;
}

/**
 * Makes a commit of the index and moves the captured branch to it, if the branch and HEAD still are what was captured. Until the one step
 * that moves it, nothing is to be seen of the commit; after it, the commit is whole.
 * @throws `ref_moved`: nothing was committed, unless details.committed names a commit that the branch no longer leads to
 */
export async function commitIndex(
  { git }: ActionContext,
  turn: FamilyTurn,
  { head, mergeHeads, message, identity }: IndexCommit,
): Promise<CommitOutcome> {
  const { capability } = turn;
  const place = pinnedPlace(capability);
  const tree = await whileLocked(capability, () => runForOid(git, writeCommands.writeTree(place)));
  if (mergeHeads.length === 0 && tree === (await treeOfHead(git, place, head, tree))) {
    throw actionRefused('actions.commit.clean');
  }
  const parents = head.commit === null ? mergeHeads : [head.commit, ...mergeHeads];
  const next = await runForOid(git, writeCommands.commitTree(place, { tree, parents, message, identity }));
  // Whoever switched the branch or began to merge meanwhile may have changed the index, too.
  const isSettled = (await findUnfinished(capability)) === null;
  const sameMerge = isDeepStrictEqual(await readMergeHeads(capability), mergeHeads);
  if (!isSettled || !sameMerge || !isDeepStrictEqual(await captureHead(capability, git), head))
    throw refMoved();
  await turn.assertCurrent();
  const ref = head.branch ?? 'HEAD';
  await runWriting(git, writeCommands.updateRef(place, { ref, next, previous: head.commit, identity }));
  await assertCommitted(git, turn, head, next);
  const warnings = mergeHeads.length === 0 ? [] : await endMerge(git, place);
  return { oid: next, warnings };
}

async function treeOfHead(
  git: GitRunner,
  place: PinnedPlace,
  { commit }: CapturedHead,
  tree: ObjectOid,
): Promise<string> {
  if (commit === null) return emptyTreeOf(tree);
  return lineOf(await runExpecting(git, readCommands.treeOf(place, commit)));
}

/** The commit stands when its branch leads to it, or to what somebody has built upon it since. */
export async function assertCommitted(
  git: GitRunner,
  { capability }: FamilyTurn,
  head: CapturedHead,
  next: CommitOid,
): Promise<void> {
  const place = pinnedPlace(capability);
  const now = await git.run(readCommands.resolveCommit(place, head.branch ?? 'HEAD'));
  const oid = parseCommitOid(lineOf(now.stdout));
  if (oid === next) return;
  const isBelow = oid !== null && (await git.run(readCommands.isAncestor(place, next, oid))).exitCode === 0;
  if (!isBelow) throw refMoved({ committed: next, partial: true, stage: 'postcondition' });
}

/** The commit is made, whatever becomes of the traces of the merge; the next commit forgets them. */
async function endMerge(git: GitRunner, place: PinnedPlace): Promise<readonly ActionWarning[]> {
  try {
    await runWriting(git, writeCommands.endMerge(place));
    return [];
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    return [{ stage: 'end-merge', code: error.code }];
  }
}

/** Runs a command that prints the name of one object. */
export async function runForOid(git: GitRunner, command: GitCommand): Promise<CommitOid> {
  const oid = parseCommitOid(lineOf(await runWriting(git, command)));
  if (oid === null) throw malformedOutput(command);
  return oid;
}

export function refMoved(details: Readonly<Record<string, unknown>> = {}): AuthorityError {
  return new AuthorityError('ref_moved', { details: { reason: 'stale-target', ...details } });
}
