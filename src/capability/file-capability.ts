import type { HeldRoot } from './held-root.ts';

export type CapabilityKind = 'workspace' | 'managed-worktree' | 'linked-worktree';

/** none: a plain directory. nested: inside a repository, whose Git is not lent (R03). root: the selector is the Git root. */
export type GitBoundary = 'none' | 'nested' | 'root';

/**
 * The proven right to act on the files below one root (R01, R02). It holds the root open; every path given to an operation is
 * opened beneath that handle. Made only by the authority (see `mintFileCapability`).
 *
 * Not promised: that the root still stands under its name. Operations that change something call `assertCurrent` after every
 * wait and immediately before the change.
 */
export interface FileCapability extends AsyncDisposable {
  readonly kind: CapabilityKind;
  readonly gitBoundary: GitBoundary;
  /** Canonical absolute path of the root. */
  readonly root: string;
  readonly held: HeldRoot;
  /**
   * Proves again that the registry row exists and that the root's name leads to the held inode (R05, R06).
   * @throws `identity_changed` (details.what) | `workspace_not_authorized` (row gone) | `registry_unavailable`
   */
  assertCurrent(signal?: AbortSignal): Promise<void>;
  /** A second, independently disposable reference. @throws `identity_changed` never; `internal_error` after disposal */
  retain(): FileCapability;
}
