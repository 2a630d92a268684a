import type { RepositoryActions } from './actions/repository-actions.ts';
import type { Authority } from './authority/authority.ts';
import type { Repositories } from './authority/repositories.ts';
import type { Events } from './events/events.ts';
import type { WorkspaceFiles } from './files/workspace-files.ts';
import type { WorkspaceRow } from './registry/workspace-registry.ts';
import type { PullRequests } from './service/pull-requests.ts';
import type { RepositoryReads } from './service/repository-reads.ts';
import type { Occupant } from './sessions/session-survey.ts';
import type { SessionRow } from './sessions/session-table.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import type { Snapshots } from './snapshot/snapshots.ts';
import type { WorktreeArchives } from './worktrees/archive-contract.ts';
import type { WorktreeCreation } from './worktrees/worktrees.ts';

export type { LadderEntry } from './actions/ladder.ts';
export type * from './actions/repository-actions.ts';
export type { Detection, Repositories, WorktreeListing } from './authority/repositories.ts';
export type { WorktreeItem } from './authority/worktree-listing.ts';
export type { Clock } from './events/clock.ts';
export type { EventLimits, Events, SubscribeRequest } from './events/events.ts';
export type * from './events/feed-event.ts';
export type { Subscription } from './events/subscription.ts';
export type * from './forge/forge.ts';
export type { AllowedDriver } from './git/allowed-drivers.ts';
export type { NetworkAccess, NetworkProtocol } from './git/network-access.ts';
export type { ManagedRoot } from './proof/managed-namespace.ts';
export { createService } from './service/create-service.ts';
export type {
  ForgeState,
  PlacedItem,
  PullListing,
  PullQuery,
  PullRequests,
} from './service/pull-requests.ts';
export type { ActionLadder, RepositoryReads } from './service/repository-reads.ts';
export type { ServiceLimits, ServiceOptions } from './service/service-options.ts';

export type { GuardedSession, SessionGuard, SessionPlace } from './sessions/session-guard.ts';
export type { Instant, SessionLife } from './sessions/session-life.ts';
export type { Occupant } from './sessions/session-survey.ts';
export type { SessionMove, SessionRow } from './sessions/session-table.ts';
export type {
  Difference,
  PlainSnapshot,
  RepositoryFacts,
  RepositorySnapshot,
  Snapshot,
} from './snapshot/snapshot.ts';
export type { SnapshotBatch, Snapshots } from './snapshot/snapshots.ts';
export type * from './worktrees/archive-contract.ts';
export type { WorkspaceRegistrar } from './worktrees/create-context.ts';
export type { CreateWorktreeRequest, PullSelector } from './worktrees/create-request.ts';
export type { CreatedWorktree } from './worktrees/create-worktree.ts';
export type * from './worktrees/preflight.ts';
export type { CommitNames, UnsentCommits } from './worktrees/preflight-commits.ts';
export type { CreationResult } from './worktrees/receipts.ts';
export type { RecoveredCreation } from './worktrees/recover-creations.ts';
export type { VerifiedPull, VerifiedPulls } from './worktrees/verified-pulls.ts';
export type { WorktreeCreation } from './worktrees/worktrees.ts';

/** What one running instance offers; HTTP, the command line and embedding services use nothing else. */
export interface Service extends AsyncDisposable {
  readonly authority: Authority;
  readonly files: WorkspaceFiles;
  /** Null where the registry belongs to the host. */
  readonly workspaces: Workspaces | null;
  readonly repositories: Repositories;
  readonly reads: RepositoryReads;
  readonly pulls: PullRequests;
  readonly actions: RepositoryActions;
  readonly worktrees: WorktreeCreation;
  readonly snapshots: Pick<Snapshots, 'read' | 'readMany'>;
  readonly events: Pick<Events<Snapshot>, 'subscribe' | 'note'>;
  /** The end of managed worktrees: what would be lost, archives, and bringing them back. */
  readonly worktreeArchives: WorktreeArchives;
  /** Null where the host knows the sessions. */
  readonly sessions: Sessions | null;
  /**
   * Who is in a workspace or worktree, now (R28). Empty: nobody is.
   * @throws as `Authority.authorize` | `session_guard_unavailable`: it cannot be told, so it counts as occupied
   */
  occupants(selector: string, signal?: AbortSignal): Promise<readonly Occupant[]>;
  /**
   * Accepts what stands under a registered path now as the workspace, after it was replaced on purpose (decisions 1.9). In the embedded
   * registry this renews the row; for a row of the host's registry it renews the identity that is pinned in the state directory.
   * @throws `workspace_not_found` | `workspace_not_registrable` | `not_offered` (details.reason `pinned-by-registry`: the host's row names
   *   an identity itself) | `registry_unavailable` | `state_unavailable` | as `Workspaces.add`
   */
  confirmWorkspace(path: string): Promise<WorkspaceRow>;
  readiness(): Promise<Readiness>;
  close(): Promise<void>;
}

