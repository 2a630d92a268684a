import { AuthorityError } from '../errors/index.ts';
import type { ArchiveContext } from './archive-context.ts';
import type { ArchiveRequest } from './archive-contract.ts';
import type { Preflight } from './preflight.ts';

/**
 * Whether a worktree in this state may be archived. No force covers a session, a lock or a repository inside. What would be lost needs
 * the token of exactly this state; clients that know no token repeat with `force` what they were refused a moment ago (decisions 1.1).
 * @throws `session_active` | `worktree_locked` | `repository_locked` | `worktree_blocked` | `worktree_changed` | `worktree_unsafe` (details.preflight)
 */
export function assertArchivable(
  { confirmations }: Pick<ArchiveContext, 'confirmations'>,
  preflight: Preflight,
  { force = false, token, caller = '' }: ArchiveRequest,
): void {
  assertUnblocked(preflight);
  if (token !== undefined) {
    if (token === preflight.token) return;
    throw new AuthorityError('worktree_changed', { details: { preflight: shown(preflight) } });
  }
  if (preflight.safe) return;
  const key = `archive\0${caller}\0${preflight.path}`;
  if (force && confirmations.confirms(key, preflight.token)) return;
  confirmations.note(key, preflight.token);
  throw new AuthorityError('worktree_unsafe', {
    details: {
      reason: 'unsafe',
      dirty: isDirty(preflight),
      unpushed: preflight.unpushed.count,
      preflight: shown(preflight),
    },
  });
}

function assertUnblocked({ blockers, occupants, repositories, mounts }: Preflight): void {
  if (blockers.includes('session')) {
    const sessions = new Set(occupants.map(({ sessionId }) => sessionId)).size;
    throw new AuthorityError('session_active', {
      details: { reason: 'active-session', stage: 'pre-remove', sessions, occupants: occupants.slice(0, 20) },
    });
  }
  if (blockers.includes('locked')) throw new AuthorityError('worktree_locked');
  if (blockers.includes('index-locked'))
    throw new AuthorityError('repository_locked', { details: { what: 'index' } });
  if (blockers.includes('repositories'))
    throw new AuthorityError('worktree_blocked', {
      details: { reason: 'repositories-inside', paths: repositories.paths.slice(0, 20) },
    });
  if (blockers.includes('mounts'))
    throw new AuthorityError('worktree_blocked', {
      details: { reason: 'mounts-inside', paths: mounts.paths.slice(0, 20) },
    });
  if (blockers.length > 0)
    throw new AuthorityError('worktree_blocked', { details: { reason: 'unborn-head' } });
}

function isDirty({ staged, unstaged, untracked, ignored, hidden, operation }: Preflight): boolean {
  return [staged, unstaged, untracked, ignored, hidden].some(({ count }) => count > 0) || operation !== null;
}

/** Enough to decide by, in a refusal; the route of the preflight has it all. */
function shown(preflight: Preflight) {
  const few = ({ count, paths }: Preflight['staged']) => ({ count, paths: paths.slice(0, 20) });
  const { staged, unstaged, untracked, ignored, hidden, unpushed, unreachable, operation, token } = preflight;
  return {
    token,
    branch: preflight.branch,
    staged: few(staged),
    unstaged: few(unstaged),
    untracked: few(untracked),
    ignored: few(ignored),
    hidden: few(hidden),
    unpushed: unpushed.count,
    unreachable: unreachable.count,
    operation,
  };
}
