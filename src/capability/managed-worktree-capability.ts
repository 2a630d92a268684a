import type { RepositoryCapability } from './repository-capability.ts';

export type WorktreeIntent = 'checkout' | 'branch-off' | 'pr-checkout';

/** What the metadata of a managed worktree says of its creation. */
export interface ManagedFacts {
  /** 1: written by the existing plugin. 2: by this package, bound to the identities of the worktree. */
  readonly version: 1 | 2;
  readonly intent: WorktreeIntent;
  /** The branch at creation; another one may be checked out since (W38). */
  readonly branch: string;
  /** The commit that it was created from; null when the metadata knows none. */
  readonly baseOid: string | null;
  readonly baseName: string | null;
  /** Title of the workspace that it was created from. */
  readonly sourceTitle: string | null;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
}

/**
 * A repository capability whose root is a worktree that this package, or the plugin before it, created: proven by its metadata, its
 * registered main checkout, its place in the managed namespace and Git's worktree list (R02). Only such worktrees are ever archived or
 * cleaned up (R27, R33).
 */
export interface ManagedWorktreeCapability extends RepositoryCapability {
  readonly kind: 'managed-worktree';
  readonly managed: ManagedFacts;
  retain(): ManagedWorktreeCapability;
}
