import { isAuthorityError } from '../errors/index.ts';
import { authorityErrorOf } from './syscall-error.ts';

/** Makes a call of the binding whose failures, thrown or rejected, become `AuthorityError`s. */
export async function calling<Result>(call: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    throw isAuthorityError(error) ? error : authorityErrorOf(error);
  }
}

/** The same for a call that answers at once. */
export function callingNow<Result>(call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    throw isAuthorityError(error) ? error : authorityErrorOf(error);
  }
}
