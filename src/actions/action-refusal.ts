import { AuthorityError, isAuthorityError } from '../errors/index.ts';

/** A refusal under the key by which existing clients choose their text (wire contract, 1.6). */
export function actionRefused(
  reasonKey: `actions.${string}`,
  details: Readonly<Record<string, unknown>> = {},
): AuthorityError {
  return new AuthorityError('action_refused', { details: { reasonKey, ...details } });
}

/** The same failure, which says besides what the action had done before. */
export function leftAt(error: unknown, left: Readonly<Record<string, unknown>>): unknown {
  if (!isAuthorityError(error)) return new AuthorityError('internal_error', { details: left, cause: error });
  return new AuthorityError(error.code, {
    details: { ...error.details, ...left },
    legacy: error.legacy,
    cause: error,
  });
}
