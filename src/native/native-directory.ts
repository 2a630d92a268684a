import {
  type CreateOutcome,
  type CreateRequest,
  type DirectoryHandle,
  type ExchangeProbe,
  fileFacts,
  type GuardRules,
  type LeaseHandle,
  type ListOptions,
  type NativeBinding,
  type NativeEntry,
  type NativeIdentity,
  type NativeListing,
  type NativePath,
  type PathGuard,
  type RemoveOutcome,
  type RemoveRequest,
  type ReplaceOutcome,
  type ReplaceRequest,
} from './binding.ts';
import { calling, callingNow } from './calling.ts';
import { type FileVersion, NativeFile, versionOf } from './native-file.ts';

export interface ReadOptions {
  /** Larger files are refused with `file_too_large`. */
  readonly limit: number;
  readonly guard?: PathGuard;
}

export interface FileContent {
  /** Small results share memory with others: copy one before changing it or transferring it to another thread. */
  readonly bytes: Uint8Array;
  readonly version: FileVersion;
}

/**
 * A directory held open, and everything that can be done beneath it. Paths are those of `NativePath`: relative, `/`-separated,
 * without `.`, `..` and empty components. No path is ever followed through a symbolic link, and none leaves the directory,
 * whatever other processes rename meanwhile. Not promised: anything about files reached by hard links, and mounts where the
 * root was opened with `allowMounts`.
 *
 * Every method throws (or rejects with) an `AuthorityError`; `cause` is the error of the system call.
 */
export class NativeDirectory {
  readonly #binding: NativeBinding;
  readonly #handle: DirectoryHandle;

  constructor(binding: NativeBinding, handle: DirectoryHandle) {
    this.#binding = binding;
    this.#handle = handle;
  }

  /** Refuses new calls at once; the descriptor closes when running ones have ended. Harmless when repeated. */
  close(): void {
    this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  identity(): NativeIdentity {
    return callingNow(() => this.#handle.identity());
  }

  /** `/proc/<pid>/fd/<n>`, by which a child process reaches exactly this directory. Valid only while it is open. */
  descriptorPath(): string {
    return callingNow(() => this.#handle.descriptorPath());
  }

  /** Whether the absolute path, walked without any symbolic link, leads to this very directory on the same mount. */
  leadsHere(absolutePath: string): Promise<boolean> {
    return calling(() => this.#handle.leadsHereCached(absolutePath) ?? this.#handle.leadsHere(absolutePath));
  }

  /** A guard for paths beneath this directory; pass it to the methods below. Close it after use. */
  guard(rules: GuardRules): PathGuard {
    return callingNow(() => this.#binding.createGuard(this.#handle, rules));
  }

  /** `.` opens the directory once more. */
  openDirectory(path: NativePath): Promise<NativeDirectory> {
    return calling(async () => new NativeDirectory(this.#binding, await this.#handle.openDirectory(path)));
  }

  /** Regular files only; a FIFO, device or socket is refused without being opened. */
  openFile(path: NativePath, guard: PathGuard | null = null): Promise<NativeFile> {
    return calling(async () => new NativeFile(await this.#handle.openFile(path, guard)));
  }

  /**
   * The whole content of a regular file, on this thread when the kernel has it in memory, else on the pool. A file that keeps
   * changing while it is read is `busy`.
   */
  read(path: NativePath, { limit, guard }: ReadOptions): Promise<FileContent> {
    return calling(async () => {
      const facts = new BigInt64Array(fileFacts.count);
      const bytes =
        this.#handle.readCached(path, limit, facts, guard ?? null) ??
        (await this.#handle.read(path, limit, facts, guard ?? null));
      return { bytes, version: versionOf(facts) };
    });
  }

  /** The entry itself, never what a link points to. */
  stat(path: NativePath, guard: PathGuard | null = null): Promise<NativeEntry> {
    return calling(() => this.#handle.stat(path, guard));
  }

  list(path: NativePath, options: ListOptions, guard: PathGuard | null = null): Promise<NativeListing> {
    return calling(() => this.#handle.list(path, options, guard));
  }

  /** The canonical path that the symbolic links of `path` lead to; opened again, it is opened without links. */
  resolveLinks(path: NativePath, rootPath: string): Promise<Uint8Array> {
    return calling(() => this.#handle.resolveLinks(path, rootPath));
  }

  /** Exchanges the file with new content when it still is the given version. */
  replace(path: NativePath, change: ReplaceRequest, guard: PathGuard | null = null): Promise<ReplaceOutcome> {
    return calling(() => this.#handle.replace(path, change, guard));
  }

  create(path: NativePath, change: CreateRequest, guard: PathGuard | null = null): Promise<CreateOutcome> {
    return calling(() => this.#handle.create(path, change, guard));
  }

  remove(path: NativePath, change: RemoveRequest, guard: PathGuard | null = null): Promise<RemoveOutcome> {
    return calling(() => this.#handle.remove(path, change, guard));
  }

  /** Never replaces what stands under the new name. */
  rename(from: NativePath, to: NativePath, guard: PathGuard | null = null): Promise<void> {
    return calling(() => this.#handle.renameNoReplace(from, to, guard));
  }

  makeDirectory(path: NativePath, mode: number, guard: PathGuard | null = null): Promise<void> {
    return calling(() => this.#handle.makeDirectory(path, mode, guard));
  }

  /** Empty directories only. */
  removeDirectory(path: NativePath, guard: PathGuard | null = null): Promise<void> {
    return calling(() => this.#handle.removeDirectory(path, guard));
  }

  /** Whether the file system here can exchange two names atomically; `replace` needs it. */
  probeExchange(): Promise<ExchangeProbe> {
    return calling(() => this.#handle.probeExchange());
  }

  openLease(name: string): Promise<LeaseHandle> {
    return calling(() => this.#handle.openLease(name));
  }
}
