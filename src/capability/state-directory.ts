import { lstat, mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { type DirectoryHandle, fileFacts, type LeaseHandle, type NativeBinding } from '../native/binding.ts';
import type { LiveIdentity } from './identity.ts';
import { StateLog } from './state-log.ts';
import { contentDigest, Transactions } from './transaction-name.ts';

/** Says cheaply whether a file is still the one that was read. All numbers as the kernel gives them; times in nanoseconds. */
export interface FileStamp {
  readonly inode: bigint;
  readonly device: bigint;
  readonly size: bigint;
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
}

export interface StateReading {
  readonly bytes: Uint8Array;
  readonly stamp: FileStamp;
}

/** A lock file below the state directory; see `LeaseHandle`. */
export type StateLock = LeaseHandle;

/**
 * The directory of this user in which everything lives that outlasts the process. Held open; nobody but its owner can write to it.
 * Its small files are read whole and replaced by atomic exchange, mode 0600; a name is one component without `/`.
 *
 * Every failure is `state_unavailable` with `details.file` (the name below this directory; `.` for the directory) and
 * `details.reason`, one short phrase or an errno name. It never answers with less than there is.
 *
 * Not promised: protection from programs of the same user or of root.
 */
export interface StateDirectory {
  /** Canonical absolute path. */
  readonly path: string;
  readonly identity: LiveIdentity;
  /**
   * Whether the file is still the one with this stamp, and the directory still stands under its path. False when it is gone.
   * Synchronous when the kernel has the answer cached. A change within one tick of the kernel's clock that keeps inode and size
   * can go unseen: whoever keeps what was read checks how old it was (see `StateFile`).
   */
  isUnchanged(name: string, stamp: FileStamp): boolean | Promise<boolean>;
  /** The whole file, or null when there is none. Refuses links, foreign owners, files that others may write, and anything over `limit` bytes. */
  read(name: string, limit: number): Promise<StateReading | null>;
  /** Writes a new file and syncs it. False: the name was taken and nothing was changed. */
  create(name: string, bytes: Uint8Array): Promise<boolean>;
  /** Replaces exactly the version that was read. False: it is no longer that version and nothing was changed. */
  replace(name: string, bytes: Uint8Array, base: StateReading): Promise<boolean>;
  /** Opens or creates `locks/<name>`. The caller closes it. */
  openLock(name: string): Promise<StateLock>;
  /** Opens or makes the directory `<name>/`, mode 0700, to work beneath it. The caller closes it. */
  openDirectory(name: string): Promise<DirectoryHandle>;
  /** A log that is opened with its first line. The caller closes it before this directory. */
  openLog(name: string, onFailure: (error: unknown) => void): StateLog;
  close(): void;
}

/**
 * Opens the state directory, and makes it (and missing parents) with mode 0700 first. Links above it are followed once, here; it
 * must not be one itself.
 * @throws `state_unavailable` | `kernel_capability_missing`
 */
export async function openStateDirectory(path: string, binding: NativeBinding): Promise<StateDirectory> {
  if (!isAbsolute(path) || normalize(path) !== path || path.endsWith('/')) {
    throw unavailable('.', 'not a plain absolute path');
  }
  const { openat2 } = binding.probe();
  if (!openat2.available) {
    throw new AuthorityError('kernel_capability_missing', {
      details: { syscall: 'openat2', errno: openat2.code },
    });
  }
  const canonical = await makeDirectory(path);
  const directory = await attempt('.', () => binding.openRoot(canonical, {}));
  try {
    const identity = directory.identity();
    assertOwnAlone('.', identity);
    return new HeldStateDirectory(canonical, directory, identity);
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** The one place that works by path: before this there is no handle to work beneath. What came of it is judged by the handle. */
async function makeDirectory(path: string): Promise<string> {
  return attempt('.', async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const canonical = join(await realpath(dirname(path)), basename(path));
    try {
      await mkdir(canonical, { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    if ((await lstat(canonical)).isSymbolicLink()) throw unavailable('.', 'is a symbolic link');
    return canonical;
  });
}

class HeldStateDirectory implements StateDirectory {
  readonly path: string;
  readonly identity: LiveIdentity;
  readonly #directory: DirectoryHandle;
  readonly #transactions = new Transactions();
  readonly #facts = new BigInt64Array(fileFacts.count);

  constructor(path: string, directory: DirectoryHandle, identity: LiveIdentity) {
    this.path = path;
    this.identity = identity;
    this.#directory = directory;
  }

  isUnchanged(name: string, stamp: FileStamp): boolean | Promise<boolean> {
    try {
      const facts = this.#facts;
      const here = this.#directory.leadsHereCached(this.path);
      if (here === false) return false;
      if (here && this.#directory.factsCached(name, facts)) return sameStamp(stampOf(facts), stamp);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw translate(name, error);
    }
    return this.#isUnchangedWaiting(name, stamp);
  }

  async #isUnchangedWaiting(name: string, stamp: FileStamp): Promise<boolean> {
    return attempt(name, async () => {
      if (!(await this.#directory.leadsHere(this.path))) return false;
      const entry = await absentAsNull(this.#directory.stat(name, null));
      return entry !== null && sameStamp({ ...entry, size: BigInt(entry.size) }, stamp);
    });
  }

  async read(name: string, limit: number): Promise<StateReading | null> {
    await this.#assertInPlace(name);
    for (let look = 0; look < longestUnrest; look += 1) {
      const reading = await this.#readOnce(name, limit);
      if (reading === null || (await this.isUnchanged(name, reading.stamp))) return reading;
    }
    throw unavailable(name, 'keeps changing while it is read');
  }

  async #readOnce(name: string, limit: number): Promise<StateReading | null> {
    return attempt(name, async () => {
      const file = await absentAsNull(this.#directory.openFile(name, null));
      if (file === null) return null;
      try {
        assertOwnAlone(name, file.identity());
        const stamp = stampOf(file.facts());
        if (stamp.size > limit) throw unavailable(name, `is larger than ${limit} bytes`);
        return { bytes: await file.readAt(0, Number(stamp.size)), stamp };
      } finally {
        file.close();
      }
    });
  }

  async create(name: string, bytes: Uint8Array): Promise<boolean> {
    await this.#assertInPlace(name);
    const outcome = await attempt(name, () =>
      this.#transactions.run(name, { base: null, next: contentDigest(bytes) }, (temporaryName) =>
        this.#directory.create(name, { bytes, mode: 0o600, temporaryName }, null),
      ),
    );
    return outcome.outcome === 'created';
  }

  async replace(name: string, bytes: Uint8Array, base: StateReading): Promise<boolean> {
    await this.#assertInPlace(name);
    const change = {
      bytes,
      baseBytes: base.bytes,
      baseInode: base.stamp.inode,
      baseDevice: base.stamp.device,
    };
    const content = { base: contentDigest(base.bytes), next: contentDigest(bytes) };
    const outcome = await attempt(name, () =>
      this.#transactions.run(name, content, (temporaryName) =>
        this.#directory.replace(name, { ...change, temporaryName }, null),
      ),
    );
    return outcome.outcome === 'committed';
  }

  async openLock(name: string): Promise<StateLock> {
    return attempt(`locks/${name}`, async () => {
      const locks = await this.#openBelow('locks');
      try {
        return await locks.openLease(name);
      } finally {
        locks.close();
      }
    });
  }

  async openDirectory(name: string): Promise<DirectoryHandle> {
    await this.#assertInPlace(name);
    return attempt(name, () => this.#openBelow(name));
  }

  async #openBelow(name: string): Promise<DirectoryHandle> {
    await this.#directory.makeDirectory(name, 0o700, null).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    const directory = await this.#directory.openDirectory(name);
    try {
      assertOwnAlone(name, directory.identity());
      return directory;
    } catch (error) {
      directory.close();
      throw error;
    }
  }

  openLog(name: string, onFailure: (error: unknown) => void): StateLog {
    return new StateLog({ directory: this.#directory.descriptorPath(), name, onFailure });
  }

  close(): void {
    this.#directory.close();
  }

  async #assertInPlace(name: string): Promise<void> {
    const here = await attempt('.', () => this.#directory.leadsHere(this.path));
    if (!here) throw unavailable(name, 'the state directory was moved away');
  }
}

/** Other programs may replace a file while it is read; so often in a row is no accident. */
const longestUnrest = 8;

function stampOf(facts: BigInt64Array): FileStamp {
  return {
    inode: facts[fileFacts.inode] as bigint,
    device: facts[fileFacts.device] as bigint,
    size: facts[fileFacts.size] as bigint,
    modifiedNs: facts[fileFacts.modifiedNs] as bigint,
    changedNs: facts[fileFacts.changedNs] as bigint,
  };
}

function sameStamp(left: FileStamp, right: FileStamp): boolean {
  return (
    left.inode === right.inode &&
    left.changedNs === right.changedNs &&
    left.modifiedNs === right.modifiedNs &&
    left.size === right.size &&
    left.device === right.device
  );
}

const writableByOthers = 0o022;

function assertOwnAlone(file: string, { uid, mode }: LiveIdentity): void {
  // There is no geteuid where there is no addon either.
  const own = process.geteuid?.();
  if (uid !== own) throw unavailable(file, `belongs to user ${uid}, not to user ${own}`);
  if ((mode & writableByOthers) !== 0) throw unavailable(file, 'can be written by its group or by others');
}

async function attempt<Result>(file: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    throw translate(file, error);
  }
}

async function absentAsNull<Result>(action: Promise<Result>): Promise<Result | null> {
  try {
    return await action;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** What an operator can act on; any other failure is told by its errno name. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  ELOOP: 'is a symbolic link',
  ENOTDIR: 'is not a directory',
  ENOSPC: 'no space left on the device',
  EDQUOT: 'the quota is used up',
  EROFS: 'the file system is mounted read-only',
  WA_NOT_REGULAR: 'is not a regular file',
  WA_HANDLE_CLOSED: 'was closed with the service',
  WA_WRITER_OPEN: 'another program has it open for writing',
};

function translate(file: string, error: unknown): AuthorityError {
  if (isAuthorityError(error)) return error;
  const code = codeOf(error) ?? 'unknown failure';
  return unavailable(file, reasons[code] ?? code, error);
}

function unavailable(file: string, reason: string, cause?: unknown): AuthorityError {
  return new AuthorityError('state_unavailable', { details: { file, reason }, cause });
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
