/** What a forge, asked about pull requests, refuses or fails with. */
export const forgeCodes = {
  forge_not_configured: { kind: 'unavailable', status: 503, title: 'No forge is asked for this host.' },
  forge_unauthenticated: {
    kind: 'unavailable',
    status: 503,
    title: 'The forge needs a token, or refused the one it got.',
  },
  forge_remote_missing: {
    kind: 'unsupported',
    status: 422,
    title: 'The address of origin names no repository of a forge.',
  },
  forge_not_found: { kind: 'missing', status: 404, title: 'The forge has nothing of this name or number.' },
  forge_rate_limited: {
    kind: 'unavailable',
    status: 503,
    title: 'The forge wants fewer requests for a while.',
    retryable: true,
  },
  forge_unavailable: {
    kind: 'unavailable',
    status: 502,
    title: 'The forge could not be reached, or failed.',
    retryable: true,
  },
  forge_response_invalid: {
    kind: 'unavailable',
    status: 502,
    title: 'What the forge answered cannot be believed.',
  },
  forge_refused: { kind: 'conflict', status: 502, title: 'The forge refused.' },
  pull_request_exists: {
    kind: 'conflict',
    status: 409,
    title: 'There is an open pull request of this branch already.',
  },
  pull_request_head_moved: {
    kind: 'conflict',
    status: 409,
    title: 'The head of the pull request is no longer the commit that was meant.',
  },
} as const;
