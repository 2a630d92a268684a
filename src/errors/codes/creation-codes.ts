/** The creation of worktrees. */
export const creationCodes = {
  invalid_branch_name: {
    kind: 'invalid',
    status: 422,
    title: 'The branch is not a plain branch name.',
  },
  branch_not_found: {
    kind: 'unsupported',
    status: 422,
    title: 'The branch exists neither here nor on origin.',
  },
  branch_conflict: {
    kind: 'conflict',
    status: 409,
    title: 'A branch of this name cannot stand beside one that exists.',
  },
  creation_names_used_up: {
    kind: 'conflict',
    status: 409,
    title: 'Every name that the worktree could have is taken.',
  },
  managed_root_unusable: {
    kind: 'unavailable',
    status: 503,
    title: 'The directory for managed worktrees is not what it must be.',
  },
  creation_unproven: {
    kind: 'conflict',
    status: 409,
    title: 'What stands where the worktree was made is not what was asked for; it was left as it is.',
  },
  transaction_retired: {
    kind: 'missing',
    status: 410,
    title: 'This transaction made a worktree that is gone since; it is not made again.',
  },
  transaction_pending: {
    kind: 'conflict',
    status: 409,
    title: 'This transaction has begun and not ended.',
    retryable: true,
  },
  transaction_conflict: {
    kind: 'conflict',
    status: 409,
    title: 'This transaction does not fit what is known of it.',
  },
  source_conflict: {
    kind: 'conflict',
    status: 409,
    title: 'The session already owns another creation that has not ended.',
  },
} as const;
