import { emptyFacts, isDirectoryMode } from '../capability/file-facts.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import { pastMoves } from './past-moves.ts';
import {
  hasStamp,
  isSameObject,
  lookAtStamp,
  recallStamp,
  type Stamp,
  stampOfEntry,
  stampOfFacts,
} from './stamp.ts';
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
   * Looks at the directory `path` beneath `base` (`.` for `base` itself), and then at the names in it, which may depend on what the
   * directory is. `onChange` is asked once after each change of the directory that left the names as they were; false then counts as
   * a change.
   * @throws `repository_unsupported` (a mount point: `git-entry-irregular` for the directory, `admin-file-irregular` with details.file
   *   for a name in it) | `storage_failed` | `too_many_open_files`, and the errno error when the directory is gone
   */
  static async begin(
    base: DirectoryHandle,
    path: string,
    names: readonly string[] | ((directory: Stamp) => readonly string[]),
    onChange: () => boolean = () => true,
  ): Promise<NameWatch> {
    // The directory first: a name that comes later then shows as a change.
    const lookedAtMs = Date.now();
    const stamp = recall(base, path, lookedAtMs) ?? (await lookAtDirectory(base, path, lookedAtMs));
    const found = new Map<string, Stamp | null>();
    const unknown: string[] = [];
    for (const name of typeof names === 'function' ? names(stamp) : names) {
      const known = recall(base, join(path, name), 0);
      found.set(name, known ?? null);
      if (known === undefined) unknown.push(name);
    }
    if (unknown.length > 0) {
      await Promise.all(unknown.map(async (name) => found.set(name, await lookAt(base, path, name))));
    }
    return new NameWatch(base, path, stamp, found, onChange);
  }

  /** `begin`, with null for a directory that is not there, which costs no more than one look. */
  static async beginIfThere(
    base: DirectoryHandle,
    path: string,
    names: readonly string[],
  ): Promise<NameWatch | null> {
    try {
      if (recall(base, path, 0) === null) return null;
      return await NameWatch.begin(base, path, names);
    } catch (error) {
      if (isAbsence(error)) return null;
      throw translateStorageFailure(error);
    }
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

/** Undefined where the kernel would have to wait, and for whatever is wrong: then `lookAt` has all the words. */
function recall(base: DirectoryHandle, place: string, lookedAtMs: number): Stamp | null | undefined {
  try {
    return recallStamp(base, place, lookedAtMs);
  } catch {
    return undefined;
  }
}

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

/** @throws `repository_unsupported` (`git-entry-irregular`) for a mount point, and the errno error when it is gone */
async function lookAtDirectory(base: DirectoryHandle, path: string, lookedAtMs: number): Promise<Stamp> {
  try {
    return await pastMoves(async () => stampOfEntry(await base.stat(path, null), lookedAtMs));
  } catch (error) {
    throw codeOf(error) === 'EXDEV' ? unsupported('git-entry-irregular', { seen: 'EXDEV' }) : error;
  }
}

function sameObject(left: Stamp | null, right: Stamp | null): boolean {
  if (left === null || right === null) return left === right;
  return left.inode === right.inode && left.device === right.device && left.mode === right.mode;
}

function join(directory: string, name: string): string {
  return directory === '.' ? name : `${directory}/${name}`;
}
