import type { RepositoryActions } from './actions/repository-actions.ts';
import type { Authority } from './authority/authority.ts';
import type { Repositories } from './authority/repositories.ts';
import type { Events } from './events/events.ts';
import type { WorkspaceFiles } from './files/workspace-files.ts';
import type { WorkspaceRow } from './registry/workspace-registry.ts';
import type { RepositoryReads } from './service/repository-reads.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import type { Snapshots } from './snapshot/snapshots.ts';

export type { LadderEntry } from './actions/ladder.ts';
export type * from './actions/repository-actions.ts';
export type { Detection, Repositories, WorktreeListing } from './authority/repositories.ts';
export type { WorktreeItem } from './authority/worktree-listing.ts';
export type { Clock } from './events/clock.ts';
export type { EventLimits, Events, SubscribeRequest } from './events/events.ts';
export type * from './events/feed-event.ts';
export type { Subscription } from './events/subscription.ts';
export type { AllowedDriver } from './git/allowed-drivers.ts';
export type { NetworkAccess, NetworkProtocol } from './git/network-access.ts';
export type { ManagedRoot } from './proof/managed-namespace.ts';
export { createService } from './service/create-service.ts';
export type { ActionLadder, RepositoryReads } from './service/repository-reads.ts';
export type { ServiceLimits, ServiceOptions } from './service/service-options.ts';

export type {
  Difference,
  PlainSnapshot,
  RepositoryFacts,
  RepositorySnapshot,
  Snapshot,
} from './snapshot/snapshot.ts';
export type { SnapshotBatch, Snapshots } from './snapshot/snapshots.ts';

/** What one running instance offers; HTTP, the command line and embedding services use nothing else. */
export interface Service extends AsyncDisposable {
  readonly authority: Authority;
  readonly files: WorkspaceFiles;
  /** Null where the registry belongs to the host. */
  readonly workspaces: Workspaces | null;
  readonly repositories: Repositories;
  readonly reads: RepositoryReads;
  readonly actions: RepositoryActions;
  readonly snapshots: Pick<Snapshots, 'read' | 'readMany'>;
  readonly events: Pick<Events<Snapshot>, 'subscribe' | 'note'>;
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
