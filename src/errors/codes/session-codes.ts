/** Sessions, and the directories that they occupy. */
export const sessionCodes = {
  session_not_found: { kind: 'missing', status: 404, title: 'No open session has this id.' },
  session_already_exists: { kind: 'conflict', status: 409, title: 'An open session has this id already.' },
  session_owner_unknown: {
    kind: 'unsupported',
    status: 422,
    title: 'No process of this number and start time runs here.',
  },
  session_active: {
    kind: 'conflict',
    status: 409,
    title: 'A session works in the directory, or nobody can say that none does.',
    legacy: 'active-session',
  },
  creation_source_changed: {
    kind: 'conflict',
    status: 409,
    title: 'The session that asks for a worktree is not in the workspace that it names.',
  },
  session_guard_unavailable: {
    kind: 'unavailable',
    status: 503,
    title: 'It cannot be told which sessions there are.',
    retryable: true,
    legacy: 'session guard unavailable',
  },
} as const;
