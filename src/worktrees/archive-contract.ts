import type { Preflight } from './preflight.ts';

export interface ArchiveRequest {
  /** Repeats, within ten minutes, what was refused: the state must be the one that the refusal showed to the same caller. */
  readonly force?: boolean | undefined;
  /** Of a preflight: archives exactly that state, whatever would be lost, or nothing. */
  readonly token?: string | undefined;
  /** Leaves the row of the workspace to the client; see `deferred`. Where the registry takes no changes from us, the row is always left. */
  readonly deferWorkspaceDelete?: boolean | undefined;
  /** Who asks, for `force`. */
  readonly caller?: string | undefined;
}

export interface ArchiveOutcome {
  readonly path: string;
  /** Short name; it stays. Null on a detached HEAD. */
  readonly branch: string | null;
  /** Id of the archive that brings it back. */
  readonly archive: string;
  /** Id of the row that was taken off the registry. */
  readonly workspaceDeleted?: string;
  /** Id of the row that was somebody else's to take away meanwhile. */
  readonly workspaceAlreadyAbsent?: string;
  /** The row is left to the client, which ends it with the token. */
  readonly workspaceDeletionDeferred?: true;
  readonly workspaceDeletionToken?: string;
  readonly workspaceId?: string;
  readonly workspaceSessionIds?: readonly string[];
  readonly warnings?: readonly { readonly stage: 'workspace-delete'; readonly message: string }[];
}

/** A worktree that was archived. */
export interface ArchivedWorktree {
  /** Id of the archive. */
  readonly archive: string;
  /** Where it stood. */
  readonly path: string;
  readonly branch: string | null;
  readonly head: string;
  /** Files that are in no commit. */
  readonly files: number;
  /** As toISOString() writes it. */
  readonly archivedAt: string;
  readonly keptUntil: string;
  /** On disk. */
  readonly bytes: number;
}

export interface RestoreOutcome {
  /** Where it stands now: where it stood, or beside it when that is taken. */
  readonly path: string;
  /** Null where HEAD is detached: it was, or the branch moved on, is gone, or is checked out elsewhere. */
  readonly branch: string | null;
  readonly head: string;
  /** Files that are in no commit and are back. */
  readonly files: number;
  /** What could not be put back, relative; it stays in the archive. */
  readonly missing: readonly string[];
}

/** A row of a worktree that is gone, which was left to the client. */
export interface DeferredWorkspace {
  /** Ends it. */
  readonly token: string;
  readonly workspaceId: string;
  /** Where the worktree stood. */
  readonly path: string;
  readonly sessionIds: readonly string[];
  /** As toISOString() writes it. */
  readonly createdAt: string;
}

export interface FinalizedWorkspace {
  readonly workspaceId: string;
  readonly workspaceDeleted?: string;
  readonly workspaceAlreadyAbsent?: string;
}

export interface WorktreeWorkspace {
  readonly workspaceId: string;
  readonly path: string;
}

/** What recovery found and did with one leftover. */
export interface WorktreeRecovery {
  readonly path: string;
  readonly act: 'archive' | 'restore';
  /**
   * - `put-back`: nothing had been removed, and the worktree stands again
   * - `completed`: removal had begun, and is at its end
   * - `removed`: a restoration had not come to its end; its archive is whole
   * - `left`: nothing was changed, for the reason that is given
   */
  readonly action: 'put-back' | 'completed' | 'removed' | 'left';
  readonly reason: string;
}

/** The end of managed worktrees. Linked worktrees that were not made here are never touched (R33). */
export interface WorktreeArchives {
  /**
   * Says what an archive would destroy, and changes nothing.
   * @throws as `Authority.authorizeRepository` | `worktree_not_managed` | `session_guard_unavailable` | `untrusted_repository_config` | `git_failed` |
   *   `identity_changed`
   */
  preflight(selector: string, signal?: AbortSignal): Promise<Preflight>;
  /**
   * Takes a worktree away after all that is in no commit was kept as an archive. Its branch stays. A signal ends it only before the first change.
   * @throws `worktree_unsafe` (details.preflight) | `worktree_changed` | `worktree_locked` | `repository_locked` | `worktree_blocked` (details.reason
   *   `repositories-inside` | `mounts-inside` | `unborn-head`) | `session_active` | `archive_quota_exceeded` | `not_archivable` | `worktree_teardown_failed` (details.partial,
   *   details.archive: recovery goes on) | as `preflight`, `MutationGate.run` and `FileCapability.assertCurrent`
   */
  archive(selector: string, request: ArchiveRequest, signal?: AbortSignal): Promise<ArchiveOutcome>;
  /** Archived worktrees of a repository, oldest first. @throws as `Authority.authorizeRepository` | `state_unavailable` */
  archived(selector: string, signal?: AbortSignal): Promise<readonly ArchivedWorktree[]>;
  /**
   * Brings a worktree back as it was: HEAD, index, an operation in the middle, and every file that was in no commit. Overwrites nothing; the archive
   * stays.
   * @throws `archive_not_found` | `worktree_not_restorable` (details.reason) | `state_unavailable` | `untrusted_repository_config` | `git_failed` |
   *   `no_space` | as `Authority.authorizeRepository` and `MutationGate.run`
   */
  restore(selector: string, archive: string, signal?: AbortSignal): Promise<RestoreOutcome>;
  /**
   * Rows that were left to the client, of worktrees that are gone, oldest first. The selector is a registered main checkout.
   * @throws as `Authority.authorizeRepository` | `workspace_not_authorized` for any other | `state_unavailable` | `git_failed`
   */
  deferred(selector: string, signal?: AbortSignal): Promise<readonly DeferredWorkspace[]>;
  /**
   * Takes such a row off the registry, by the id that it had before the worktree went and only while it has its path.
   * @throws `deferred_workspace_unavailable`: no such token here, the path or its row in Git is there again, or the row has another path |
   *   `registry_unavailable` | as `deferred` and `MutationGate.run`
   */
  finalize(selector: string, token: string, signal?: AbortSignal): Promise<FinalizedWorkspace>;
  /** Rows of the registry that lie where managed worktrees do; nothing is opened. @throws `registry_unavailable` */
  workspaces(): Promise<readonly WorktreeWorkspace[]>;
  /** Finishes or takes back what killed processes left half done. What a running one works on is not touched. Never throws for one of them. */
  recover(options: { readonly dryRun: boolean }): Promise<readonly WorktreeRecovery[]>;
}
