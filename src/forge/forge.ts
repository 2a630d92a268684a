import type { ForgeIdentity } from '../git/remote-address.ts';
import type { BranchName, CommitOid } from '../git/values.ts';

/** Whether the forge of a host can be asked, as existing clients name it. */
export type ForgeAuthentication = 'authenticated' | 'unauthenticated' | 'no_remote';

/** A repository as the forge knows it now; `name` follows renames, `id` never changes. */
export interface ForgeRepository {
  /** The forge's own id; what two answers must agree on to be about the same repository. */
  readonly id: string;
  readonly name: ForgeIdentity;
  /** Null for an empty repository. */
  readonly defaultBranch: BranchName | null;
  /** The repository that this one was forked from, null when it is no fork. */
  readonly parent: ForgeIdentity | null;
}

export type ChangeRequestState = 'open' | 'closed' | 'merged';

/** An entry of the list of pull requests and issues (wire contract, 1.1). */
export interface ForgeItem {
  readonly kind: 'change_request' | 'issue';
  readonly number: number;
  readonly title: string;
  readonly url: string;
  readonly state: ChangeRequestState;
  readonly body: string | null;
  readonly labels: readonly string[];
  /** RFC 3339; null where the forge does not say. */
  readonly updatedAt: string | null;
}

/** A pull request in a list. Names of the forge that are no branch names here are null, never passed on. */
export interface PullItem extends ForgeItem {
  readonly kind: 'change_request';
  readonly isDraft: boolean;
  readonly baseRefName: BranchName | null;
  readonly headRefName: BranchName | null;
  /** Null when the fork is deleted. */
  readonly headOwnerLogin: string | null;
  /** Null when the fork is deleted. */
  readonly fork: boolean | null;
  readonly headRefOid: CommitOid;
}

/** All that moves a ref; read at the moment of the call, never from a cache. */
export interface PullDetail extends PullItem {
  readonly baseRefName: BranchName;
  readonly headRefName: BranchName;
  /** Null when the fork is deleted. */
  readonly headRepositoryId: string | null;
  readonly nodeId: string;
}

export interface ChecksSummary {
  readonly status: 'none' | 'pending' | 'success' | 'failure';
  readonly completed: number;
  readonly total: number;
}

/** What snapshots show of the pull request of a branch (wire contract, 1.4), but for `headShaMatches`. */
export interface BranchPull {
  readonly number: number;
  readonly url: string;
  readonly title: string;
  readonly state: ChangeRequestState;
  readonly isDraft: boolean;
  readonly baseRefName: BranchName | null;
  readonly headRefName: BranchName | null;
  readonly headRefOid: CommitOid;
  readonly headOwnerLogin: string | null;
  readonly mergeable: 'MERGEABLE' | 'CONFLICTING' | 'UNKNOWN';
  readonly reviewDecision: string | null;
  readonly checks: ChecksSummary;
}

/** A pull request that was merged, by whatever method, with the head it had then. */
export interface MergedPull {
  readonly number: number;
  readonly headRefName: BranchName;
  readonly headRefOid: CommitOid;
}

export type MergeMethod = 'squash' | 'merge' | 'rebase';

export interface CreatePullRequest {
  readonly title: string;
  readonly body: string;
  readonly base: BranchName;
  readonly head: BranchName;
  readonly isDraft: boolean;
}

/**
 * What is asked of a forge. Everything it says has been checked: names are branch names, object names are whole, numbers are numbers.
 * Nothing that cannot be believed is an answer. Every call may throw `forge_not_configured` (no forge serves this host), `forge_unauthenticated`
 * (the token is missing or refused), `forge_not_found`, `forge_rate_limited` (details.retryAfter in seconds), `forge_unavailable` (5xx, network,
 * deadline, certificate; retryable), `forge_response_invalid` (what came is not what the forge documents, or names that are no names), or `aborted`.
 */
export interface Forge {
  /** Whether a host is served with a token; asks nothing of the network where it is not. */
  authentication(host: string, signal?: AbortSignal): Promise<ForgeAuthentication>;
  repository(name: ForgeIdentity, signal?: AbortSignal): Promise<ForgeRepository>;
  /** Open ones, newest first by `updatedAt`; `limit` 1..50. May be answered from a cache of at most 30 s that `invalidate` empties. */
  pulls(name: ForgeIdentity, limit: number, signal?: AbortSignal): Promise<readonly PullItem[]>;
  /** As `pulls`; a repository whose issues are off has none. */
  issues(name: ForgeIdentity, limit: number, signal?: AbortSignal): Promise<readonly ForgeItem[]>;
  /** @throws `forge_not_found` also for an issue */
  pull(name: ForgeIdentity, number: number, signal?: AbortSignal): Promise<PullDetail>;
  /** @throws `forge_not_found` also for a pull request */
  issue(name: ForgeIdentity, number: number, signal?: AbortSignal): Promise<ForgeItem>;
  /** Open pull requests of a branch of this very repository, newest first. */
  openPullsOf(name: ForgeIdentity, head: BranchName, signal?: AbortSignal): Promise<readonly PullDetail[]>;
  /** The newest pull request, of any state, of each of up to 100 branches of this repository, by one question; absent: there is none. */
  branchPulls(
    name: ForgeIdentity,
    heads: readonly BranchName[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<BranchName, BranchPull>>;
  /** Which of the branches of this repository were merged, and with which head. */
  mergedPulls(
    name: ForgeIdentity,
    heads: readonly BranchName[],
    signal?: AbortSignal,
  ): Promise<readonly MergedPull[]>;
  /** @throws `forge_refused` (details.message: what the forge says, at most 300 characters) | `pull_request_exists` (details.number, details.url) */
  createPull(name: ForgeIdentity, request: CreatePullRequest, signal?: AbortSignal): Promise<PullDetail>;
  /** Merges exactly `expectedHead`. @throws `pull_request_head_moved` | `forge_refused` */
  mergePull(
    name: ForgeIdentity,
    number: number,
    request: { readonly method: MergeMethod; readonly expectedHead: CommitOid },
    signal?: AbortSignal,
  ): Promise<{ readonly mergedOid: CommitOid | null }>;
  /** Merges exactly `expectedHead` once the rules of the repository allow it. @throws `pull_request_head_moved` | `forge_refused` */
  enableAutoMerge(
    pull: PullDetail,
    name: ForgeIdentity,
    request: { readonly method: MergeMethod; readonly expectedHead: CommitOid },
    signal?: AbortSignal,
  ): Promise<void>;
  /** @throws `forge_refused` */
  disableAutoMerge(pull: PullDetail, name: ForgeIdentity, signal?: AbortSignal): Promise<void>;
  /** Forgets what lists and snapshots keep of a repository; done after pushes and changes of pull requests. */
  invalidate(name: ForgeIdentity): void;
}
