/**
 * The contract of the addon: every native function, documented here and only here. The addon trusts the shapes given by
 * this package's TypeScript and checks memory safety, handle types and confinement by itself.
 *
 * Failures are thrown (or rejected) as plain `Error` objects with `code`, `errno` and `syscall`: an errno name such as
 * `ENOENT`, or one of `NativeRefusal`. The addon writes no prose and no paths into them.
 *
 * Paths are relative to a handle, `/`-separated, given as a string or as raw bytes. Before any system call the addon
 * refuses (`EINVAL`) an absolute or empty path, an empty, `.` or `..` component, a NUL and a string that is not well-formed
 * UTF-16; `.` alone names the handle itself where a directory is wanted. Every path is opened with RESOLVE_BENEATH,
 * RESOLVE_NO_MAGICLINKS and RESOLVE_NO_SYMLINKS (openat2(2)), and RESOLVE_NO_XDEV unless the root allows mounts: a symbolic
 * link anywhere is `ELOOP`, a mount `EXDEV`. EAGAIN is retried a bounded number of times and then reported as `EAGAIN`.
 */
export type NativePath = string | Uint8Array;

/** Refusals of the addon that no errno names. */
export type NativeRefusal =
  | 'WA_NOT_REGULAR' // the opened object is no regular file
  | 'WA_CLOSED_DIRECTORY' // an ancestor is closed by the path guard
  | 'WA_HANDLE_CLOSED' // the handle was closed before the call
  | 'WA_WRITER_OPEN' // another process has the file open for writing
  | 'WA_METADATA' // owner, mode, attributes or access list cannot be carried over
  | 'WA_PARENT_MOVED'; // the parent directory no longer stands under its path

/**
 * What a failed write transaction adds to its error. Without either, nothing was changed and nothing was left behind.
 * Whatever failed, and wherever a transaction is cut off, its name leads to old or new content as a whole.
 */
export interface NativeWriteFailure {
  /**
   * The change stands all the same: it could not be made durable (fsync(2) of the directory failed), or a change that had
   * to be taken back could not be. For `remove` and `removeDirectory`: the name is gone.
   */
  readonly inPlace?: true;
  /** Names, in the directory of the target, of files left behind: a temporary file or a foreign version set aside. */
  readonly kept?: readonly string[];
}

