import type { TransactionName } from '../capability/transaction-name.ts';

/** What stands under a temporary or target name. `digest` as in the temporary's name; null where there is no readable file. */
export interface Standing {
  readonly type: 'missing' | 'file' | 'other';
  readonly digest: string | null;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
}

type LeftoverAction = 'removed' | 'restored' | 'kept';

export interface LeftoverDecision {
  readonly action: LeftoverAction;
  /** One constant sentence. */
  readonly reason: string;
}

const groupAndOthers = 0o077;

/**
 * What to do with the temporary file of a transaction that nobody runs any more. It never touches what stands under the target's name:
 * others may have built on that since. Removed is only what the transaction itself made and never committed, what it was entitled to
 * displace, or what stands elsewhere; any other content is kept.
 *
 * - A replacement writes its temporary file (mode 0600 until it is complete), exchanges it with the target, and unlinks the displaced.
 * - A creation has one only where the file system knows no files without a name: it writes it and renames it to the target's name. What
 *   a kill cut off while it was written is kept, since anybody may have put it there.
 * - A removal renames the target to the temporary name, verifies, and unlinks.
 */
export function decideLeftover(
  { base, next }: Pick<TransactionName, 'base' | 'next'>,
  leftover: Standing,
  target: Standing,
): LeftoverDecision {
  const standsElsewhere = leftover.digest !== null && leftover.digest === target.digest;
  if (next === null) {
    if (target.type === 'missing') return restored;
    return standsElsewhere ? removedStanding : keptForeign;
  }
  if (leftover.type !== 'file') return keptForeign;
  if (leftover.digest === next) return removedUncommitted;
  if (leftover.digest === base && target.digest === next) return removedDisplaced;
  if (standsElsewhere) return removedStanding;
  if (leftover.size === 0) return removedEmpty;
  if (base === null) return keptForeign;
  const inPreparation = (leftover.mode & groupAndOthers) === 0 && target.digest === base;
  if (inPreparation && leftover.digest !== null) return removedUncommitted;
  return leftover.digest === base ? keptBase : keptForeign;
}

const restored: LeftoverDecision = {
  action: 'restored',
  reason: 'A removal was cut off after it had set the file aside; nothing else stands under its name.',
};
const removedUncommitted: LeftoverDecision = {
  action: 'removed',
  reason: 'New content that was never committed.',
};
const removedDisplaced: LeftoverDecision = {
  action: 'removed',
  reason: 'The version that a completed replacement was based on.',
};
const removedStanding: LeftoverDecision = {
  action: 'removed',
  reason: 'The same content stands under the target name.',
};
const removedEmpty: LeftoverDecision = { action: 'removed', reason: 'An empty file.' };
const keptBase: LeftoverDecision = {
  action: 'kept',
  reason: 'A displaced version whose replacement no longer stands.',
};
export const keptForeign: LeftoverDecision = {
  action: 'kept',
  reason: 'Content that another writer put there and nobody else has.',
};
