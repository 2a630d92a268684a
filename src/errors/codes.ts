/**
 * The closed table of everything this package refuses or fails with. A code is never renamed and never gets a synonym;
 * later rooms add rows. `title` is the constant sentence shown to people (RFC 9457 `title` and our `message`); facts go to
 * `details`. `legacy` is the literal that existing clients compare in the `error` field; without one it equals the code.
 * `retryable` means: the same request may succeed later without anybody changing it.
 */
export interface CodeRow {
  readonly kind: ErrorKind;
  readonly status: number;
  readonly title: string;
  readonly retryable?: true;
  readonly legacy?: string;
}

export type ErrorKind =
  | 'invalid'
  | 'denied'
  | 'missing'
  | 'conflict'
  | 'unsupported'
  | 'unavailable'
  | 'internal';

export const errorCodes = {
  // Shape of a request.
  invalid_request: { kind: 'invalid', status: 400, title: 'The request does not have the documented shape.' },
  invalid_path: { kind: 'invalid', status: 400, title: 'The path is not a plain relative path.' },
  malformed_json: {
    kind: 'invalid',
    status: 400,
    title: 'The body is not valid JSON.',
    legacy: 'malformed JSON',
  },
  json_object_required: {
    kind: 'invalid',
    status: 400,
    title: 'The body must be a JSON object.',
    legacy: 'JSON object required',
  },
  json_required: {
    kind: 'invalid',
    status: 415,
    title: 'This method accepts only application/json.',
    legacy: 'application/json required',
  },
  body_too_large: {
    kind: 'invalid',
    status: 413,
    title: 'The request body is too large.',
    legacy: 'body too large',
  },
  too_many_workspaces: {
    kind: 'invalid',
    status: 413,
    title: 'The batch names too many workspaces.',
    legacy: 'too many workspaces',
  },
  headers_too_large: { kind: 'invalid', status: 431, title: 'The request line or headers are too large.' },
  request_timeout: {
    kind: 'invalid',
    status: 408,
    title: 'The request did not arrive in time.',
    retryable: true,
  },
  precondition_required: {
    kind: 'invalid',
    status: 428,
    title: 'The change must name the version it was based on.',
  },
  range_not_satisfiable: {
    kind: 'invalid',
    status: 416,
    title: 'The requested range lies outside the file.',
  },
  unencodable_text: {
    kind: 'invalid',
    status: 422,
    title: 'The text contains code units that UTF-8 cannot carry.',
  },

  // Who may ask, and for what.
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
  path_outside_workspace: {
    kind: 'denied',
    status: 403,
    title: 'The path leads outside the workspace.',
    legacy: 'path escapes workspace',
  },
  administrative_path: {
    kind: 'denied',
    status: 403,
    title: 'Git administrative paths are not accessible.',
    legacy: 'git administrative paths are not accessible',
  },
  symlink_not_writable: {
    kind: 'denied',
    status: 403,
    title: 'A symbolic link is never written through.',
    legacy: 'saving through symlinks is not allowed',
  },
  permission_denied: {
    kind: 'denied',
    status: 403,
    title: 'The operating system does not let this server touch the file.',
  },

  // What is not there, or is not what was asked for.
  route_unknown: { kind: 'missing', status: 404, title: 'There is no such route.', legacy: 'unknown route' },
  method_not_allowed: { kind: 'invalid', status: 405, title: 'The route does not offer this method.' },
  not_found: { kind: 'missing', status: 404, title: 'Nothing exists under this path.' },
  workspace_not_found: { kind: 'missing', status: 404, title: 'No workspace is registered under this path.' },
  not_regular_file: { kind: 'unsupported', status: 422, title: 'The path does not name a regular file.' },
  not_directory: { kind: 'unsupported', status: 422, title: 'The path does not name a directory.' },
  file_too_large: {
    kind: 'invalid',
    status: 413,
    title: 'The file is larger than this operation accepts.',
    legacy: 'file too large',
  },
  binary_content: {
    kind: 'unsupported',
    status: 415,
    title: 'The content is not text this route can carry.',
    legacy: 'binary content rejected',
  },
  media_type_not_served: {
    kind: 'unsupported',
    status: 415,
    title: 'Only images are served inline; ask for a download.',
  },
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

  // Somebody else changed something.
  conflict: {
    kind: 'conflict',
    status: 409,
    title: 'The file is not the version the change was based on.',
    legacy: 'conflict',
  },
  precondition_failed: {
    kind: 'conflict',
    status: 412,
    title: 'The file no longer has the entity tag the request named.',
  },
  already_exists: { kind: 'conflict', status: 409, title: 'Something already exists under this path.' },
  directory_not_empty: { kind: 'conflict', status: 409, title: 'The directory is not empty.' },
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
  file_busy: {
    kind: 'conflict',
    status: 409,
    title: 'Another process has the file open for writing.',
    retryable: true,
  },
  metadata_not_preservable: {
    kind: 'conflict',
    status: 409,
    title: 'Owner, attributes or access list of the file cannot be kept.',
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

  // Actions of Git.
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
  repository_locked: {
    kind: 'conflict',
    status: 409,
    title: 'Another Git holds a lock of the repository, or died over it.',
    retryable: true,
  },
  ref_moved: {
    kind: 'conflict',
    status: 409,
    title: 'Somebody else moved the branch meanwhile.',
    retryable: true,
  },
  remote_missing: { kind: 'unsupported', status: 502, title: 'The repository has no remote named origin.' },

  // Waiting.
  busy: {
    kind: 'unavailable',
    status: 503,
    title: 'The path kept changing while it was opened.',
    retryable: true,
  },
  queue_full: {
    kind: 'unavailable',
    status: 503,
    title: 'Too many changes are waiting for this place.',
    retryable: true,
  },
  deadline_exceeded: {
    kind: 'unavailable',
    status: 504,
    title: 'The operation did not get its turn in time.',
    retryable: true,
  },
  aborted: { kind: 'unavailable', status: 499, title: 'The caller went away.' },
  shutting_down: {
    kind: 'unavailable',
    status: 503,
    title: 'The server is stopping.',
    retryable: true,
    legacy: 'API is stopping',
  },

  // What the host, kernel or a dependency cannot do.
  platform_unsupported: {
    kind: 'unsupported',
    status: 503,
    title: 'This platform has no confined file access; only Linux is supported.',
  },
  native_addon_missing: {
    kind: 'unavailable',
    status: 503,
    title: 'The native addon is not built for this machine.',
  },
  kernel_capability_missing: {
    kind: 'unavailable',
    status: 503,
    title: 'The kernel does not offer openat2 to this process.',
    legacy: 'stable-target-unavailable',
  },
  atomic_exchange_unavailable: {
    kind: 'unavailable',
    status: 503,
    title: 'atomic file exchange unavailable: this file system cannot swap two names atomically.',
  },
  file_system_read_only: { kind: 'unavailable', status: 503, title: 'The file system is mounted read-only.' },
  no_space: { kind: 'unavailable', status: 507, title: 'The file system or quota is full.', retryable: true },
  storage_failed: {
    kind: 'unavailable',
    status: 503,
    title: 'The storage reported an error.',
    retryable: true,
  },
  too_many_open_files: {
    kind: 'unavailable',
    status: 503,
    title: 'The process has no free file descriptors.',
    retryable: true,
  },
  registry_unavailable: {
    kind: 'unavailable',
    status: 503,
    title: 'The workspace registry cannot be read.',
    retryable: true,
  },
  state_unavailable: { kind: 'unavailable', status: 503, title: 'A state file cannot be read or written.' },
  prover_unavailable: {
    kind: 'unavailable',
    status: 503,
    title: 'The repository could not be proven in time.',
    retryable: true,
  },
  repository_unsupported: {
    kind: 'unsupported',
    status: 422,
    title: 'This kind of repository is not supported.',
  },
  git_failed: { kind: 'unavailable', status: 502, title: 'Git did not complete.' },
  not_offered: { kind: 'unsupported', status: 501, title: 'This server does not offer the operation.' },

  internal_error: { kind: 'internal', status: 500, title: 'The server failed; the log has the request id.' },
} as const;

/** Does not compile when a row has another shape. */
errorCodes satisfies Readonly<Record<string, CodeRow>>;

export type ErrorCode = keyof typeof errorCodes;
