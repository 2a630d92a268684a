import type { DirectoryHandle } from '../capability/handles.ts';
import type { WorkspaceRow } from '../registry/workspace-registry.ts';
import type { Delegate } from './delegate.ts';
import type { AuthorityOptions } from './ports.ts';

export interface ProofContext extends Omit<AuthorityOptions, 'registry' | 'capacity'> {
  /** `/`, held open with mounts allowed. */
  readonly top: DirectoryHandle;
  /** The effective user of this process. */
  readonly owner: number;
  readonly mains: MainCheckouts;
}

/** The part of a row that a proof looks at; a directory without a row has one without identities. */
export type ClaimedRow = Pick<WorkspaceRow, 'path' | 'identity' | 'gitDirIdentity' | 'allowMounts'>;

/**
 * What a root is proven for. registered: it has a row, or is about to. unregistered: it has none, so it must be a worktree of a registered
 * main checkout. main: it must be the main checkout of a worktree that is being proven.
 */
export type Standing = 'registered' | 'unregistered' | 'main';

/** The registered main checkouts, which the proofs of their worktrees ask. */
export interface MainCheckouts {
  /** @throws `registry_unavailable` */
  findRow(path: string): Promise<WorkspaceRow | null>;
  /**
   * The main checkout at that canonical path, proven; the caller releases it. `row` is its row, or null for one that has none.
   * @throws `repository_unsupported` (`main-checkout-unknown`, `main-checkout-unsupported`) | `prover_unavailable` | `busy` | ...
   */
  obtain(path: string, row: WorkspaceRow | null, signal?: AbortSignal): Promise<Delegate>;
}
