import { changedMsOf, stateKeyOf } from '../capability/file-facts.ts';

/** Two writes within one tick of a file system's clock leave the same change time; the coarsest clock in use (FAT) ticks every two seconds. */
const settledAfterMs = 3000;
const capacity = 4096;

/**
 * Entity tags of large files by the state of their inode. Only what had been at rest when it was hashed, and still was afterwards,
 * is remembered: a younger change time could be shared by a second write (before Linux 6.13 the clock ticks 100 to 1,000 times a
 * second).
 *
 * Not noticed: stores through a shared writable mapping that was already dirty, as they move no time stamp until the kernel writes
 * the page back. Such a tag is older than the bytes; commits do not use this cache and compare content.
 */
export class EtagCache {
  readonly #now: () => number;
  readonly #tags = new Map<string, string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get(facts: BigInt64Array): string | undefined {
    return this.#tags.get(stateKeyOf(facts));
  }

  /** `before` and `after`: facts of the same open file taken around the hashing that began at `startedMs`. */
  remember(etag: string, before: BigInt64Array, after: BigInt64Array, startedMs: number): void {
    const key = stateKeyOf(before);
    const atRest = startedMs - changedMsOf(before) > settledAfterMs;
    if (!atRest || key !== stateKeyOf(after)) return;
    if (this.#tags.size >= capacity) {
      const oldest = this.#tags.keys().next().value;
      if (oldest !== undefined) this.#tags.delete(oldest);
    }
    this.#tags.set(key, etag);
  }

  /** The clock that change times are compared with: the system's, in milliseconds. */
  now(): number {
    return this.#now();
  }
}
