import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { GuardedSession, SessionGuard, SessionPlace } from './session-guard.ts';

/**
 * Asks the guard anew. Whatever else it throws or answers is `session_guard_unavailable`, never "no sessions" (R04).
 * @throws `session_guard_unavailable` (details.reason) | `aborted`
 */
export async function readSessions(
  guard: SessionGuard | null,
  signal?: AbortSignal,
): Promise<readonly GuardedSession[]> {
  if (guard === null) throw guardUnavailable('no session guard is connected');
  let answer: unknown;
  try {
    signal?.throwIfAborted();
    answer = await guard.list(signal);
  } catch (error) {
    if (isAuthorityError(error) && error.code === 'session_guard_unavailable') throw error;
    if (signal?.aborted === true) throw new AuthorityError('aborted', { cause: error });
    throw guardUnavailable('the session guard failed', error);
  }
  if (!Array.isArray(answer) || !answer.every(isSession)) {
    throw guardUnavailable('the session guard answered with something else');
  }
  return answer;
}

export function guardUnavailable(reason: string, cause?: unknown): AuthorityError {
  return new AuthorityError('session_guard_unavailable', { details: { reason }, cause });
}

function isSession(value: unknown): value is GuardedSession {
  if (typeof value !== 'object' || value === null) return false;
  const { id, header, current, workspaces, dormant } = value as Partial<
    Record<keyof GuardedSession, unknown>
  >;
  return (
    typeof id === 'string' &&
    isPlace(header) &&
    Array.isArray(current) &&
    current.every(isPlace) &&
    Array.isArray(workspaces) &&
    workspaces.every((root) => typeof root === 'string') &&
    typeof dormant === 'boolean'
  );
}

function isPlace(value: unknown): value is SessionPlace {
  if (typeof value !== 'object' || value === null) return false;
  const { path, canonical, unknown } = value as {
    readonly path?: unknown;
    readonly canonical?: unknown;
    readonly unknown?: unknown;
  };
  if (unknown !== undefined) return typeof unknown === 'string' && path === undefined;
  return typeof path === 'string' && (canonical === undefined || typeof canonical === 'string');
}
