import type { GitBoundary } from '../capability/file-capability.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import type { HeldRepository } from '../capability/repository-capability.ts';
import type { MainCheckout } from '../proof/main-checkout.ts';
import type { Surroundings } from '../proof/surroundings.ts';

export interface ProvenWorkspaceParts {
  /** One reference passes to the workspace. */
  readonly held: HeldRoot;
  readonly surroundings: Surroundings;
  /** Passes to the workspace. */
  readonly gitDirectory: DirectoryHandle | null;
  readonly checkout: MainCheckout | null;
}

/**
 * A root with everything that was proven of it, held open. Lends references to capabilities; what is held closes when the workspace
 * is closed and the last of them is released.
 */
export class ProvenWorkspace {
  readonly gitBoundary: GitBoundary;
  readonly held: HeldRoot;
  readonly gitDirectory: DirectoryHandle | null;
  /** Replaced when the same repository was proven anew. */
  checkout: MainCheckout | null;
  readonly #surroundings: Surroundings;
  #gitReferences = 1;
  #closed = false;

  constructor({ held, surroundings, gitDirectory, checkout }: ProvenWorkspaceParts) {
    this.held = held;
    this.gitDirectory = gitDirectory;
    this.checkout = checkout;
    this.gitBoundary = checkout === null ? (surroundings.nested ? 'nested' : 'none') : 'root';
    this.#surroundings = surroundings;
  }

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
    return this.checkout === null ? true : this.checkout.isUnchanged();
  }

  /** The same question, waiting where it must. @throws `storage_failed` | `too_many_open_files` | `busy` */
  async isUnchangedWaiting(): Promise<boolean> {
    if (!(await this.held.isInPlace())) return false;
    for (const watch of this.#surroundings.watches) {
      if (!(watch.isUnchanged() ?? (await watch.isUnchangedWaiting()))) return false;
    }
    return this.checkout === null || (await this.checkout.isUnchangedWaiting());
  }

  /** A reference to the repository, null for a workspace that is none. The receiver releases it. */
  lendRepository(): HeldRepository | null {
    const { gitDirectory } = this;
    if (gitDirectory === null) return null;
    this.#gitReferences += 1;
    let lent = true;
    return {
      gitDirectory,
      commonDirectory: gitDirectory,
      mainRoot: this.held.path,
      release: () => {
        if (!lent) return;
        lent = false;
        this.#dropGit();
      },
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.held.release();
    this.#dropGit();
  }

  #dropGit(): void {
    this.#gitReferences -= 1;
    if (this.#gitReferences === 0) this.gitDirectory?.close();
  }
}
