import { codeOf, syscallOf } from '../capability/refusal.ts';
import { AuthorityError, type ErrorCode, isAuthorityError } from '../errors/index.ts';

/** Failures of the system that say nothing about what was looked for, and pass by themselves. */
const codes: Readonly<Record<string, ErrorCode>> = {
  EMFILE: 'too_many_open_files',
  ENFILE: 'too_many_open_files',
  EAGAIN: 'busy',
  // A mount is told where the entry is looked at; elsewhere the directory was moved out of the root during the walk (openat2(2)).
  EXDEV: 'busy',
  ENOSYS: 'kernel_capability_missing',
  EPERM: 'kernel_capability_missing',
  WA_HANDLE_CLOSED: 'shutting_down',
};

/** What an errno of the addon means where a fact had to be read and could not be. Never "absent", never "unchanged" (R04). */
export function translateStorageFailure(error: unknown): AuthorityError {
  if (isAuthorityError(error)) return error;
  const errno = codeOf(error);
  if (errno === null) return new AuthorityError('internal_error', { cause: error });
  const details = { errno, syscall: syscallOf(error) };
  return new AuthorityError(codes[errno] ?? 'storage_failed', { details, cause: error });
}

/** Whether nothing has the name, also since what should hold it is a file or a link by now. */
export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '');
}

/** Something that was there a moment ago is not, or is a link now: that is a change of identity, not a failure of the storage. */
export function changeOrFailure(error: unknown, what: 'root' | 'git dir' | 'main checkout'): AuthorityError {
  return isAbsence(error)
    ? new AuthorityError('identity_changed', { details: { what }, cause: error })
    : translateStorageFailure(error);
}
