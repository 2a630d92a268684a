import { ContentHashes, type HashSource } from './content-version.ts';

/** Above this, comparing costs memory that is better spent otherwise. */
const longestContent = 64 * 1024;
/** Of the younger half; the older half is never larger. */
const halfBytes = 4 * 1024 * 1024;
/** What an entry takes beside its content and its path: two hashes, three objects around bytes and a place in the table, rounded up. */
const entryBytes = 1024;
/** A path outside of Latin-1 takes as much for each unit. */
const bytesPerPathUnit = 2;

/**
 * Hashes of small contents that were asked for lately, by the path they were read under. The content itself decides: it is compared
 * byte by byte with a copy, which takes a twentieth of the time of hashing it. Time stamps play no part, so the path needs no root.
 *
 * Takes about 8 MiB at most, whatever the number and the length of paths and contents. What was not used for as long as it takes to fill
 * a half is forgotten. Halves, as an order of use kept in a `Map` costs a walk over what was deleted from it, with each use.
 */
export class HashCache {
  #younger = new Map<string, ContentHashes>();
  #older: ReadonlyMap<string, ContentHashes> = new Map();
  #youngerBytes = 0;

  /** Number of entries; one that was used in both halves counts twice. */
  get size(): number {
    return this.#younger.size + this.#older.size;
  }

  /** `hashesOf` for the content of one path. */
  sourceFor(path: string): HashSource {
    return (bytes) => this.hashesOf(path, bytes);
  }

  hashesOf(path: string, bytes: Uint8Array): ContentHashes {
    if (bytes.length > longestContent) return new ContentHashes(bytes);
    const young = this.#younger.get(path);
    const known = young ?? this.#older.get(path);
    const isSame = known !== undefined && Buffer.compare(known.bytes, bytes) === 0;
    if (isSame && known === young) return known;
    // A copy, since the caller may change what it was given.
    const hashes = isSame ? known : new ContentHashes(new Uint8Array(bytes));
    this.#remember(path, hashes, young);
    return hashes;
  }

  #remember(path: string, hashes: ContentHashes, replaced: ContentHashes | undefined): void {
    const replacedBytes = replaced === undefined ? 0 : costOf(path, replaced);
    const added = costOf(path, hashes);
    if (this.#youngerBytes - replacedBytes + added <= halfBytes) {
      this.#youngerBytes += added - replacedBytes;
    } else {
      this.#older = this.#younger;
      this.#younger = new Map();
      this.#youngerBytes = added;
    }
    this.#younger.set(path, hashes);
  }
}

function costOf(path: string, { bytes }: ContentHashes): number {
  return entryBytes + path.length * bytesPerPathUnit + bytes.length;
}
