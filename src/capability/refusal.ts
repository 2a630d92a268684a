import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { authorityErrorOf, codeOf, syscallOf } from '../native/syscall-error.ts';

export { codeOf, syscallOf };

/** Any failure as an `AuthorityError`; one that is none of the system's is `internal_error`. */
export function refusalOf(error: unknown): AuthorityError {
  if (isAuthorityError(error)) return error;
  const refusal = authorityErrorOf(error);
  if (refusal.code === 'internal_error') return refusal;
  const what = codeOf(error) === 'WA_PARENT_MOVED' ? { what: 'file' } : {};
  const details = { ...refusal.details, ...what, ...aftermathOf(error as Aftermath) };
  return new AuthorityError(refusal.code, { details, cause: error });
}

/** The error of a call that reported its failure as data. */
export function systemFailure(code: string | null, syscall: string | null): Error {
  return Object.assign(new Error(code ?? 'unknown failure'), { code, syscall });
}

/** What a failed write transaction says beside its errno. */
interface Aftermath {
  /** The new state stands all the same: it could not be made durable, or not be taken back. */
  readonly inPlace?: boolean;
  /** Names of files that it left beside the target. */
  readonly kept?: readonly string[];
}

function aftermathOf({ inPlace, kept }: Aftermath): Aftermath {
  return { ...(inPlace === undefined ? {} : { inPlace }), ...(kept === undefined ? {} : { kept }) };
}
