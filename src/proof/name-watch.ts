import { emptyFacts, isDirectoryMode } from '../capability/file-facts.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import type { AuthorityError } from '../errors/index.ts';
import { pastMoves } from './past-moves.ts';
import { hasStamp, isSameObject, lookAtStamp, type Stamp, stampOfEntry, stampOfFacts } from './stamp.ts';
import { isAbsence, translateStorageFailure } from './storage-failure.ts';
import { unsupported } from './unsupported.ts';

/**
 * Remembers which of some names stand in a directory, and what stands under them, and tells cheaply whether that is still so: while
 * the directory's own stamp is unchanged and settled, one look at the directory answers for all its names but those of directories.
 */
export class NameWatch {
  readonly #base: DirectoryHandle;
  readonly #path: string;
  readonly #found: ReadonlyMap<string, Stamp | null>;
  readonly #onChange: () => boolean;
  #stamp: Stamp;

  private constructor(
    base: DirectoryHandle,
    path: string,
    stamp: Stamp,
    found: ReadonlyMap<string, Stamp | null>,
    onChange: () => boolean,
  ) {
    this.#base = base;
    this.#path = path;
    this.#stamp = stamp;
    this.#found = found;
    this.#onChange = onChange;
  }

  /**
   * Looks at the directory `path` beneath `base` (`.` for `base` itself). `onChange` is asked once after each change of the
   * directory that left the names as they were; false then counts as a change.
   * @throws `repository_unsupported` (a mount point: `git-entry-irregular` for the directory, `admin-file-irregular` with details.file
   *   for a name in it) | `storage_failed` | `too_many_open_files`, and the errno error when the directory is gone
   */
  static async begin(
    base: DirectoryHandle,
    path: string,
    names: readonly string[],
    onChange: () => boolean = () => true,
  ): Promise<NameWatch> {
    // The directory first: a name that comes later then shows as a change.
    const lookedAtMs = Date.now();
    const stamp = await pastMoves(
      // A directory that is gone is told by the errno of the second look.
      async () =>
        (await lookAtStamp(base, path, lookedAtMs)) ?? stampOfEntry(await base.stat(path, null), lookedAtMs),
    ).catch((error: unknown) => {
      throw codeOf(error) === 'EXDEV' ? mountPoint() : error;
    });
    const entries = await Promise.all(names.map((name) => lookAt(base, path, name)));
    const found = new Map(names.map((name, index) => [name, entries[index] ?? null]));
    return new NameWatch(base, path, stamp, found, onChange);
  }

  /** The directory itself, when it was first looked at or last found unchanged. */
  get directory(): Stamp {
    return this.#stamp;
  }

  find(name: string): Stamp | null {
    return this.#found.get(name) ?? null;
  }

  /** Never blocks; undefined where the kernel would have to wait. */
  isUnchanged(): boolean | undefined {
    try {
      const lookedAtMs = Date.now();
      if (!this.#base.factsCached(this.#path, scratch)) return undefined;
      if (hasStamp(scratch, this.#stamp) && this.#stamp.settled) return this.#isFreeOfMounts();
      if (!isSameObject(scratch, this.#stamp)) return false;
      const stamp = stampOfFacts(scratch, lookedAtMs);
      for (const [name, entry] of this.#found) {
        const same = this.#isSame(name, entry);
        if (same !== true) return same;
      }
      return this.#accept(stamp);
    } catch {
      return false;
    }
  }

  async isUnchangedWaiting(): Promise<boolean> {
    try {
      const now = await NameWatch.begin(this.#base, this.#path, [...this.#found.keys()]);
      if (!sameObject(now.#stamp, this.#stamp)) return false;
      for (const [name, entry] of this.#found) {
        if (!sameObject(now.find(name), entry)) return false;
      }
      return this.#accept(now.#stamp);
    } catch {
      return false;
    }
  }

  /** A mount over a directory moves no stamp. One over a file is met by whoever reads the file. */
  #isFreeOfMounts(): boolean | undefined {
    for (const [name, entry] of this.#found) {
      if (entry === null || !isDirectoryMode(entry.mode)) continue;
      const same = this.#isSame(name, entry);
      if (same !== true) return same;
    }
    return true;
  }

  #accept(stamp: Stamp): boolean {
    if (stamp.changedNs !== this.#stamp.changedNs && !this.#onChange()) return false;
    this.#stamp = stamp;
    return true;
  }

  #isSame(name: string, entry: Stamp | null): boolean | undefined {
    let found: boolean | null;
    try {
      found = this.#base.factsCached(join(this.#path, name), scratch, true);
    } catch (error) {
      return isAbsence(error) && entry === null;
    }
    if (found === null) return entry === null;
    return found ? entry !== null && isSameObject(scratch, entry) : undefined;
  }
}

const scratch = emptyFacts();

/** @throws `repository_unsupported` (`admin-file-irregular`, details.file) for a mount point | `storage_failed` | ... */
async function lookAt(base: DirectoryHandle, path: string, name: string): Promise<Stamp | null> {
  const place = join(path, name);
  try {
    return await pastMoves(() => lookAtStamp(base, place, 0));
  } catch (error) {
    if (isAbsence(error)) return null;
    if (codeOf(error) === 'EXDEV') throw unsupported('admin-file-irregular', { file: name, seen: 'EXDEV' });
    throw translateStorageFailure(error);
  }
}

function mountPoint(): AuthorityError {
  return unsupported('git-entry-irregular', { seen: 'EXDEV' });
}

function sameObject(left: Stamp | null, right: Stamp | null): boolean {
  if (left === null || right === null) return left === right;
  return left.inode === right.inode && left.device === right.device && left.mode === right.mode;
}

function join(directory: string, name: string): string {
  return directory === '.' ? name : `${directory}/${name}`;
}
