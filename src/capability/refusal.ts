import { AuthorityError, type ErrorCode, isAuthorityError } from '../errors/index.ts';

/** What each failure of the native layer means to a caller, where no operation knows better. Anything else with an errno is `storage_failed`. */
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
  ENAMETOOLONG: 'invalid_path',
  EILSEQ: 'invalid_path',
};

/** `code` of anything thrown: an errno name, a refusal of the addon, or null. */
export function codeOf(error: unknown): string | null {
  return textOf(error, 'code');
}

/** Name of the system call that failed, or null. */
export function syscallOf(error: unknown): string | null {
  return textOf(error, 'syscall');
}

/** Any failure as an `AuthorityError`; one that is none of the system's is `internal_error`. */
export function refusalOf(error: unknown): AuthorityError {
  if (isAuthorityError(error)) return error;
  const errno = codeOf(error);
  const syscall = syscallOf(error);
  if (errno === null) return new AuthorityError('internal_error', { cause: error });
  const what = errno === 'WA_PARENT_MOVED' ? { what: 'file' } : {};
  const details = { errno, syscall, ...what, ...aftermathOf(error as Aftermath) };
  return new AuthorityError(codeFor(errno, syscall), { details, cause: error });
}

function codeFor(errno: string, syscall: string | null): ErrorCode {
  if (errno === 'ENOSYS' && syscall === 'openat2') return 'kernel_capability_missing';
  // Refused by the addon before any system call.
  if (errno === 'EINVAL' && syscall === null) return 'invalid_path';
  return codes[errno] ?? 'storage_failed';
}

/** The error of a call that reported its failure as data. */
export function systemFailure(code: string | null, syscall: string | null): Error {
  return Object.assign(new Error(code ?? 'unknown failure'), { code, syscall });
}

/** What a failed write transaction says beside its errno. */
interface Aftermath {
  /** The new state stands all the same: it could not be made durable, or not be taken back. */
  readonly inPlace?: boolean;
  /** Names of files that it left beside the target. */
  readonly kept?: readonly string[];
}

function aftermathOf({ inPlace, kept }: Aftermath): Aftermath {
  return { ...(inPlace === undefined ? {} : { inPlace }), ...(kept === undefined ? {} : { kept }) };
}

function textOf(error: unknown, field: 'code' | 'syscall'): string | null {
  const value = (error as Readonly<Record<string, unknown>> | null | undefined)?.[field];
  return typeof value === 'string' ? value : null;
}
