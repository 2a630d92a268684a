import { isAuthorityError } from '../errors/index.ts';
import { resolveBase } from '../git/base-revision.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused } from './action-refusal.ts';
import { findBase } from './base-branch.ts';
import { type FamilyTurn, inFamily } from './in-family.ts';
import { mergeIntoCheckout } from './merge-into-checkout.ts';
import { mergeMessage, shortName } from './merge-message.ts';
import type { UpdateOutcome } from './repository-actions.ts';
import { captureSettled } from './settled-checkout.ts';

/** See `RepositoryActions.updateFromBase`. */
export async function updateFromBase(
  context: ActionContext,
  selector: string,
  signal?: AbortSignal,
): Promise<UpdateOutcome> {
  return await inFamily(context, selector, (turn) => updateInTurn(context, turn, signal), signal);
}

async function updateInTurn(
  context: ActionContext,
  turn: FamilyTurn,
  signal?: AbortSignal,
): Promise<UpdateOutcome> {
  const head = await captureSettled(context, turn, signal);
  const { oid: theirs, label } = await resolveRecordedBase(context, turn, signal);
  const message = mergeMessage(theirs === label ? 'commit' : 'branch', label, shortName(head.branch));
  const merge = { head, theirs, message, log: 'merge', side: 'current' } as const;
  const { kind, oid } = await mergeIntoCheckout(context, turn, merge, signal);
  if (kind === 'none') throw actionRefused('actions.updateFromBase.upToDate');
  return { kind, oid, previous: head.commit, mergedOid: theirs };
}

async function resolveRecordedBase(context: ActionContext, { capability }: FamilyTurn, signal?: AbortSignal) {
  const base = await findBase(context, capability, signal);
  if (base === null) throw actionRefused('actions.updateFromBase.noBase');
  try {
    return await resolveBase(capability, context.git, base, signal);
  } catch (error) {
    const isGone = isAuthorityError(error) && error.code === 'invalid_base_revision';
    throw isGone ? actionRefused('actions.updateFromBase.noBase', { reason: 'not-found' }) : error;
  }
}
