import { type AuthorityError, isAuthorityError } from '../errors/index.ts';
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
    if (standing === 'unregistered' && isAuthorityError(error) && isProperty(error)) unclaimed.add(error);
    throw error;
  }
}

/** A directory that may be opened but not searched is a property, too: it must look like none. */
function isProperty({ code, details }: AuthorityError): boolean {
  return properties.has(code) || (code === 'storage_failed' && details['errno'] === 'EACCES');
}

export function isUnclaimed(error: unknown): boolean {
  return typeof error === 'object' && error !== null && unclaimed.has(error);
}
