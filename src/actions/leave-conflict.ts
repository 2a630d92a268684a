import { isDeepStrictEqual } from 'node:util';
import { AuthorityError } from '../errors/index.ts';
import { readMergeHeads } from '../git/operation-state.ts';
import { runWritingOrNot } from '../git/run-writing.ts';
import type { UserIdentity } from '../git/user-configuration.ts';
import type { ObjectOid } from '../git/values.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { leftAt } from './action-refusal.ts';
import { checkOutFailure, makeReady } from './check-out.ts';
import { refMoved } from './commit-index.ts';
import type { FamilyTurn } from './in-family.ts';
import { whileLocked } from './index-lock.ts';
import type { CheckoutMerge } from './merge-into-checkout.ts';
import { staleTarget } from './move-branch.ts';
import { namesOf, readChanges } from './read-changes.ts';

export interface ConflictingMerge extends CheckoutMerge {
  /** With the marks of the conflicts. */
  readonly tree: ObjectOid;
  readonly identity: UserIdentity;
}

/**
 * Begins a merge that is known to have conflicts, and leaves it where it stops: in the files, for a person to resolve and commit. Nothing
 * ends it by itself, since from then on somebody may work on it.
 * @throws `merge_conflict` when all went as it should: details.conflictFiles, and in details.recovery how to go on
 */
export async function leaveConflict(
  context: ActionContext,
  turn: FamilyTurn,
  merge: ConflictingMerge,
  signal?: AbortSignal,
): Promise<never> {
  const { git, configuration } = context;
  const { capability } = turn;
  const { head, theirs, message, identity, side, tree } = merge;
  await makeReady(context, turn, { head, tree, side }, signal);
  const command = writeCommands.startMerge(await configuration.clear(capability, 'merge', signal), {
    theirs,
    message,
    identity,
  });
  await turn.assertCurrent();
  let merged = false;
  let failure: unknown = null;
  try {
    merged = await whileLocked(capability, () => runWritingOrNot(git, command));
  } catch (error) {
    failure = error;
  }
  const mergeHeads = await readMergeHeads(capability);
  const isOurs = isDeepStrictEqual(mergeHeads, [theirs]);
  // Somebody else was faster, and what stands there now is theirs.
  if (mergeHeads.length > 0 && !isOurs) throw refMoved({ ...staleTarget, stage: 'foreign-merge' });
  if (failure !== null) throw checkOutFailure(failure, side);
  // Somebody has merged it meanwhile.
  if (!isOurs) throw refMoved(staleTarget);
  const recovery = {
    inProgress: 'merge',
    branch: head.branch,
    head: head.commit,
    merging: theirs,
    conclude: 'commit',
    undo: 'git merge --abort',
  };
  const left = { partial: true, recovery, recoveryCwd: capability.root };
  // It had conflicts with what was captured, so it was merged into something else.
  if (merged) throw leftAt(refMoved(staleTarget), { ...left, stage: 'merge' });
  const user = await context.user();
  const records = await readChanges(context, capability, user);
  const conflicts = records.filter(({ kind }) => kind === 'unmerged').map(({ path }) => path);
  throw mergeConflict(conflicts, { ...left, stage: 'merge-conflict-preserved' });
}

/** @param latin1Paths of the files with conflicts */
function mergeConflict(
  latin1Paths: readonly string[],
  details: Readonly<Record<string, unknown>>,
): AuthorityError {
  const conflictFiles = namesOf(latin1Paths);
  const conflictCount = latin1Paths.length;
  return new AuthorityError('merge_conflict', {
    details: { reasonKey: 'actions.merge.conflict', conflictFiles, conflictCount, ...details },
  });
}
