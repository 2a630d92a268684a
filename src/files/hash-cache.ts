import { ContentHashes, type HashSource } from './content-version.ts';

/** Above this, comparing costs memory that is better spent otherwise. */
const longestContent = 64 * 1024;
const capacityBytes = 8 * 1024 * 1024;

/**
 * Hashes of small contents that were asked for lately, by the path they were read under. The content itself decides: it is compared
 * byte by byte with a copy, which takes a twentieth of the time of hashing it. Time stamps play no part, so the path needs no root.
 */
export class HashCache {
  readonly #entries = new Map<string, ContentHashes>();
  #heldBytes = 0;

  /** `hashesOf` for the content of one path. */
  sourceFor(path: string): HashSource {
    return (bytes) => this.hashesOf(path, bytes);
  }

  hashesOf(path: string, bytes: Uint8Array): ContentHashes {
    if (bytes.length > longestContent) return new ContentHashes(bytes);
    const known = this.#entries.get(path);
    if (known !== undefined && Buffer.compare(known.bytes, bytes) === 0) return known;
    // A copy, since the caller may change what it was given.
    const hashes = new ContentHashes(new Uint8Array(bytes));
    this.#forget(path);
    this.#entries.set(path, hashes);
    this.#heldBytes += bytes.length;
    for (const oldest of this.#entries.keys()) {
      if (this.#heldBytes <= capacityBytes) break;
      this.#forget(oldest);
    }
    return hashes;
  }

  #forget(path: string): void {
    const known = this.#entries.get(path);
    if (known === undefined) return;
    this.#entries.delete(path);
    this.#heldBytes -= known.bytes.length;
  }
}
