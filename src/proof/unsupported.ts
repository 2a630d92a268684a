import { AuthorityError, type ErrorDetails } from '../errors/index.ts';

/** Why a directory with something of Git in it is not served. Closed: clients and the documentation name these. */
export type UnsupportedReason =
  /** The root is, or lies in, a Git directory or the administrative directory of a worktree. */
  | 'git-directory'
  | 'bare-repository'
  /** `.git` is a file that leads into the administration of another checkout. */
  | 'linked-worktree'
  | 'submodule'
  | 'separate-git-dir'
  | 'git-file-malformed'
  /** `.git` is neither a directory nor a regular file: a link, a FIFO, a device, a mount point. */
  | 'git-entry-irregular'
  | 'git-directory-incomplete'
  /** A file that Git would read is no regular file, or larger than any real one. */
  | 'admin-file-irregular'
  | 'admin-file-too-large'
  | 'foreign-owner'
  | 'head-malformed'
  | 'config-missing'
  | 'config-malformed'
  | 'config-include'
  | 'core-worktree'
  | 'core-bare'
  | 'format-version'
  | 'extension'
  | 'relative-worktree-links'
  | 'reftable'
  /** The path holds bytes that a prover cannot tell apart or print safely. */
  | 'path-not-supported'
  /** Only the git prover reads this format, and it is not configured. */
  | 'format-needs-git'
  /** Our own round trip found a main checkout; a prover did not. */
  | 'prover-disagrees';

export function unsupported(reason: UnsupportedReason, details: ErrorDetails = {}): AuthorityError {
  return new AuthorityError('repository_unsupported', { details: { reason, ...details } });
}
