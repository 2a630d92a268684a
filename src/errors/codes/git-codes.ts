/** What a repository is asked for, and what it does not have or may not say. */
export const gitCodes = {
  invalid_base_revision: {
    kind: 'unsupported',
    status: 422,
    title: 'The base is no full object name or branch of this repository.',
    legacy: 'invalid base revision',
  },
  invalid_diff_mode: {
    kind: 'invalid',
    status: 422,
    title: 'The mode is none of the documented ones.',
    legacy: 'invalid diff mode',
  },
  invalid_diff_path: {
    kind: 'invalid',
    status: 422,
    title: 'The path is not a plain relative path below the repository root.',
    legacy: 'invalid diff path',
  },
  invalid_commit_oid: {
    kind: 'invalid',
    status: 422,
    title: 'The commit is not given by its full object name.',
    legacy: 'invalid commit oid',
  },
  invalid_stored_base_revision: {
    kind: 'unsupported',
    status: 422,
    title: 'The base that the worktree remembers is no full object name.',
    legacy: 'invalid stored base revision',
  },
  commit_not_found: {
    kind: 'missing',
    status: 404,
    title: 'The repository has no commit of this name.',
    legacy: 'commit oid not found',
  },
  untrusted_repository_config: {
    kind: 'conflict',
    status: 409,
    title: 'The configuration of the repository names programs or places that are not allowed.',
  },
  task_base_missing: {
    kind: 'conflict',
    status: 409,
    title: 'Nothing tells which commit the work of this worktree began at.',
    legacy: 'task-base-missing',
  },
  git_failed: { kind: 'unavailable', status: 502, title: 'Git did not complete.' },
} as const;
