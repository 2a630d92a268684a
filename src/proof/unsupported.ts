import { AuthorityError, type ErrorDetails } from '../errors/index.ts';

/** Why a directory with something of Git in it is not served. Closed: clients and the documentation name these. */
export type UnsupportedReason =
  /** The root is, or lies in, a Git directory or the administrative directory of a worktree. */
  | 'git-directory'
  | 'bare-repository'
  | 'submodule'
  /** The separate Git dir is part of another repository's administration. */
  | 'separate-git-dir'
  /** The main checkout that `.git` names does not list this directory, or lists it under another path: `git worktree repair`. */
  | 'worktree-not-listed'
  /** A worktree of a repository whose main checkout Git itself does not know: bare, a submodule, or with a separate Git dir. */
  | 'main-checkout-unknown'
  /** The main checkout of the worktree is not supported itself (details.main). */
  | 'main-checkout-unsupported'
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
  /** Our own round trip found this checkout; a prover did not. */
  | 'prover-disagrees';

export function unsupported(reason: UnsupportedReason, details: ErrorDetails = {}): AuthorityError {
  return new AuthorityError('repository_unsupported', { details: { reason, ...details } });
}
