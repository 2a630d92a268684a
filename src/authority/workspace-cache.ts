import type { WorkspaceRow } from '../registry/workspace-registry.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';
import { sameRow } from './registry-rows.ts';

interface Entry {
  readonly row: WorkspaceRow;
  readonly workspace: ProvenWorkspace;
}

interface Proof {
  readonly row: WorkspaceRow;
  readonly work: Promise<ProvenWorkspace>;
}

/**
 * Proven workspaces by the path of their row. What is remembered is never believed: each use looks whether the row is the same and
 * every fact still stands, and proves anew when not. The least recently used workspace is closed first.
 */
export class WorkspaceCache {
  readonly #capacity: number;
  readonly #prove: (row: WorkspaceRow) => Promise<ProvenWorkspace>;
  readonly #entries = new Map<string, Entry>();
  readonly #proofs = new Map<string, Proof>();
  #closed = false;

  constructor(capacity: number, prove: (row: WorkspaceRow) => Promise<ProvenWorkspace>) {
    this.#capacity = capacity;
    this.#prove = prove;
  }

  get size(): number {
    return this.#entries.size;
  }

  has(path: string): boolean {
    return this.#entries.has(path);
  }

  /** The workspace when that can be told without waiting, else null. */
  take(row: WorkspaceRow): ProvenWorkspace | null {
    const entry = this.#entries.get(row.path);
    if (entry === undefined || !sameRow(entry.row, row) || entry.workspace.isUnchanged() !== true)
      return null;
    this.#touch(row.path, entry);
    return entry.workspace;
  }

  /**
   * The workspace, proven anew where a fact has changed. Callers that ask for one row at one time share the proof.
   * It stays with the cache: borrow from it before waiting for anything else.
   */
  async obtain(row: WorkspaceRow): Promise<ProvenWorkspace> {
    for (let entry = this.#entries.get(row.path); entry !== undefined; entry = this.#entries.get(row.path)) {
      const holds = sameRow(entry.row, row) && (await entry.workspace.isUnchangedWaiting());
      if (holds && !entry.workspace.isClosed) {
        this.#touch(row.path, entry);
        return entry.workspace;
      }
      // Another caller may have proven it anew meanwhile; then that one is looked at.
      this.#remove(row.path, entry);
    }
    const running = this.#proofs.get(row.path);
    if (running !== undefined && sameRow(running.row, row)) return running.work;
    const work = this.#proveAndKeep(row);
    const proof = { row, work };
    this.#proofs.set(row.path, proof);
    const forget = () => {
      if (this.#proofs.get(row.path) === proof) this.#proofs.delete(row.path);
    };
    work.then(forget, forget);
    return work;
  }

  drop(path: string): void {
    const entry = this.#entries.get(path);
    if (entry !== undefined) this.#remove(path, entry);
  }

  /** Closes what is kept and waits for running proofs, whose results close at once. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const path of [...this.#entries.keys()]) this.drop(path);
    await Promise.allSettled([...this.#proofs.values()].map(({ work }) => work));
  }

  async #proveAndKeep(row: WorkspaceRow): Promise<ProvenWorkspace> {
    const workspace = await this.#prove(row);
    this.drop(row.path);
    if (this.#closed) {
      workspace.close();
      return workspace;
    }
    this.#entries.set(row.path, { row, workspace });
    this.#evict();
    return workspace;
  }

  #touch(path: string, entry: Entry): void {
    this.#entries.delete(path);
    this.#entries.set(path, entry);
  }

  #remove(path: string, entry: Entry): void {
    if (this.#entries.get(path) === entry) this.#entries.delete(path);
    entry.workspace.close();
  }

  #evict(): void {
    for (const [path, entry] of this.#entries) {
      if (this.#entries.size <= this.#capacity) return;
      this.#remove(path, entry);
    }
  }
}
