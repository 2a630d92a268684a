import { type AuthorityError, isAuthorityError } from '../errors/index.ts';
import { findOccupied } from '../git/occupied-paths.ts';
import { runWriting, runWritingOrNot } from '../git/run-writing.ts';
import type { CommitOid, ObjectOid } from '../git/values.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused, leftAt } from './action-refusal.ts';
import type { FamilyTurn } from './in-family.ts';
import { whileLocked } from './index-lock.ts';
import { assertSettled } from './move-branch.ts';
import { namesOf } from './read-changes.ts';
import { type BornBranch, dirtyKeys, type MergeSide } from './settled-checkout.ts';

export interface CheckOut {
  readonly head: BornBranch;
  readonly next: CommitOid;
  readonly side: MergeSide;
}

/**
 * Takes index and files of a clean checkout from its commit to another one. HEAD and the branch stay.
 * @throws `action_refused` under the key of that side (details.reason `files-in-the-way`): nothing was changed | `ref_moved` |
 *   `repository_locked` | with details.partial when files were changed: `no_space` | `git_failed` | ...
 */
export async function checkOut(
  context: ActionContext,
  turn: FamilyTurn,
  { head, next, side }: CheckOut,
  signal?: AbortSignal,
): Promise<void> {
  const { git, configuration } = context;
  const { capability } = turn;
  await makeReady(context, turn, { head, tree: next, side }, signal);
  const place = await configuration.clear(capability, 'merge', signal);
  await turn.assertCurrent();
  // From here on the action goes to its end, whoever waits for it.
  try {
    await whileLocked(capability, () => runWriting(git, writeCommands.checkOut(place, head.commit, next)));
  } catch (error) {
    throw checkOutFailure(error, side);
  }
}

/**
 * What every change of the files waits for: nobody's file is in the way, HEAD is what was captured, and the index knows which files are as
 * they were.
 * @throws `action_refused` | `ref_moved` | `repository_locked` | ...
 */
export async function makeReady(
  context: ActionContext,
  turn: FamilyTurn,
  { head, tree, side }: { readonly head: BornBranch; readonly tree: ObjectOid; readonly side: MergeSide },
  signal?: AbortSignal,
): Promise<void> {
  const { git, configuration } = context;
  const { capability } = turn;
  const occupied = await findOccupied(git, capability, { from: head.commit, to: tree }, signal);
  if (occupied.length > 0) throw filesInTheWay(side, { paths: namesOf(occupied) });
  await assertSettled(context, turn, head);
  const place = await configuration.clear(capability, 'merge', signal);
  await turn.assertCurrent();
  // That some file is not as it was, Git says again when it matters.
  await whileLocked(capability, () => runWritingOrNot(git, writeCommands.refreshIndex(place)));
}

/** What a change of the files came to, where it did not succeed. */
export function checkOutFailure(error: unknown, side: MergeSide): unknown {
  if (!isAuthorityError(error)) return leftAt(error, left);
  if (error.details['reason'] === 'files-in-the-way') return filesInTheWay(side, {}, error);
  return isUntouched(error) ? error : leftAt(error, left);
}

const left = { partial: true, stage: 'checkout' } as const;

/** Git takes the lock of the index before anything else, and the gate and the proof come before Git. */
function isUntouched({ code, details }: AuthorityError): boolean {
  return code === 'repository_locked' && details['what'] === 'index';
}

function filesInTheWay(
  side: MergeSide,
  details: Readonly<Record<string, unknown>>,
  cause?: unknown,
): unknown {
  const refusal = actionRefused(dirtyKeys[side], { reason: 'files-in-the-way', ...details });
  return cause === undefined ? refusal : Object.assign(refusal, { cause });
}
