/** Managed worktrees: taking them away and bringing them back. */
export const worktreeCodes = {
  worktree_not_managed: {
    kind: 'denied',
    status: 403,
    title: 'The worktree was not made here, so it is never taken away.',
    legacy: 'not-managed',
  },
  worktree_unsafe: {
    kind: 'conflict',
    status: 409,
    title: 'The worktree has what would be lost; confirm exactly that.',
    legacy: 'unsafe',
  },
  worktree_locked: {
    kind: 'conflict',
    status: 423,
    title: 'Somebody has locked the worktree.',
  },
  worktree_blocked: {
    kind: 'conflict',
    status: 409,
    title: 'The worktree holds what is never taken away with it.',
  },
  worktree_changed: {
    kind: 'conflict',
    status: 409,
    title: 'The worktree is not as it was when it was looked at; nothing was taken away.',
    retryable: true,
  },
  worktree_teardown_failed: {
    kind: 'unavailable',
    status: 500,
    title: 'The worktree is only partly taken away; everything is in its archive, and recovery goes on.',
    legacy: 'teardown-failed',
  },
  deferred_workspace_unavailable: {
    kind: 'conflict',
    status: 409,
    title: 'No row of a worktree that is gone waits under this token.',
    legacy: 'deferred workspace deletion is unavailable',
  },
  worktree_not_restorable: {
    kind: 'unsupported',
    status: 422,
    title: 'The archive cannot be brought back here.',
  },
} as const;
