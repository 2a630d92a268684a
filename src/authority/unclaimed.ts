import { isAuthorityError } from '../errors/index.ts';
import type { Standing } from './proof-context.ts';

/** Refusals that say something about a directory which no registered main checkout has claimed: for its caller it is nothing. */
const unclaimed = new WeakSet<object>();

/** What a step can find out about a directory; everything else is a failure of the system. */
const properties = new Set(['repository_unsupported', 'repository_identity_changed', 'identity_changed']);

/** Runs a step that comes before the claim, and marks the refusals that a caller without a row must not be told apart. */
export async function hiding<Result>(standing: Standing, step: () => Promise<Result>): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    if (standing === 'unregistered' && isAuthorityError(error) && properties.has(error.code)) {
      unclaimed.add(error);
    }
    throw error;
  }
}

export function isUnclaimed(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unclaimed.has(error);
}
