import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { authorityErrorOf, codeOf, syscallOf } from '../native/syscall-error.ts';

export { codeOf, syscallOf };

/** Any failure as an `AuthorityError`; what a write transaction left behind is told in `details.kept` and `details.inPlace`. */
export function refusalOf(error: unknown): AuthorityError {
  if (isAuthorityError(error)) return error;
  const { code, details } = authorityErrorOf(error);
  const what = code === 'identity_changed' ? { what: 'file' } : {};
  return new AuthorityError(code, { details: { ...details, ...what, ...aftermathOf(error) }, cause: error });
}

/** The error of a call that reported its failure as data. */
export function systemFailure(code: string | null, syscall: string | null): Error {
  return Object.assign(new Error(code ?? 'unknown failure'), { code, syscall });
}

/** See `NativeWriteFailure`. */
function aftermathOf(error: unknown): Readonly<Record<string, unknown>> {
  const { inPlace, kept } = (error ?? {}) as Readonly<Record<string, unknown>>;
  return { ...(inPlace === undefined ? {} : { inPlace }), ...(kept === undefined ? {} : { kept }) };
}
