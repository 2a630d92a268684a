import { inTurns } from '../authority/in-turns.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { type DirectoryWatch, watchDirectory } from './directory-watch.ts';
import { listDirectories } from './list-directories.ts';

export interface TreeWatchLimits {
  /** Directories of one work tree. */
  readonly perTree: number;
  /** Directories of all work trees. */
  readonly inAll: number;
}

/** A kernel queue that overflows says so to nobody (inotify(7), IN_Q_OVERFLOW), so that after so many changes at once none is trusted. */
const burst = 4096;

/** Told after each change, and with `lost` when changes may have gone unheard. */
export type OnHint = (lost: boolean) => void;

/** More names than this at once are not looked at one by one. */
const mostNames = 256;

/** Watches work trees within common limits. */
export class TreeWatches {
  readonly #limits: TreeWatchLimits;
  readonly #trees = new Set<TreeWatch>();
  #watched = 0;
  #events = 0;
  #closed = false;

  constructor(limits: TreeWatchLimits) {
    this.#limits = limits;
  }

  /** Directories that are watched now. */
  get watched(): number {
    return this.#watched;
  }

  /**
   * Watches every directory of a work tree but those ignored as a whole. Null where that is not possible: too many directories, no watch
   * left in the kernel, a mount, or a repository within, whose HEAD is part of the answer.
   */
  async begin(
    root: DirectoryHandle,
    ignored: readonly string[],
    onHint: OnHint = () => undefined,
  ): Promise<TreeWatch | null> {
    const tree = new TreeWatch(ignored, {
      take: () => {
        if (this.#closed || this.#watched >= this.#limits.inAll) return false;
        this.#watched += 1;
        return true;
      },
      give: (count) => {
        this.#watched -= count;
        this.#trees.delete(tree);
      },
      onEvent: () => this.#count(),
      onHint,
    });
    this.#trees.add(tree);
    if (await tree.cover(root, this.#limits.perTree)) return tree;
    tree.close();
    return null;
  }

  close(): void {
    this.#closed = true;
    for (const tree of [...this.#trees]) tree.close();
  }

  #count(): void {
    this.#events += 1;
    if (this.#events === 1) setImmediate(() => this.#endTurn()).unref();
  }

  #endTurn(): void {
    if (this.#events >= burst) for (const tree of this.#trees) tree.distrust();
    this.#events = 0;
  }
}

interface Account {
  take(): boolean;
  give(count: number): void;
  onEvent(): void;
  onHint(lost: boolean): void;
}

/** The watched directories of one work tree. */
export class TreeWatch {
  readonly #ignored: ReadonlySet<string>;
  readonly #account: Account;
  readonly #watches = new Map<string, DirectoryWatch>();
  /** Paths, in Latin-1, under which something came or went since they were last looked at. */
  readonly #names = new Set<string>();
  #version = 0;
  #whole = true;
  #closed = false;

  constructor(ignored: readonly string[], account: Account) {
    this.#ignored = new Set(ignored);
    this.#account = account;
  }

  /** Another number after every change that was told of. */
  get version(): number {
    return this.#version;
  }

  /** Whether Git ignores the same directories as when the watch began. */
  covers(ignored: readonly string[]): boolean {
    return ignored.length === this.#ignored.size && ignored.every((path) => this.#ignored.has(path));
  }

  /**
   * Whether every directory that matters is still watched. Looks at what came and went; a directory among it ends the watch, as does a
   * change of the patterns of ignored files.
   */
  async isWhole(root: DirectoryHandle): Promise<boolean> {
    const names = [...this.#names];
    this.#names.clear();
    const whole = await inTurns(names, 4, async (path) => this.#isNoDirectory(root, path));
    if (whole.includes(false)) this.#whole = false;
    return this.#whole && !this.#closed;
  }

  /** Something may have happened that nobody told of. */
  distrust(): void {
    this.#version += 1;
    this.#whole = false;
    if (!this.#closed) this.#account.onHint(true);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.distrust();
    for (const watch of this.#watches.values()) watch.close();
    this.#account.give(this.#watches.size);
    this.#watches.clear();
  }

  /** False when not all could be watched. Each directory is watched before it is listed, so that what comes later is told of. */
  async cover(root: DirectoryHandle, limit: number): Promise<boolean> {
    let level: readonly string[] = [''];
    try {
      while (level.length > 0) {
        if (this.#watches.size + level.length > limit) return false;
        const below = await inTurns(level, 8, (path) => this.#coverOne(root, path));
        if (below.includes(null)) return false;
        level = below.flatMap((paths) => paths ?? []);
      }
    } catch {
      // Gone meanwhile, a mount, no descriptor left: the next time may do.
      return false;
    }
    return !this.#closed;
  }

  /** Paths of the directories in it that are to be watched; null when it cannot be watched. */
  async #coverOne(root: DirectoryHandle, path: string): Promise<readonly string[] | null> {
    if (this.#closed) return null;
    const directory = await root.openDirectory(path === '' ? '.' : Buffer.from(path, 'latin1'));
    try {
      if (!this.#watch(directory, path)) return null;
      const names = await listDirectories(directory);
      if (names === null || (path !== '' && names.administrative)) return null;
      return names.directories
        .map((name) => (path === '' ? name : `${path}/${name}`))
        .filter((child) => !this.#ignored.has(child));
    } finally {
      directory.close();
    }
  }

  #watch(directory: DirectoryHandle, path: string): boolean {
    if (this.#closed || !this.#account.take()) return false;
    const watch = watchDirectory(
      directory,
      (name, namesChanged) => this.#onChange(path, name, namesChanged),
      () => this.distrust(),
    );
    if (watch === null) {
      this.#account.give(1);
      return false;
    }
    this.#watches.set(path, watch);
    return true;
  }

  #onChange(path: string, name: Buffer | null, namesChanged: boolean): void {
    this.#account.onEvent();
    this.#version += 1;
    const text = name?.toString('latin1') ?? null;
    if (text === null || text === '.gitignore' || text === '.git' || this.#names.size >= mostNames) {
      this.#whole = false;
    } else if (namesChanged) {
      this.#names.add(path === '' ? text : `${path}/${text}`);
    }
    this.#account.onHint(false);
  }

  async #isNoDirectory(root: DirectoryHandle, path: string): Promise<boolean> {
    if (this.#watches.has(path)) return false;
    if (this.#ignored.has(path)) return true;
    try {
      return (await root.stat(Buffer.from(path, 'latin1'), null)).type !== 'directory';
    } catch {
      // Gone again, or its directory went with it, of which that one's parent tells.
      return true;
    }
  }
}
