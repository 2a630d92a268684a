import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { type BaseRevision, invalidBase, parseBaseRevision } from './base-revision.ts';
import { type CommitOid, type LiteralPath, parseCommitOid, parseLiteralPath } from './values.ts';

/** What a caller asks to see, in its own words. */
export interface DiffQuery {
  /**
   * What is compared; default `uncommitted`.
   *
   * - `uncommitted`, `session`: the files, untracked ones too, with HEAD
   * - `task`: the same with what a managed worktree was created from
   * - `base`: HEAD with where it left the base
   */
  readonly mode?: string | undefined;
  /** For `base`; default: what a managed worktree was created from, else the default branch. Checked in every mode. */
  readonly base?: string | undefined;
  /** Full name of a commit that is compared with its first parent; the mode means nothing then. */
  readonly commit?: string | undefined;
  /** Only files at or below this path. */
  readonly path?: string | undefined;
  /** Lines that differ in white space only count as equal. */
  readonly ignoreWhitespace?: boolean | undefined;
}

export type DiffMode = 'uncommitted' | 'session' | 'base' | 'task';

/** The same in typed values. */
export interface DiffRequest {
  readonly mode: DiffMode;
  readonly base: BaseRevision | null;
  readonly commit: CommitOid | null;
  readonly options: { readonly path?: LiteralPath; readonly ignoreWhitespace: boolean };
}

const modes: readonly string[] = ['uncommitted', 'session', 'base', 'task'] satisfies readonly DiffMode[];

/** @throws `invalid_diff_mode` | `invalid_base_revision` | `invalid_commit_oid` | `invalid_diff_path` (details.reason) */
export function parseDiffQuery(query: DiffQuery): DiffRequest {
  const { mode = 'uncommitted', base, commit, path, ignoreWhitespace = false } = query;
  if (!modes.includes(mode)) throw new AuthorityError('invalid_diff_mode');
  const parsedBase = base === undefined ? null : parseBaseRevision(base);
  if (base !== undefined && parsedBase === null) throw invalidBase('malformed');
  const parsedCommit = commit === undefined ? null : parseCommitOid(commit);
  if (commit !== undefined && parsedCommit === null) throw new AuthorityError('invalid_commit_oid');
  return {
    mode: mode as DiffMode,
    base: parsedBase,
    commit: parsedCommit,
    options: { ignoreWhitespace, ...(path === undefined ? {} : { path: parseDiffPath(path) }) },
  };
}

function parseDiffPath(text: string): LiteralPath {
  try {
    return parseLiteralPath(text);
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    const reason = error.details['reason'] ?? 'outside';
    throw new AuthorityError('invalid_diff_path', { details: { reason }, cause: error });
  }
}