export interface Workspaces {
  list(): Promise<readonly WorkspaceRow[]>;
  /**
   * Proves that the path is a canonical directory that may be a workspace, pins its identity and writes the row.
   * @throws `workspace_not_registrable` (details.reason) | `workspace_already_registered` | `state_unavailable` | `repository_unsupported`
   */
  add(path: string, options?: AddWorkspaceOptions): Promise<WorkspaceRow>;
  /** Removes the row only; nothing on disk below the workspace is touched. @throws `workspace_not_found` */
  remove(path: string): Promise<WorkspaceRow>;
  /** Pins the identity that stands there now. @throws `workspace_not_found` | `workspace_not_registrable` */
  confirm(path: string): Promise<WorkspaceRow>;
}

/**
 * Where agents and people work, as far as they say so. A session keeps what it occupies from being archived or cleaned up. All throw
 * `session_guard_unavailable` and `state_unavailable`.
 */
export interface Sessions {
  /** Those that have not ended. */
  list(): Promise<readonly SessionRow[]>;
  /** @throws as `Authority.authorize` | `session_already_exists` | `session_owner_unknown` | `not_directory` | `invalid_path` | ... */
  create(request: NewSessionRequest, signal?: AbortSignal): Promise<SessionRow>;
  /**
   * Changes the directory it works in, and renews it; the one it was created in counts on. Until this resolves, both do.
   * @throws `session_not_found` | as `Authority.authorize` | `not_directory` | `invalid_path` | ...
   */
  move(id: string, place: SessionPlaceRequest, signal?: AbortSignal): Promise<SessionRow>;
  /** Begins a lease anew; changes nothing of other sessions. @throws `session_not_found`: it ended and must be created anew */
  renew(id: string, signal?: AbortSignal): Promise<SessionRow>;
  /** @throws `session_not_found` */
  close(id: string, signal?: AbortSignal): Promise<SessionRow>;
}

export interface SessionPlaceRequest {
  /** A selector. */
  readonly cwd: string;
  /** A directory below it; default: the selector itself. */
  readonly path?: string;
}

export interface NewSessionRequest extends SessionPlaceRequest {
  /** 8 to 120 letters, digits, `_` and `-`; made up by default. */
  readonly id?: string;
  /** The session ends when it was not renewed for so many seconds, 5 to 86,400. */
  readonly leaseSeconds?: number;
  /** The session ends with this process of the machine of this service; with neither, it ends only when it is closed. */
  readonly process?: SessionProcess;
}

export interface SessionProcess {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat (proc(5)), which tells it from a later process of the same number. */
  readonly startTime: string;
}

export interface AddWorkspaceOptions {
  readonly title?: string;
  readonly allowMounts?: boolean;
}

export interface Readiness {
  readonly ready: boolean;
  readonly version: string;
  readonly kernel: { readonly openat2: boolean; readonly code: string | null; readonly hint: string | null };
  readonly prover: {
    readonly mode: 'auto' | 'nodegit' | 'git' | 'both';
    /** E.g. `git+nodegit`, or `git` with `nodegit: building`. */
    readonly active: 'nodegit' | 'git' | 'git+nodegit' | 'none';
    readonly nodegit: 'ready' | 'building' | 'failed' | 'absent';
    readonly gitVersion: string | null;
  };
  readonly registry: {
    readonly readable: boolean;
    readonly rows: number | null;
    readonly code: string | null;
  };
  readonly sessions: {
    readonly readable: boolean;
    /** Sessions that have not ended. */
    readonly open: number | null;
    readonly code: string | null;
  };
  readonly roots: readonly RootReadiness[];
}

export interface RootReadiness {
  readonly path: string;
  readonly authorized: boolean;
  readonly code: string | null;
  readonly exchange: 'supported' | 'unsupported' | 'unknown';
  /** Whether an open writer on a file is noticed before it is replaced (decisions 3, file leases). */
  readonly openWriterCheck: 'supported' | 'unsupported' | 'unknown';
}
