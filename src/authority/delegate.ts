import { isAuthorityError } from '../errors/index.ts';
import type { WorkspaceRegistry, WorkspaceRow } from '../registry/workspace-registry.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';
import { findRow, sameRow } from './registry-rows.ts';

/**
 * The main checkout of a linked worktree, proven and held, with its row in the registry when the worktree was proven. Registered main
 * checkouts are the only delegates (R32); a row that comes, goes or changes later makes the proof of the worktree stale.
 */
export class Delegate {
  /** One reference belongs to this object. */
  readonly workspace: ProvenWorkspace;
  readonly row: WorkspaceRow | null;
  readonly #registry: WorkspaceRegistry;

  constructor(registry: WorkspaceRegistry, workspace: ProvenWorkspace, row: WorkspaceRow | null) {
    this.#registry = registry;
    this.workspace = workspace;
    this.row = row;
  }

  /** Never blocks; undefined where the registry, or a fact, has to be waited for. */
  isUnchanged(): boolean | undefined {
    const row = this.#rowNow();
    if (row instanceof Promise) {
      // The waiting way asks again and reports the failure; a rejection that nobody hears would end the process.
      row.catch(() => undefined);
      return undefined;
    }
    return this.#isSameRow(row) ? this.workspace.isUnchanged() : false;
  }

  /** @throws `registry_unavailable` | `storage_failed` | `too_many_open_files` | `busy` */
  async isUnchangedWaiting(): Promise<boolean> {
    return this.#isSameRow(await this.#rowNow()) && (await this.workspace.isUnchangedWaiting());
  }

  /** Whether the registry still has the row. @throws `registry_unavailable` */
  async isRegistered(): Promise<boolean> {
    return (await this.#rowNow()) !== null;
  }

  release(): void {
    this.workspace.release();
  }

  #rowNow(): WorkspaceRow | null | Promise<WorkspaceRow | null> {
    try {
      return findRow(this.#registry, this.workspace.held.path);
    } catch (error) {
      if (isAuthorityError(error)) return Promise.reject(error);
      throw error;
    }
  }

  #isSameRow(row: WorkspaceRow | null): boolean {
    if (row === null || this.row === null) return row === this.row;
    return sameRow(row, this.row);
  }
}
