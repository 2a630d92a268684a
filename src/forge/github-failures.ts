import { AuthorityError } from '../errors/index.ts';

/** Longest text of a forge that is passed on. */
const longestMessage = 300;

interface Failure {
  readonly status?: unknown;
  readonly cause?: unknown;
  readonly response?: { readonly headers?: Readonly<Record<string, unknown>>; readonly data?: unknown };
}

/** The error of a request that failed. Nothing of the request, which holds the token, is kept. */
export function readFailureOf(error: unknown): AuthorityError {
  if (error instanceof AuthorityError) return error;
  const { status, cause, response } = (typeof error === 'object' && error !== null ? error : {}) as Failure;
  if (cause instanceof AuthorityError) return cause;
  const waiting = retryAfterOf(status, response);
  if (waiting !== null) return new AuthorityError('forge_rate_limited', { details: { retryAfter: waiting } });
  if (status === 401 || status === 403) return new AuthorityError('forge_unauthenticated');
  if (status === 404 || status === 410) return new AuthorityError('forge_not_found', { details: { status } });
  if (typeof status === 'number' && status >= 500 && response !== undefined)
    return new AuthorityError('forge_unavailable', { details: { status } });
  return new AuthorityError('forge_response_invalid', {
    details: typeof status === 'number' ? { status } : { reason: 'unreadable' },
  });
}

/** As for reading, but a change that the forge understood and does not do is refused, with its words. */
export function changeFailureOf(error: unknown): AuthorityError {
  if (error instanceof AuthorityError) return error;
  const status = statusOf(error);
  const failure = readFailureOf(error);
  const isRefusal = status === 403 || status === 405 || status === 409 || status === 422;
  return isRefusal && failure.code !== 'forge_rate_limited' ? refusal(messageOf(error)) : failure;
}

export function refusal(message: string): AuthorityError {
  return new AuthorityError('forge_refused', { details: { message: shortened(message) } });
}

export function statusOf(error: unknown): number | null {
  const status = (error as Failure | null)?.status;
  return typeof status === 'number' ? status : null;
}

/** What the forge says, with the single errors that it lists. */
export function messageOf(error: unknown): string {
  const data = (error as Failure | null)?.response?.data as
    | { readonly message?: unknown; readonly errors?: unknown }
    | undefined
    | null;
  if (typeof data !== 'object' || data === null) return '';
  const listed = Array.isArray(data.errors) ? data.errors.map((one: unknown) => textOf(one)) : [];
  return [textOf(data.message), ...listed].filter((text) => text !== '').join(': ');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const message = (value as { readonly message?: unknown } | null | undefined)?.message;
  return typeof message === 'string' ? message : '';
}

function shortened(text: string): string {
  return text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, longestMessage)
    .toWellFormed();
}

/** Seconds to wait, null where no limit was met (GitHub, "Rate limits for the REST API"). */
function retryAfterOf(status: unknown, response: Failure['response']): number | null {
  // The plugin that spaces questions throws the answer to one of GraphQL that met a limit, without a status.
  const isGraphqlLimit = status === undefined && errorTypesOf(response).includes('RATE_LIMITED');
  if (status !== 403 && status !== 429 && !isGraphqlLimit) return null;
  const headers = response?.headers ?? {};
  const after = Number(headers['retry-after'] ?? Number.NaN);
  if (Number.isInteger(after) && after >= 0) return Math.min(after, 3600);
  const reset = Number(headers['x-ratelimit-reset'] ?? Number.NaN);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isInteger(reset))
    return Math.min(Math.max(Math.ceil(reset - Date.now() / 1000), 1), 3600);
  return status === 429 || isGraphqlLimit || /rate limit/i.test(messageOf({ response })) ? 60 : null;
}

function errorTypesOf(response: Failure['response']): readonly unknown[] {
  const { errors } = (response?.data ?? {}) as { readonly errors?: unknown };
  if (!Array.isArray(errors)) return [];
  return errors.map((one: unknown) => (one as { readonly type?: unknown } | null)?.type);
}