/** Who an inode is. Compare by `sameIdentity` of the capability room, never field by field. */
export interface NativeIdentity {
  readonly device: bigint;
  readonly inode: bigint;
  readonly mountId: bigint;
  /** Whether `mountId` is never reused while the system runs (STATX_MNT_ID_UNIQUE, Linux 6.8). */
  readonly mountIdUnique: boolean;
  /** f_fsid of statfs(2) as one 64-bit number; 0n where the file system reports none. */
  readonly fileSystemId: bigint;
  /** File handle of name_to_handle_at(2), or a FID (AT_HANDLE_FID); null where the file system gives neither. */
  readonly handle: { readonly type: number; readonly bytes: Uint8Array } | null;
  readonly birthTimeNs: bigint | null;
  /** st_mode, type bits included. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly linkCount: number;
}

/** Index of each fact in the array that a read fills; all are 64-bit. Keeping them in one typed array spares an object a read. */
export const fileFacts = {
  size: 0,
  modifiedNs: 1,
  changedNs: 2,
  inode: 3,
  device: 4,
  mode: 5,
  linkCount: 6,
  birthNs: 7,
  /** User id. */
  owner: 8,
  count: 9,
} as const;

export interface RootOptions {
  /** Lets paths cross mount points below the root. Default false. */
  readonly allowMounts?: boolean;
}

/** What closes a directory to file access, as data: the addon knows nothing of Git. */
export interface GuardRules {
  /** A directory that contains all of these names is closed, e.g. HEAD, objects, refs. Never applied to the root itself. */
  readonly closedShape: readonly string[];
  /** Directories closed by identity, as device and inode pairs, wherever they are found below the root. */
  readonly closedIdentities: readonly { readonly device: bigint; readonly inode: bigint }[];
}

/**
 * Remembers which directories below a root were found open under `GuardRules`, and watches them (inotify(7)), so that a
 * repeated check costs one system call. Where a file system or a limit does not allow watching, every check looks anew.
 */
export interface PathGuard {
  /** Throws `WA_CLOSED_DIRECTORY` when any directory on the way to `path` (its own name included when it is one) is closed. */
  check(path: NativePath): Promise<void>;
  close(): void;
}

export interface NativePlace {
  readonly device: bigint;
  readonly inode: bigint;
}

export interface DirectoryHandle {
  /** Refuses new calls at once; the descriptor closes when running calls have ended. Closing twice is harmless. */
  close(): void;
  /** As it is now. Waits for the server of a network or FUSE file system. */
  identity(): NativeIdentity;
  /** The part of the identity that cannot change while the directory is held, at no cost. */
  place(): NativePlace;
  /** `/proc/<pid>/fd/<n>`: lets a child process reach exactly this directory. Valid only while the handle is open. */
  descriptorPath(): string;
  /**
   * Whether the absolute path, walked without any symbolic link, leads to this very directory on the same mount.
   * The cached form never blocks: it answers undefined where the kernel would have to wait (RESOLVE_CACHED), and on file systems
   * that others than the kernel answer for. So do all cached forms.
   */
  leadsHereCached(absolutePath: string): boolean | undefined;
  leadsHere(absolutePath: string): Promise<boolean>;
  openDirectory(path: NativePath): Promise<DirectoryHandle>;
  openFile(path: NativePath, guard: PathGuard | null): Promise<FileHandle>;
  /**
   * Reads a whole regular file of at most `limit` bytes and fills `facts` (a BigInt64Array of `fileFacts.count`).
   * Never blocks: undefined means that the kernel would have had to wait, or that the file changed so lately that a write(2) may
   * still go on, and `read` must be called instead. `acceptRecent` answers in the second case, too: for a caller who knows which
   * content it will accept, as what it gets may be half of one version and half of another.
   * @throws `EFBIG` (facts are filled) | `WA_NOT_REGULAR` | `WA_CLOSED_DIRECTORY` | errno
   */
  readCached(
    path: NativePath,
    limit: number,
    facts: BigInt64Array,
    guard: PathGuard | null,
    acceptRecent?: boolean,
  ): Uint8Array | undefined;
  read(path: NativePath, limit: number, facts: BigInt64Array, guard: PathGuard | null): Promise<Uint8Array>;
  /** Fills `facts` of the entry itself without opening it for reading. False: the kernel would have had to wait. @throws errno */
  factsCached(path: NativePath, facts: BigInt64Array): boolean;
  /** The same where absence is an answer, null, which costs a tenth of an exception. @throws errno, but neither ENOENT nor ENOTDIR */
  factsCached(path: NativePath, facts: BigInt64Array, orAbsent: true): boolean | null;
  /** The entry itself, never what a link points to. */
  stat(path: NativePath, guard: PathGuard | null): Promise<NativeEntry>;
  /** All entries but `.` and `..`, sorted by bytes, in one hop; symbolic links are classified against this root. */
  list(path: NativePath, options: ListOptions, guard: PathGuard | null): Promise<NativeListing>;
  /**
   * Follows symbolic links by reading them, at most 40, and returns the canonical relative path. An absolute target counts as
   * inside when it begins with `rootPath`. @throws `EXDEV` when a link leads outside or into a magic link | `ELOOP` | `ENOENT`
   */
  resolveLinks(path: NativePath, rootPath: string): Promise<Uint8Array>;

