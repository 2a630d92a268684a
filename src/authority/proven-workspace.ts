import type { CapabilityKind, GitBoundary } from '../capability/file-capability.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import type { Surroundings } from '../proof/surroundings.ts';
import type { ProvenRepository } from './proven-repository.ts';

export interface ProvenWorkspaceParts {
  readonly kind: CapabilityKind;
  /** One reference passes to the workspace. */
  readonly held: HeldRoot;
  readonly surroundings: Surroundings;
  /** Passes to the workspace; null for a directory that is no Git root. */
  readonly repository: ProvenRepository | null;
}

/**
 * A root with everything that was proven of it, held open. Lends references to capabilities; what is held closes with the last
 * reference to the workspace and the last capability.
 */
export class ProvenWorkspace {
  readonly kind: CapabilityKind;
  readonly gitBoundary: GitBoundary;
  readonly held: HeldRoot;
  readonly repository: ProvenRepository | null;
  readonly #surroundings: Surroundings;
  #references = 1;
  #closed = false;

  constructor({ kind, held, surroundings, repository }: ProvenWorkspaceParts) {
    this.kind = kind;
    this.held = held;
    this.repository = repository;
    this.gitBoundary = repository === null ? (surroundings.nested ? 'nested' : 'none') : 'root';
    this.#surroundings = surroundings;
  }

  /** Whether its first owner, a cache, has let it go. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Whether every fact of the proof still stands. Never blocks; undefined where something has to be waited for. */
  isUnchanged(): boolean | undefined {
    const { held } = this;
    const inPlace = held.directory.leadsHereCached(held.path);
    if (inPlace !== true) return inPlace;
    for (const watch of this.#surroundings.watches) {
      const unchanged = watch.isUnchanged();
      if (unchanged !== true) return unchanged;
    }
    return this.repository === null ? true : this.repository.isUnchanged();
  }

  /** The same question, waiting where it must. @throws `registry_unavailable` | `storage_failed` | `too_many_open_files` | `busy` */
  async isUnchangedWaiting(): Promise<boolean> {
    if (!(await this.held.isInPlace())) return false;
    for (const watch of this.#surroundings.watches) {
      if (!(watch.isUnchanged() ?? (await watch.isUnchangedWaiting()))) return false;
    }
    return this.repository === null || (await this.repository.isUnchangedWaiting());
  }

  /** A reference for the worktrees of a main checkout; to be taken before waiting for anything. */
  retain(): this {
    this.#references += 1;
    return this;
  }

  release(): void {
    this.#references -= 1;
    if (this.#references > 0) return;
    this.held.release();
    this.repository?.release();
  }

  /** Gives up the first reference, once. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.release();
  }
}
