import { emptyFacts } from '../capability/file-facts.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import type { HeldRepository } from '../capability/repository-capability.ts';
import { hasStamp, lookAtStamp, type Stamp, stampOfEntry } from '../proof/stamp.ts';

/** `checkout`: the Git dir of this checkout. `common`: the one that all checkouts of the repository share. */
export type StampPlace = 'checkout' | 'common';

interface StampedFile {
  readonly place: StampPlace;
  readonly path: string;
  /** Null where nothing stood. */
  readonly stamp: Stamp | null;
}

/**
 * The files of a repository that an answer depended on, as they looked before they were read, so that a later look can tell whether the
 * answer still holds.
 */
export class FileStamps {
  readonly #repository: HeldRepository;
  readonly #files: StampedFile[] = [];
  #usable = true;

  constructor(repository: HeldRepository) {
    this.#repository = repository;
  }

  /** False once a file was too young for its stamp, could not be looked at, or is not known. */
  get usable(): boolean {
    return this.#usable;
  }

  /** The answer depends on something that no stamp tells. */
  giveUp(): void {
    this.#usable = false;
  }

  async add(place: StampPlace, path: string): Promise<void> {
    await this.#look(place, path);
  }

  /** Where one ref leads to another, the file says nothing about where that one leads. */
  async addRef(ref: string): Promise<void> {
    const stamp = await this.#look('common', ref);
    if (stamp !== null && !objectNameSizes.has(stamp.size)) this.#usable = false;
  }

  async #look(place: StampPlace, path: string): Promise<Stamp | null> {
    const lookedAtMs = Date.now();
    try {
      const stamp = await lookAt(directoryOf(this.#repository, place), path, lookedAtMs);
      this.#files.push({ place, path, stamp });
      if (stamp !== null && !stamp.settled) this.#usable = false;
      return stamp;
    } catch {
      // A link, a mount: what cannot be looked at now cannot be compared later.
      this.#usable = false;
      return null;
    }
  }

  /** Under another capability for the same directories, since this one's may be gone. Any doubt is a change. */
  async isUnchanged(repository: HeldRepository): Promise<boolean> {
    for (const { place, path, stamp } of this.#files) {
      if (!(await isAsStamped(directoryOf(repository, place), path, stamp))) return false;
    }
    return this.#usable;
  }
}

/** A full object name and a newline, SHA-1 and SHA-256. */
const objectNameSizes: ReadonlySet<bigint> = new Set([41n, 65n]);

function directoryOf(repository: HeldRepository, place: StampPlace): DirectoryHandle {
  return place === 'common' ? repository.commonDirectory : repository.gitDirectory;
}

const scratch = emptyFacts();

async function isAsStamped(directory: DirectoryHandle, path: string, stamp: Stamp | null): Promise<boolean> {
  try {
    const found = directory.factsCached(path, scratch, true);
    if (found === null || stamp === null) return found === null && stamp === null;
    if (found) return hasStamp(scratch, stamp);
    const now = stampOfEntry(await directory.stat(path, null), 0);
    return (
      now.inode === stamp.inode &&
      now.device === stamp.device &&
      now.changedNs === stamp.changedNs &&
      now.modifiedNs === stamp.modifiedNs &&
      now.size === stamp.size
    );
  } catch {
    return false;
  }
}

async function lookAt(directory: DirectoryHandle, path: string, lookedAtMs: number): Promise<Stamp | null> {
  try {
    return await lookAtStamp(directory, path, lookedAtMs);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}
