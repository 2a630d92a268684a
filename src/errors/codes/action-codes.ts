/** Actions of Git, and the state of a repository that they do not fit. */
export const actionCodes = {
  action_unknown: {
    kind: 'invalid',
    status: 400,
    title: 'There is no action of this name.',
  },
  commit_message_required: { kind: 'invalid', status: 422, title: 'A commit needs a message.' },
  identity_missing: {
    kind: 'unsupported',
    status: 422,
    title: 'The Git configuration of the server user names no author for commits.',
  },
  action_refused: {
    kind: 'conflict',
    status: 409,
    title: 'The action does not fit the state of the repository.',
  },
  unmerged_index: {
    kind: 'conflict',
    status: 409,
    title: 'A merge left conflicts that are not resolved.',
  },
  merge_conflict: {
    kind: 'conflict',
    status: 409,
    title: 'The merge has conflicts for a person to resolve.',
  },
  merge_target_unauthorized: {
    kind: 'denied',
    status: 403,
    title: 'A worktree that has the base is not authorised.',
  },
  hook_refused: {
    kind: 'conflict',
    status: 409,
    title: 'A trusted hook of the repository refused, or could not be run.',
  },
  repository_locked: {
    kind: 'conflict',
    status: 409,
    title: 'Another Git holds a lock of the repository, or died over it.',
    retryable: true,
  },
  confirmation_required: {
    kind: 'conflict',
    status: 409,
    title: 'Something would be destroyed; the same request with the token of this answer goes ahead.',
  },
  state_changed: {
    kind: 'conflict',
    status: 412,
    title: 'The state is no longer the one that the token stands for, so nothing was destroyed.',
  },
  discard_paths_empty: {
    kind: 'invalid',
    status: 422,
    title: 'A list of paths to discard names at least one.',
  },
  ref_moved: {
    kind: 'conflict',
    status: 409,
    title: 'Somebody else moved the branch meanwhile.',
    retryable: true,
  },
  remote_missing: { kind: 'unsupported', status: 502, title: 'The repository has no remote named origin.' },
} as const;
