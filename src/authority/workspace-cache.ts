import type { WorkspaceRow } from '../registry/workspace-registry.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';
import { sameRow } from './registry-rows.ts';

/** What is proven: a canonical path, and the row that it has in the registry. */
export interface Subject {
  readonly path: string;
  readonly row: WorkspaceRow | null;
}

/** A proven root that is held open, and what it was proven for. */
export interface KeptWorkspace {
  readonly subject: Subject;
  readonly workspace: ProvenWorkspace;
}

interface Proof {
  readonly subject: Subject;
  readonly work: Promise<ProvenWorkspace>;
}

/**
 * Proven roots by path. What is remembered is never believed: each use looks whether the row is the same and every fact still stands, and
 * proves anew when not. The least recently used workspace is closed first.
 */
export class WorkspaceCache {
  readonly #capacity: number;
  readonly #prove: (subject: Subject) => Promise<ProvenWorkspace>;
  readonly #entries = new Map<string, KeptWorkspace>();
  readonly #proofs = new Map<string, Proof>();
  #closed = false;

  constructor(capacity: number, prove: (subject: Subject) => Promise<ProvenWorkspace>) {
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
  take(subject: Subject): ProvenWorkspace | null {
    const entry = this.#entries.get(subject.path);
    if (entry === undefined || !sameSubject(entry.subject, subject) || entry.workspace.isUnchanged() !== true)
      return null;
    this.#touch(subject.path, entry);
    return entry.workspace;
  }

  /**
   * The workspace, proven anew where a fact has changed. Callers that ask for one row at one time share the proof.
   * It stays with the cache: borrow from it before waiting for anything else.
   */
  async obtain(subject: Subject): Promise<ProvenWorkspace> {
    for (
      let entry = this.#entries.get(subject.path);
      entry !== undefined;
      entry = this.#entries.get(subject.path)
    ) {
      const holds = sameSubject(entry.subject, subject) && (await entry.workspace.isUnchangedWaiting());
      if (holds && !entry.workspace.isClosed) {
        this.#touch(subject.path, entry);
        return entry.workspace;
      }
      // Another caller may have proven it anew meanwhile; then that one is looked at.
      this.#remove(subject.path, entry);
    }
    const running = this.#proofs.get(subject.path);
    if (running !== undefined && sameSubject(running.subject, subject)) return running.work;
    const work = this.#proveAndKeep(subject);
    const proof = { subject, work };
    this.#proofs.set(subject.path, proof);
    const forget = () => {
      if (this.#proofs.get(subject.path) === proof) this.#proofs.delete(subject.path);
    };
    work.then(forget, forget);
    return work;
  }

  /** What is held open now. */
  kept(): readonly KeptWorkspace[] {
    return [...this.#entries.values()];
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

  async #proveAndKeep(subject: Subject): Promise<ProvenWorkspace> {
    const workspace = await this.#prove(subject);
    this.drop(subject.path);
    if (this.#closed) {
      workspace.close();
      return workspace;
    }
    this.#entries.set(subject.path, { subject, workspace });
    this.#evict();
    return workspace;
  }

  #touch(path: string, entry: KeptWorkspace): void {
    this.#entries.delete(path);
    this.#entries.set(path, entry);
  }

  #remove(path: string, entry: KeptWorkspace): void {
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

function sameSubject(left: Subject, right: Subject): boolean {
  if (left.row === null || right.row === null) return left.row === right.row;
  return sameRow(left.row, right.row);
}
