import type { Authority } from '../authority/authority.ts';
import type { NativeBinding } from '../capability/handles.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import type { ConfigurationGate } from '../git/configuration-gate.ts';
import type { NetworkAccess } from '../git/network-access.ts';
import type { GitRunner } from '../git/run-git.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type { ManagedRoot } from '../proof/managed-namespace.ts';
import type { WorkspaceRegistry } from '../registry/workspace-registry.ts';
import type { RemoveRow } from './archive-context.ts';
import type { VerifiedPulls } from './verified-pulls.ts';

/** Writes rows of the registry, where it takes any from us. */
export interface WorkspaceRegistrar {
  /** @returns the id of the new row @throws `workspace_already_registered` | ... */
  register(path: string, title: string, signal?: AbortSignal): Promise<string>;
  /** Takes rows of worktrees away that are gone; without it they are left to the host. */
  readonly remove?: RemoveRow;
}

/** How far a creation has come. */
export interface CreationProgress {
  /** The selector that was given, as it was given. */
  readonly selector: string;
  /** Null where the caller gave none. */
  readonly txId: string | null;
  /** Of the new worktree. */
  readonly path: string;
  readonly filesDone: number;
  readonly filesTotal: number;
}

/** What the creation of worktrees works with. */
export interface CreateContext {
  readonly native: NativeBinding;
  readonly authority: Authority;
  readonly gate: MutationGate;
  readonly git: GitRunner;
  readonly configuration: ConfigurationGate;
  readonly registry: WorkspaceRegistry;
  /** Null: the host makes the rows itself. */
  readonly registrar: WorkspaceRegistrar | null;
  /** Worktrees are made in the first one of our own scheme. */
  readonly managedRoots: readonly ManagedRoot[];
  /** Refuses unless the session was created in the directory. @throws `creation_source_changed` | `session_guard_unavailable` */
  readonly assertSource: (sessionId: string, directory: string, signal?: AbortSignal) => Promise<void>;
  /** Null: no forge is asked, and pull requests are not offered. */
  readonly pulls: VerifiedPulls | null;
  readonly network: NetworkAccess;
  /** Tells who watches how far the checkout of files has come. */
  readonly tellProgress: (progress: CreationProgress) => void;
  /** Fetches from `origin`, where there is one. */
  readonly fetch: (capability: RepositoryCapability, signal: AbortSignal) => Promise<void>;
}
