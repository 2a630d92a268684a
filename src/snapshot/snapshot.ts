import type { DiffStat } from '../git/numstat-records.ts';
import type { ForgeIdentity } from '../git/remote-address.ts';

/** What a list of workspaces shows of one of them (wire contract, 1.4). `at`: milliseconds since 1970, from when on the facts held. */
export type Snapshot = PlainSnapshot | RepositorySnapshot;

export interface PlainSnapshot {
  /** The selector as it was asked for. */
  readonly cwd: string;
  readonly isGit: false;
  readonly at: number;
}

export interface Difference {
  readonly ahead: number;
  readonly behind: number;
}

/** What could not be found out is null and named in `degraded`, never zero, clean or empty (R04). */
export interface RepositoryFacts {
  readonly isGit: true;
  readonly repoRoot: string;
  readonly mainRepoRoot: string;
  readonly isLinkedWorktree: boolean;
  readonly managed: boolean;
  /** The branch that a managed worktree was created from, else the default branch. */
  readonly baseRefName: string | null;
  /** The commit compared with: where that branch is now, else the one that the worktree was created from. */
  readonly baseRef: string | null;
  readonly defaultBranch: string | null;
  readonly branch: string | null;
  readonly detached: boolean;
  readonly detachedShort: string | null;
  readonly sha: string | null;
  readonly unborn: boolean;
  readonly dirty: boolean | null;
  /** Untracked files included. */
  readonly changedFileCount: number | null;
  readonly untrackedCount: number | null;
  /** HEAD against `baseRef`. */
  readonly aheadBehind: Difference | null;
  /** Null also while the configured upstream does not exist. */
  readonly upstream: (Difference & { readonly ref: string }) | null;
  /** HEAD against the branch of its name at origin. */
  readonly originDelta: Difference | null;
  /** Tracked files as they are now, against where HEAD left the base. */
  readonly diffStat: DiffStat | null;
  /** Address of origin without user and password. */
  readonly remote: string | null;
  readonly github: ForgeIdentity | null;
  /** No forge is asked: these are always the same. */
  readonly forgeAuth: 'no_remote';
  readonly prHeadRef: null;
  readonly prNumber: null;
  readonly prLookupSha: string | null;
  readonly prRequireShaMatch: false;
  readonly prPollingDisabled: true;
  readonly pr: null;
  /** Whether a null among the facts means that there is none. */
  readonly gitKnown: {
    readonly head: boolean;
    readonly status: boolean;
    readonly aheadBehind: boolean;
    readonly originDelta: boolean;
    readonly diffStat: boolean;
  };
  readonly degraded: readonly DegradedStage[];
}

/** What is read along with a snapshot and not shown in it; null: not known. */
export interface UnshownFacts {
  /** Tracked files with conflicts. */
  readonly unmerged: number | null;
  /** Of the untracked entries, those that are repositories of their own. */
  readonly untrackedRepositories: number | null;
  /** Whether the repository has a remote of this name. */
  readonly hasOrigin: boolean | null;
}

export interface RepositorySnapshot extends RepositoryFacts {
  readonly cwd: string;
  readonly at: number;
}

export type StageName =
  | 'head'
  | 'status'
  | 'ahead-behind'
  | 'origin-delta'
  | 'diff-stat'
  | 'remote'
  | 'upstream'
  | 'fetch';

export interface DegradedStage {
  readonly stage: StageName;
  readonly message: string;
}
