/** Who may ask, and for which workspace or repository. */
export const accessCodes = {
  authentication_required: {
    kind: 'denied',
    status: 401,
    title: 'The request carries no valid credentials.',
  },
  host_not_allowed: {
    kind: 'denied',
    status: 403,
    title: 'The Host header is not one this server answers for.',
  },
  same_origin_required: {
    kind: 'denied',
    status: 403,
    title: 'The request does not come from this origin.',
    legacy: 'same-origin request required',
  },
  operator_required: { kind: 'denied', status: 403, title: 'Only an operator may do this.' },
  rate_limited: {
    kind: 'denied',
    status: 429,
    title: 'Too many failed or parallel requests.',
    retryable: true,
  },
  workspace_not_authorized: {
    kind: 'denied',
    status: 403,
    title: 'The selector is not a registered workspace or a proven worktree.',
    legacy: 'workspace not authorized',
  },
  git_root_not_authorized: {
    kind: 'denied',
    status: 403,
    title: 'The selector lies inside a repository whose root it is not.',
    legacy: 'git repository root not authorized',
  },
  git_repository_required: {
    kind: 'unsupported',
    status: 422,
    title: 'The selector is not a Git repository.',
    legacy: 'git repository required',
  },
  workspace_owner_mismatch: {
    kind: 'denied',
    status: 403,
    title: 'The directory belongs to another user.',
  },
  workspace_not_found: { kind: 'missing', status: 404, title: 'No workspace is registered under this path.' },
  identity_changed: {
    kind: 'conflict',
    status: 409,
    title: 'What was authorised is no longer what stands there.',
    legacy: 'workspace identity changed at operation commit point',
  },
  repository_identity_changed: {
    kind: 'conflict',
    status: 409,
    title: 'The repository is not the one that was registered; an operator must confirm it.',
  },
  repository_unsupported: {
    kind: 'unsupported',
    status: 422,
    title: 'This kind of repository is not supported.',
  },
  workspace_already_registered: {
    kind: 'conflict',
    status: 409,
    title: 'The workspace is already registered.',
  },
  workspace_not_registrable: {
    kind: 'unsupported',
    status: 422,
    title: 'The directory cannot be registered as a workspace.',
  },
} as const;
