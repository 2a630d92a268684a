import type { NativeBinding } from '../capability/handles.ts';
import type { ManagedRoot } from '../proof/managed-namespace.ts';
import type { RepositoryProver } from '../proof/prover.ts';
import type { WorkspacePins, WorkspaceRegistry } from '../registry/workspace-registry.ts';

/** Identities pinned for the rows of a registry that keeps none itself (decisions 1.9); lives in our state directory. */
export interface WorkspacePinStore {
  /** What is pinned for this canonical path, or null. @throws `state_unavailable` */
  find(path: string): WorkspacePins | null | Promise<WorkspacePins | null>;
  /** Pins unless something is pinned already; resolves with what is pinned now. @throws `state_unavailable` */
  pin(path: string, pins: WorkspacePins): Promise<WorkspacePins>;
}

/** A directory that no workspace may be or lie in, and that is closed inside the workspaces around it. */
export interface ProtectedDirectory {
  readonly device: bigint;
  readonly inode: bigint;
  /** Whether a root at `components` below this directory is excepted, e.g. the managed worktrees in the state directory. */
  readonly excepts: (components: readonly string[]) => boolean;
}

export interface AuthorityOptions {
  readonly native: NativeBinding;
  readonly registry: WorkspaceRegistry;
  readonly prover: RepositoryProver;
  readonly protectedDirectories: readonly ProtectedDirectory[];
  /** For rows without an identity of their own; without it nothing is pinned for them. */
  readonly pins?: WorkspacePinStore;
  /** Below which managed worktrees lie; without any, no worktree is managed. */
  readonly managedRoots?: readonly ManagedRoot[];
  /** Proven roots kept open at most; default 256. Each holds two to four descriptors, and so does each main checkout of their worktrees. */
  readonly capacity?: number;
}

/** The state directory: closed, but not the worktrees `worktrees/<hash>/<leaf>` kept in it (decisions 1.4). */
export function protectStateDirectory(identity: {
  readonly device: bigint;
  readonly inode: bigint;
}): ProtectedDirectory {
  const { device, inode } = identity;
  return { device, inode, excepts: ([first, ...rest]) => first === 'worktrees' && rest.length >= 2 };
}
