/** Managed worktrees: taking them away and bringing them back. */
export const worktreeCodes = {
  worktree_not_managed: {
    kind: 'denied',
    status: 403,
    title: 'The worktree was not made here, so it is never taken away.',
    legacy: 'not-managed',
  },
} as const;
