import { emptyFacts } from '../capability/file-facts.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import type { AdminFile } from './admin-file.ts';
import { hasStamp, type Stamp, stampOfEntry, stampOfFacts } from './stamp.ts';

/**
 * Tells cheaply whether a file beneath a held directory is still the one that was read. A stamp that had not settled is helped out
 * by comparing the bytes.
 */
export class FileWatch {
  readonly #directory: DirectoryHandle;
  readonly #path: string;
  readonly #bytes: Uint8Array;
  #stamp: Stamp;

  constructor(directory: DirectoryHandle, path: string, file: AdminFile) {
    this.#directory = directory;
    this.#path = path;
    this.#bytes = file.bytes;
    this.#stamp = file.stamp;
  }

  /** Never blocks; undefined where the kernel would have to wait. */
  isUnchanged(): boolean | undefined {
    try {
      if (!this.#directory.factsCached(this.#path, scratch)) return undefined;
      if (!hasStamp(scratch, this.#stamp)) return false;
      if (this.#stamp.settled) return true;
      const lookedAtMs = Date.now();
      const bytes = this.#directory.readCached(this.#path, this.#limit(), scratch, null);
      return bytes === undefined ? undefined : this.#accept(bytes, stampOfFacts(scratch, lookedAtMs));
    } catch {
      // Gone, grown or unreadable: whatever it is, it is not what was read.
      return false;
    }
  }

  async isUnchangedWaiting(): Promise<boolean> {
    const lookedAtMs = Date.now();
    try {
      const entry = await this.#directory.stat(this.#path, null);
      const stamp = stampOfEntry(entry, lookedAtMs);
      if (!sameStamp(stamp, this.#stamp)) return false;
      if (this.#stamp.settled) return true;
      const facts = emptyFacts();
      const bytes = await this.#directory.read(this.#path, this.#limit(), facts, null);
      return this.#accept(bytes, stampOfFacts(facts, lookedAtMs));
    } catch {
      return false;
    }
  }

  #accept(bytes: Uint8Array, stamp: Stamp): boolean {
    if (!sameStamp(stamp, this.#stamp) || Buffer.compare(bytes, this.#bytes) !== 0) return false;
    this.#stamp = stamp;
    return true;
  }

  #limit(): number {
    return Math.max(1, this.#bytes.length);
  }
}

/** Reused: nothing waits between filling and reading it. */
const scratch = emptyFacts();

function sameStamp(left: Stamp, right: Stamp): boolean {
  return (
    left.inode === right.inode &&
    left.device === right.device &&
    left.changedNs === right.changedNs &&
    left.modifiedNs === right.modifiedNs &&
    left.size === right.size &&
    left.mode === right.mode
  );
}
