import type { DirectoryHandle } from '../capability/handles.ts';
import type { HeldRepository } from '../capability/repository-capability.ts';
import { type DirectoryWatch, watchDirectory } from './directory-watch.ts';
import type { OnHint, TreeWatch, TreeWatches } from './tree-watch.ts';

/** Gives hints when something in the Git directories of a checkout may have changed: HEAD, index, configuration, refs. */
export class RepositoryWatch {
  readonly #trees: TreeWatches;
  readonly #onHint: OnHint;
  #subject = '';
  #own: DirectoryWatch[] = [];
  #refs: TreeWatch | null = null;
  #closed = false;

  constructor(trees: TreeWatches, onHint: OnHint) {
    this.#trees = trees;
    this.#onHint = onHint;
  }

  /** Watches what is not watched yet. False where that is not possible. What happens after it resolved gives a hint. */
  async settle({ gitDirectory, commonDirectory }: HeldRepository): Promise<boolean> {
    const directories = isSame(gitDirectory, commonDirectory)
      ? [commonDirectory]
      : [gitDirectory, commonDirectory];
    const subject = directories.map(describe).join();
    if (subject !== this.#subject) this.#watchAnew(subject, directories);
    const refs = await this.#settleRefs(commonDirectory);
    return refs && this.#own.length === directories.length;
  }

  close(): void {
    this.#closed = true;
    this.#leave();
  }

  #watchAnew(subject: string, directories: readonly DirectoryHandle[]): void {
    this.#leave();
    if (this.#closed) return;
    this.#subject = subject;
    const onBroken = () => {
      // The next look begins again.
      this.#subject = '';
      this.#onHint(true);
    };
    for (const directory of directories) {
      const watch = watchDirectory(directory, () => this.#onHint(false), onBroken);
      if (watch !== null) this.#own.push(watch);
    }
  }

  async #settleRefs(commonDirectory: DirectoryHandle): Promise<boolean> {
    const directory = await commonDirectory.openDirectory('refs').catch(() => null);
    if (directory === null) return false;
    try {
      if ((await this.#refs?.isWhole(directory)) === true) return true;
      this.#refs?.close();
      this.#refs = null;
      const refs = await this.#trees.begin(directory, [], this.#onHint);
      if (this.#closed) refs?.close();
      else this.#refs = refs;
      return refs !== null;
    } finally {
      directory.close();
    }
  }

  #leave(): void {
    for (const watch of this.#own) watch.close();
    this.#own = [];
    this.#refs?.close();
    this.#refs = null;
    this.#subject = '';
  }
}

function describe(directory: DirectoryHandle): string {
  const { device, inode } = directory.place();
  return `${device}:${inode}`;
}

function isSame(left: DirectoryHandle, right: DirectoryHandle): boolean {
  return describe(left) === describe(right);
}
