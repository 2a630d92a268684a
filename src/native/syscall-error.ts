import { AuthorityError, type ErrorCode } from '../errors/index.ts';

/** What each failure of the native layer means to a caller, where no operation knows better. */
const codes: Readonly<Record<string, ErrorCode>> = {
  WA_NOT_REGULAR: 'not_regular_file',
  WA_CLOSED_DIRECTORY: 'administrative_path',
  WA_WRITER_OPEN: 'file_busy',
  WA_METADATA: 'metadata_not_preservable',
  WA_PARENT_MOVED: 'identity_changed',
  WA_HANDLE_CLOSED: 'internal_error',
  ENOENT: 'not_found',
  // Something on the way is no directory, so nothing can exist under the path.
  ENOTDIR: 'not_found',
  EISDIR: 'not_regular_file',
  // Opening a socket, or a device without a driver.
  ENXIO: 'not_regular_file',
  // Only a mount point: links are never followed by an open.
  EXDEV: 'path_outside_workspace',
  ELOOP: 'symlink_not_writable',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
  EAGAIN: 'busy',
  EBUSY: 'busy',
  EEXIST: 'already_exists',
  ENOTEMPTY: 'directory_not_empty',
  EMFILE: 'too_many_open_files',
  ENFILE: 'too_many_open_files',
  ENOSPC: 'no_space',
  EDQUOT: 'no_space',
  EMLINK: 'no_space',
  EFBIG: 'file_too_large',
  EROFS: 'file_system_read_only',
  EIO: 'storage_failed',
  ENAMETOOLONG: 'invalid_path',
  EILSEQ: 'invalid_path',
};

/** `code` of anything thrown: an errno name, a refusal of the addon, or null. */
export function codeOf(error: unknown): string | null {
  return textOf(error, 'code');
}

/** Name of the system call that failed, or null where none was made. */
export function syscallOf(error: unknown): string | null {
  return textOf(error, 'syscall');
}

/**
 * The code for an errno name or refusal. EPERM of openat2 is `permission_denied`, since one file may be refused for its own
 * reasons; whether the call itself is forbidden only `NativeBinding.probe` can tell.
 */
export function errorCodeFor(errno: string, syscall: string | null): ErrorCode {
  if (errno === 'ENOSYS' && syscall === 'openat2') return 'kernel_capability_missing';
  // Refused by the addon before any system call.
  if (errno === 'EINVAL' && syscall === null) return 'invalid_path';
  return codes[errno] ?? 'storage_failed';
}

/**
 * An error of the binding as an `AuthorityError` with `details.errno`, `details.syscall` and, where the kernel or a sandbox is to
 * blame, `details.hint`; the error itself is its `cause`. Anything that is no error of the system is `internal_error`.
 */
export function authorityErrorOf(error: unknown): AuthorityError {
  const errno = codeOf(error);
  if (errno === null) return new AuthorityError('internal_error', { cause: error });
  const syscall = syscallOf(error);
  const code = errorCodeFor(errno, syscall);
  const hint = code === 'kernel_capability_missing' ? { hint: openat2Hint(errno) } : {};
  return new AuthorityError(code, { details: { errno, syscall, ...hint }, cause: error });
}

/** What most likely keeps openat2 from this process; causes that were seen in the field (docs/kernel-support.md). */
export function openat2Hint(errno: string | null): string {
  if (errno === 'ENOSYS') {
    return (
      'Linux 5.6 is needed. On a newer kernel a sandbox hides the call: gVisor before release-20260831, a container ' +
      'profile older than the call, or systemd RestrictSUIDSGID (also set by DynamicUser).'
    );
  }
  return (
    'A seccomp filter forbids the call: Docker before 20.10 or its libseccomp, an own container profile, or systemd ' +
    'RestrictSUIDSGID before version 248.'
  );
}

function textOf(error: unknown, field: 'code' | 'syscall'): string | null {
  const value = (error as Readonly<Record<string, unknown>> | null | undefined)?.[field];
  return typeof value === 'string' ? value : null;
}
