import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { unsupported } from '../proof/unsupported.ts';
import type { WorkspaceRegistry, WorkspaceRow } from '../registry/workspace-registry.ts';
import { abortable } from './abortable.ts';
import { Delegate } from './delegate.ts';
import { lendProven } from './lend-proven.ts';
import type { ClaimedRow, MainCheckouts } from './proof-context.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';
import { findRow } from './registry-rows.ts';
import type { Subject, WorkspaceCache } from './workspace-cache.ts';

/**
 * Main checkouts by path, kept apart from the roots that callers select: proving a worktree waits for its main checkout, and a main
 * checkout waits for no other, so no chain of pointers can make proofs wait for each other.
 */
export class CachedMainCheckouts implements MainCheckouts {
  readonly #registry: WorkspaceRegistry;
  readonly #cache: WorkspaceCache;

  constructor(registry: WorkspaceRegistry, cache: WorkspaceCache) {
    this.#registry = registry;
    this.#cache = cache;
  }

  async findRow(path: string): Promise<WorkspaceRow | null> {
    return findRow(this.#registry, path);
  }

  async obtain(path: string, row: WorkspaceRow | null, signal?: AbortSignal): Promise<Delegate> {
    return lendProven(
      () => this.#obtain({ path, row }, signal),
      (workspace) => new Delegate(this.#registry, workspace.retain(), row),
    );
  }

  async #obtain(subject: Subject, signal?: AbortSignal): Promise<ProvenWorkspace> {
    try {
      return await abortable(this.#cache.obtain(subject), signal);
    } catch (error) {
      throw asDelegate(error);
    }
  }
}

/** A directory without a row of its own, as the proof looks at it. */
export function claimedRowOf({ path, row }: Subject): ClaimedRow {
  return row ?? { path, identity: null, gitDirIdentity: null, allowMounts: false };
}

/** What the refusal of a main checkout means for a worktree of it. */
function asDelegate(error: unknown): unknown {
  if (!isAuthorityError(error)) return error;
  const { reason } = error.details;
  if (reason === 'main-checkout-unknown') return error;
  const what = changedPart(error);
  if (what !== null) return new AuthorityError('identity_changed', { details: { what }, cause: error });
  const properties = ['repository_unsupported', 'repository_identity_changed', 'workspace_not_authorized'];
  if (!properties.includes(error.code)) return error;
  return unsupported('main-checkout-unsupported', { main: reason ?? error.code });
}

/** A root that moved during its own proof is told as one that gives no authority. */
function changedPart({ code, cause }: AuthorityError): 'common dir' | 'main checkout' | null {
  if (code === 'identity_changed') return 'common dir';
  const moved = isAuthorityError(cause) && cause.code === 'identity_changed';
  return moved && code === 'workspace_not_authorized' ? 'main checkout' : null;
}
