import type { CommitOid } from '../git/values.ts';
import type {
  Discarded,
  DiscardOutcome,
  DiscardRequest,
  RestoreDiscardedOutcome,
  RestoreDiscardedRequest,
} from './discard-contract.ts';

export type * from './discard-contract.ts';

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

/** What a merge did. */
export interface MergeOutcome {
  /** `none`: all of it was there already. `forward`: the branch only moved. `merge`: a commit of two parents was made. */
  readonly kind: 'none' | 'forward' | 'merge';
  /** Where the branch is now. */
  readonly oid: CommitOid;
  /** Where it was. */
  readonly previous: CommitOid;
  /** What was merged. */
  readonly mergedOid: CommitOid;
}

export interface UpdateOutcome extends MergeOutcome {
  readonly kind: 'forward' | 'merge';
}

export interface MergeToBaseOutcome extends MergeOutcome {
  /** Canonical root of the checkout that has the base. */
  readonly mergedInto: string;
}

export interface ActionWarning {
  readonly stage: 'end-merge' | 'post-commit';
  readonly code: string;
}

/**
 * The actions of the wire contract (1.6). Each authorises its selector, proves it again after every wait and before every step that
 * cannot be taken back, and either does what it says, changes nothing, or says in `details` what it left: `partial`, `stage`, `staged`.
 * Errors that existing clients know carry `details.reasonKey`. An abort ends an action only before its first change.
 */
export interface RepositoryActions {
  /**
   * Makes one commit on the branch that is checked out, or on a detached HEAD; concludes a merge when one waits for it. Hooks
   * run only where the operator trusts them.
   * @throws `commit_message_required` | `invalid_request` (a message that Git cannot carry) | `identity_missing` (details.missing) |
   *   `action_refused` (details.reasonKey: nothing to commit, or details.operation stands in the middle) | `unmerged_index`
   *   (details.paths) | `hook_refused` (details.hook) | `repository_locked` (details.what) | `ref_moved` | `untrusted_repository_config` | `no_space` | `git_failed` | as
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
  /**
   * Fetches from `origin`, then merges the upstream of the branch that is checked out, the configured one or else that of the same name, into
   * it: a fast-forward where that is possible, else a merge, whatever is configured; never a rebase. Ignored files in the way are kept, too.
   * @throws `merge_conflict` (details.conflictFiles, details.recovery: the merge stands in the files, to be resolved and committed) |
   *   `action_refused` (details.reasonKey; details.reason `files-in-the-way`, `merge-in-progress`, `unrelated-histories`, ...) |
   *   `unmerged_index` | `remote_missing` | `identity_missing` | `ref_moved` | `repository_locked` | `untrusted_repository_config` |
   *   `no_space` | `git_failed` | as `Authority.authorizeRepository`, `FileCapability.assertCurrent` and `MutationGate.run`
   */
  pull(selector: string, signal?: AbortSignal): Promise<MergeOutcome>;
  /**
   * Merges the base, as it is known here, into the branch that is checked out: what a managed worktree was made from, else the default
   * branch; of both the copy that was fetched from `origin` comes first. @throws as `pull`, but nothing of a remote
   */
  updateFromBase(selector: string, signal?: AbortSignal): Promise<UpdateOutcome>;
  /**
   * Merges the branch that is checked out into the local branch of its base (R22), in the one checkout that has it. The main checkout is
   * authorised by the worktree; any other one must be by itself.
   * @throws `merge_target_unauthorized` | `action_refused` (`actions.mergeToBase.noOwner` with details.reason where no checkout, or more than
   *   one, has the base) | as `pull`, but nothing of a remote
   */
  mergeToBase(selector: string, signal?: AbortSignal): Promise<MergeToBaseOutcome>;
  /**
   * Takes tracked paths back to the commit, in index and files, and removes untracked files; ignored ones only when that is asked for. First it
   * says what it would destroy, with a token; it is done only for exactly that state, and what it destroys is kept as an archive first.
   * Submodules and repositories among the files are left alone.
   * @throws `confirmation_required` and `state_changed` (details: a `DiscardPreview`): nothing was changed | `discard_paths_empty` |
   *   `action_refused` (details.reasonKey `actions.commit.clean`, `actions.discard.unsafePath`, `actions.merge.inProgress`, or
   *   `actions.discard.blocked` with details.paths: ignored files stand where the commit has files) | `unmerged_index` | `not_archivable` |
   *   `archive_quota_exceeded` | `repository_locked` | `untrusted_repository_config` | `no_space` | `git_failed` | `identity_changed`; with
   *   details.partial, details.stage `reset`, `clean` or `checkout` and details.archive when part of it was done
   */
  discard(selector: string, request?: DiscardRequest, signal?: AbortSignal): Promise<DiscardOutcome>;
  /** What discards of this repository have kept, oldest first. @throws as `Authority.authorizeRepository` | `state_unavailable` */
  discarded(selector: string, signal?: AbortSignal): Promise<readonly Discarded[]>;
  /**
   * Puts back what a discard destroyed, into this checkout. A file is replaced only where it is exactly what the commit and the index have; deletions are not done again.
   * The archive stays.
   * @throws `archive_not_found` | `discard_paths_empty` | `action_refused` | `repository_locked` | `state_unavailable` | `no_space` | ...
   */
  restoreDiscarded(
    selector: string,
    request: RestoreDiscardedRequest,
    signal?: AbortSignal,
  ): Promise<RestoreDiscardedOutcome>;
}
