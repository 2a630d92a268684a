/** Files and directories: where they lie, what they are, and which version a change was based on. */
export const fileCodes = {
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
  not_found: { kind: 'missing', status: 404, title: 'Nothing exists under this path.' },
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
} as const;
