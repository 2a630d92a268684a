import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { type CapturedHead, captureHead } from '../git/captured-head.ts';
import { findUnfinished } from '../git/operation-state.ts';
import type { StatusRecord } from '../git/status-records.ts';
import type { CommitOid, RefName } from '../git/values.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused } from './action-refusal.ts';
import type { FamilyTurn } from './in-family.ts';
import { findOpenMerge, openMergeHeads } from './open-merge-heads.ts';
import { namesOf, readChanges, unmergedIndex } from './read-changes.ts';

/** A branch that is checked out, and its commit. */
export interface BornBranch {
  readonly branch: RefName;
  readonly commit: CommitOid;
}

/** Which checkout of a merge is looked at: the one that was asked for, or the one that has the base. */
export type MergeSide = 'current' | 'owner';

/** By which existing clients choose their text. */
export const dirtyKeys: Readonly<Record<MergeSide, `actions.${string}`>> = {
  current: 'actions.merge.dirtyCurrent',
  owner: 'actions.merge.dirtyOwner',
};

/**
 * Captures a branch on which nothing stands in the middle.
 * @throws `action_refused`: `actions.merge.inProgress` (details.operation) | `actions.merge.detached` (details.reason `unborn` for a branch
 *   without a commit) | as `captureHead`
 */
export async function captureSettled(
  context: ActionContext,
  turn: FamilyTurn,
  signal?: AbortSignal,
): Promise<BornBranch> {
  const head = await captureUnhindered(context, turn.capability, signal);
  return bornBranch(head, await openMergeHeads(context, turn, head.commit, signal));
}

/** The same for who has no turn, and so may not even forget a merge that is over. @throws as `captureSettled` */
export async function findSettled(
  context: ActionContext,
  capability: RepositoryCapability,
  signal?: AbortSignal,
): Promise<BornBranch> {
  const head = await captureUnhindered(context, capability, signal);
  return bornBranch(head, (await findOpenMerge(context, capability, head.commit, signal)).heads);
}

async function captureUnhindered(
  { git }: ActionContext,
  capability: RepositoryCapability,
  signal?: AbortSignal,
): Promise<CapturedHead> {
  const operation = await findUnfinished(capability);
  if (operation === null) return await captureHead(capability, git, signal);
  throw actionRefused('actions.merge.inProgress', { operation, reason: 'operation-in-progress' });
}

function bornBranch({ branch, commit }: CapturedHead, mergeHeads: readonly CommitOid[]): BornBranch {
  if (mergeHeads.length > 0) {
    throw actionRefused('actions.merge.inProgress', { operation: 'merge', reason: 'merge-in-progress' });
  }
  if (branch === null) throw actionRefused('actions.merge.detached');
  if (commit === null) throw actionRefused('actions.merge.detached', { reason: 'unborn' });
  return { branch, commit };
}

/**
 * What of the tracked files differs from HEAD; untracked files are in nobody's way until one is to be made under their name.
 * @throws `unmerged_index` (details.paths) | `untrusted_repository_config` | `git_failed` | ...
 */
export async function readTrackedChanges(
  context: ActionContext,
  capability: RepositoryCapability,
  signal?: AbortSignal,
): Promise<readonly StatusRecord[]> {
  const records = await readChanges(context, capability, await context.user(signal), signal);
  const unmerged = records.filter(({ kind }) => kind === 'unmerged');
  if (unmerged.length > 0) throw unmergedIndex(unmerged);
  return records.filter(({ kind }) => kind === 'changed');
}

/** @throws `action_refused` under the key of that side | as `readTrackedChanges` */
export async function requireClean(
  context: ActionContext,
  capability: RepositoryCapability,
  side: MergeSide,
  signal?: AbortSignal,
): Promise<void> {
  const changes = await readTrackedChanges(context, capability, signal);
  if (changes.length > 0) throw dirty(side, changes);
}

export function dirty(side: MergeSide, changes: readonly StatusRecord[]): Error {
  return actionRefused(dirtyKeys[side], { paths: namesOf(changes.map(({ path }) => path)) });
}