  /**
   * Exchanges the file for a new one (renameat2(2), RENAME_EXCHANGE) and proves that it displaced the base; otherwise
   * exchanges back until the newest foreign version stands under the name. A foreign version that another one superseded
   * meanwhile is always kept, since whoever superseded it may not have seen it. Between the exchange and the way back, for
   * microseconds, readers see the new content: Linux has no compare-and-swap rename.
   * Owner, permission bits, extended attributes and access list are carried over (else `WA_METADATA`); set-id bits and file
   * capabilities are not. Other names of the file (hard links) keep the old content. The file must be writable (`EACCES`).
   * @throws `ELOOP` (a symbolic link) | `WA_NOT_REGULAR` | `WA_CLOSED_DIRECTORY` | `WA_WRITER_OPEN` | `WA_METADATA`
   * | `WA_PARENT_MOVED` | `EAGAIN` (metadata changed meanwhile) | errno; see `NativeWriteFailure`
   */
  replace(path: NativePath, change: ReplaceRequest, guard: PathGuard | null): Promise<ReplaceOutcome>;
  create(path: NativePath, change: CreateRequest, guard: PathGuard | null): Promise<CreateOutcome>;
  /**
   * Moves the name aside, verifies inode and content, then unlinks; puts it back when it was another version, or keeps it
   * when the name has been taken meanwhile. @throws as `replace` does, but for `WA_METADATA` and `EACCES` of the file
   */
  remove(path: NativePath, change: RemoveRequest, guard: PathGuard | null): Promise<RemoveOutcome>;
  /**
   * RENAME_NOREPLACE between two names beneath this root, of anything but a closed directory; both parents are synced.
   * @throws `EEXIST` | `WA_CLOSED_DIRECTORY` | `WA_PARENT_MOVED` | `EAGAIN` (another object came under the name) | errno
   */
  renameNoReplace(from: NativePath, to: NativePath, guard: PathGuard | null): Promise<void>;
  makeDirectory(path: NativePath, mode: number, guard: PathGuard | null): Promise<void>;
  /** Empty directories only. @throws `ENOTEMPTY` | errno */
  removeDirectory(path: NativePath, guard: PathGuard | null): Promise<void>;
  /** Unlinks a non-directory only while its inode is the given one. False: it was another or gone, nothing was done. */
  unlinkIfSame(path: NativePath, inode: bigint, device: bigint): Promise<boolean>;
  /** Exchanges two names in one directory and syncs it. Used by recovery only. @throws errno */
  exchange(path: NativePath, otherName: string): Promise<void>;
  /** Makes a private directory, exchanges two files in it, checks both, removes it. */
  probeExchange(): Promise<ExchangeProbe>;
  /** Opens or creates `name` (0600) in this directory as a lock file. */
  openLease(name: string): Promise<LeaseHandle>;
}

export interface FileHandle {
  /** On a network or FUSE file system, this and all below may wait for its server. */
  close(): void;
  identity(): NativeIdentity;
  facts(): BigInt64Array;
  /** At most `length` bytes from `position`; fewer only at the end of the file. */
  readAt(position: number, length: number): Promise<Uint8Array>;
}

/**
 * Open-file-description locks (F_OFD_SETLK with a length of 1, fcntl(2)) on single bytes of one lock file: as many independent
 * locks as there are bytes, for one descriptor. The kernel drops them when the holder dies. Handles exclude each other, within
 * one process too; through one handle a byte that it holds already is acquired again with success, and one release frees it.
 * Never waits.
 */
export interface LeaseHandle {
  /** `slot`: the byte, an integer from 0 to 2^48 - 1; it need not exist in the file. False: another handle holds it. */
  tryAcquire(slot: number): boolean;
  release(slot: number): void;
  close(): void;
}

export interface NativeEntry {
  readonly type: 'file' | 'directory' | 'symlink' | 'other';
  readonly size: number;
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
  readonly mode: number;
  readonly inode: bigint;
  readonly device: bigint;
  readonly linkCount: number;
}

export interface ListOptions {
  /** Absolute path of this root, to classify absolute links. */
  readonly rootPath: string;
  /** Only names that sort after this one. */
  readonly after?: Uint8Array;
  readonly limit: number;
}

/** Columns instead of objects: ten thousand entries cross the seam as six arrays. */
export interface NativeListing {
  /** Names, each followed by a NUL. */
  readonly names: Uint8Array;
  /** 0 file, 1 directory, 2 symlink, 3 other. */
  readonly types: Uint8Array;
  /** 0 no link, 1 inside, 2 outside, 3 broken. */
  readonly links: Uint8Array;
  /** 1 where the entry is a directory closed by the guard. */
  readonly closed: Uint8Array;
  readonly sizes: Float64Array;
  readonly modifiedNs: BigInt64Array;
  readonly modes: Uint32Array;
  /** Whether entries after the last one exist. */
  readonly more: boolean;
}

export interface ReplaceRequest {
  readonly bytes: Uint8Array;
  /** The version the caller read: the displaced file must be this inode with exactly these bytes. */
  readonly baseBytes: Uint8Array;
  readonly baseInode: bigint;
  readonly baseDevice: bigint;
  /** Self-describing name of the temporary file, in the same directory as the target; at most 255 bytes. */
  readonly temporaryName: string;
}

export type ReplaceOutcome =
  | {
      readonly outcome: 'committed';
      readonly facts: BigInt64Array;
      /** Names (in the target's directory) of files kept because somebody else owned or changed them; usually empty. */
      readonly kept: readonly string[];
      /** False where no read lease could be taken, so that an open writer would have gone unnoticed (fcntl(2), F_SETLEASE). */
      readonly leaseChecked: boolean;
    }
  | { readonly outcome: 'conflict'; readonly kept: readonly string[] };

export interface CreateRequest {
  readonly bytes: Uint8Array;
  /** Permission bits, at most 0o777; the process's umask applies. */
  readonly mode: number;
  readonly temporaryName: string;
}

/** `exists`: the name was taken; nothing was changed. */
export type CreateOutcome =
  | { readonly outcome: 'created'; readonly facts: BigInt64Array }
  | { readonly outcome: 'exists' };

export interface RemoveRequest {
  readonly baseBytes: Uint8Array;
  readonly baseInode: bigint;
  readonly baseDevice: bigint;
  readonly temporaryName: string;
}

export type RemoveOutcome =
  | { readonly outcome: 'removed' }
  | { readonly outcome: 'conflict'; readonly kept: readonly string[] };

export interface ExchangeProbe {
  readonly supported: boolean;
  /** The call that failed and its errno name, when not supported. */
  readonly syscall: string | null;
  readonly code: string | null;
}

export interface KernelReport {
  readonly openat2: { readonly available: boolean; readonly code: string | null };
  readonly resolveCached: boolean;
  readonly uniqueMountId: boolean;
  readonly fileIdentifierHandles: boolean;
  readonly inotify: boolean;
}

export interface NativeBinding {
  /** Asks the kernel, on an own directory, what it offers. Repeats the question at each call. */
  probe(): KernelReport;
  /** Opens an absolute path without any symbolic link on the way (RESOLVE_NO_SYMLINKS). @throws errno */
  openRoot(absolutePath: string, options: RootOptions): Promise<DirectoryHandle>;
  createGuard(root: DirectoryHandle, rules: GuardRules): PathGuard;
  /** Number of descriptors this addon holds in this environment; for leak tests and doctor. */
  openHandles(): number;
}

/** Exists only in the test build of the addon (CMake option WITH_FAULTS). */
export interface TestBinding extends NativeBinding {
  /**
   * Arms one fault: at the `occurrence`th call (from 1) that matches `syscall` ('*' for any), before or after it runs, the process is
   * killed (SIGKILL), stopped (SIGSTOP, until somebody sends SIGCONT), the transaction alone halts for half a second, or the call fails with the errno. Null disarms. The count restarts at each arming.
   */
  setFault(fault: FaultPlan | null): void;
  /** The system calls made by write transactions since the last `setFault`, in order. */
  faultTrace(): readonly string[];
  /** A raw openat2(2) for the kernel rows of the path cases. Returns facts, or throws errno. */
  rawOpenat2(
    root: DirectoryHandle,
    path: Uint8Array,
    flags: number,
    mode: number,
    resolve: number,
  ): RawOpenResult;
}

export interface FaultPlan {
  readonly syscall: string;
  readonly occurrence: number;
  readonly when: 'before' | 'after';
  readonly action: 'kill' | 'stop' | 'linger' | { readonly errno: number };
  /** Armed when this one has struck; its occurrences are counted from there. */
  readonly next?: FaultPlan;
}

export interface RawOpenResult {
  readonly mode: number;
  readonly linkCount: number;
  readonly inode: bigint;
  /** First bytes of a regular file opened for reading. */
  readonly head: Uint8Array | null;
}
