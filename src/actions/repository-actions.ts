import type { CommitOid } from '../git/values.ts';

export interface CommitRequest {
  readonly message?: string | undefined;
  /** Whether everything that differs in the work tree is taken into the index first; default true. Ignored files and repositories inside are not. */
  readonly addAll?: boolean | undefined;
}

export interface CommitOutcome {
  readonly oid: CommitOid;
  /** What could not be tidied up after the commit, which stands. */
  readonly warnings: readonly ActionWarning[];
}

export interface ActionWarning {
  readonly stage: 'end-merge';
  readonly code: string;
}

/**
 * The actions of the wire contract (1.6). Each authorises its selector, proves it again after every wait and before every step that
 * cannot be taken back, and either does what it says, changes nothing, or says in `details` what it left: `partial`, `stage`, `staged`.
 * Errors that existing clients know carry `details.reasonKey`. An abort ends an action only before its first change.
 */
export interface RepositoryActions {
  /**
   * Makes one commit on the branch that is checked out, or on a detached HEAD; concludes a merge when one waits for it. No hook runs.
   * @throws `commit_message_required` | `invalid_request` (a message that Git cannot carry) | `identity_missing` (details.missing) |
   *   `action_refused` (details.reasonKey: nothing to commit, or details.operation stands in the middle) | `unmerged_index`
   *   (details.paths) | `repository_locked` (details.what) | `ref_moved` | `untrusted_repository_config` | `no_space` | `git_failed` | as
   *   `Authority.authorizeRepository`, `FileCapability.assertCurrent` and `MutationGate.run`
   */
  commit(selector: string, request: CommitRequest, signal?: AbortSignal): Promise<CommitOutcome>;
  /**
   * Brings the refs that remember the branches of `origin` up to date. Holds up no change.
   * @throws `remote_missing` | `untrusted_repository_config` | `git_failed` (details.reason) | as `Authority.authorizeRepository`
   */
  fetch(selector: string, signal?: AbortSignal): Promise<void>;
  /**
   * Sends the branch that is checked out to the branch of the same name at `origin`; never another, never by force.
   * @throws `action_refused` (details.reasonKey) | `remote_missing` | `untrusted_repository_config` | `git_failed` (details.reason
   *   `rejected` with details.rejection) | as `Authority.authorizeRepository`
   */
  push(selector: string, signal?: AbortSignal): Promise<void>;
}
