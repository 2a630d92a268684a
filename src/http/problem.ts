import { AuthorityError, type ErrorCode, isAuthorityError } from '../errors/index.ts';
import { presentableDetails } from './presentable-details.ts';

export const problemType = 'application/problem+json; charset=utf-8';

/**
 * The one body of every failure (RFC 9457), with the fields that existing clients read: they take the text from `message`, then
 * `error`, and never look at the status.
 */
export interface Problem {
  readonly ok: boolean;
  readonly code: string;
  /** The literal the wire contract names for this case, else the code. */
  readonly error: string;
  readonly message: string;
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly requestId: string;
  readonly retryable: boolean;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The version that stands there now, where that is what the change missed. */
  readonly sha1?: string;
  readonly etag?: string;
  /** By which existing clients choose their text for a refused action, and what fills it in (wire contract, 1.6). */
  readonly reasonKey?: unknown;
  readonly params?: unknown;
  readonly reason?: unknown;
  /** Whether the forge could be asked (wire contract, 1.1). */
  readonly authState?: unknown;
  /** What an action left when it failed. */
  readonly partial?: unknown;
  readonly stage?: unknown;
  readonly staged?: unknown;
  /** Where and how to go on with a merge that has conflicts. */
  readonly conflictFiles?: unknown;
  readonly recovery?: unknown;
  /** What an archive of a worktree would lose (wire contract, 1.3). */
  readonly dirty?: unknown;
  readonly unpushed?: unknown;
  readonly recoveryCwd?: string;
  /** What is known of the transaction of a creation (wire contract, 1.2). */
  readonly txId?: unknown;
  readonly txState?: unknown;
}

/** Details that the contract of actions has beside the code, not below `details`. */
const actionFields = [
  'reasonKey',
  'params',
  'partial',
  'stage',
  'staged',
  'conflictFiles',
  'recovery',
  'dirty',
  'unpushed',
  'authState',
] as const;

/** Codes whose `details.reason` existing clients look for beside the code. */
const reasonCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'ref_moved',
  'forge_not_found',
  'forge_not_configured',
  'forge_unauthenticated',
  'forge_rate_limited',
  'forge_unavailable',
  'forge_response_invalid',
  'forge_refused',
  'session_active',
  'worktree_not_managed',
  'worktree_unsafe',
  'worktree_teardown_failed',
  'action_refused',
  'merge_target_unauthorized',
  'transaction_conflict',
]);

/** Whom the problem is shown to, which decides what it may name. */
export interface ProblemScope {
  readonly requestId: string;
  /** Canonical root of the authorised workspace, if the request got that far. */
  readonly root: string | null;
}

export function describeProblem(error: AuthorityError, scope: ProblemScope): Problem {
  const details = presentableDetails(error.details, scope.root);
  return {
    ok: false,
    code: error.code,
    error: error.legacy,
    message: error.message,
    type: `urn:workspace-authority:problem:${error.code}`,
    title: error.message,
    status: error.status,
    detail: error.message,
    requestId: scope.requestId,
    retryable: error.retryable,
    ...(Object.keys(details).length === 0 ? {} : { details }),
    ...(error.code === 'conflict' || error.code === 'precondition_failed' ? currentVersion(details) : {}),
    ...(reasonCodes.has(error.code) && 'reason' in details ? { reason: details['reason'] } : {}),
    ...actionFacts(details),
    ...recoveryPlace(error.details),
    ...creationFacts(error),
  };
}

/** Anything that was not thrown on purpose becomes `internal_error`; its text stays in the log. */
export function asAuthorityError(error: unknown, signal: () => AbortSignal): AuthorityError {
  if (isAuthorityError(error)) return error;
  if ((error as { name?: unknown } | null)?.name === 'AbortError' && signal().aborted) {
    return new AuthorityError('aborted', { cause: error });
  }
  return new AuthorityError('internal_error', { cause: error });
}

function actionFacts(details: Readonly<Record<string, unknown>>): Partial<Problem> {
  const given = actionFields.filter((name) => Object.hasOwn(details, name));
  return Object.fromEntries(given.map((name) => [name, details[name]]));
}

/** The caller's own transaction: its state, and what it made, or where it stands, which is outside the root that was selected. */
function creationFacts({ code, details }: AuthorityError): Partial<Problem> {
  const { txId, txState, path, result } = details;
  return {
    ...(typeof txId === 'string' ? { txId } : {}),
    ...(typeof txState === 'string' ? { txState } : {}),
    ...(code === 'transaction_pending' ? { path } : {}),
    ...(code === 'transaction_retired' ? (result as object) : {}),
  };
}

/** The one path outside the root that a refusal names: the checkout that a merge was left in (decisions 2). */
function recoveryPlace({ recoveryCwd }: Readonly<Record<string, unknown>>): { recoveryCwd?: string } {
  return typeof recoveryCwd === 'string' ? { recoveryCwd } : {};
}

function currentVersion(details: Readonly<Record<string, unknown>>): { sha1?: string; etag?: string } {
  const { sha1, etag } = details as { sha1?: unknown; etag?: unknown };
  return {
    ...(typeof sha1 === 'string' ? { sha1 } : {}),
    ...(typeof etag === 'string' ? { etag } : {}),
  };
}
