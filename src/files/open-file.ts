import { createHash } from 'node:crypto';
import type { BeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { modifiedMsOf, sizeOf } from '../capability/file-facts.ts';
import { followLinksToFile } from '../capability/follow-links.ts';
import type { FileHandle } from '../capability/handles.ts';
import { refusalOf } from '../capability/refusal.ts';
import { etagOfDigest } from './content-version.ts';
import type { EtagCache } from './etag-cache.ts';
import { assertInPlace, underCapability } from './operation.ts';
import type { OpenFile } from './workspace-files.ts';

/** Large enough that hashing, not the hop to the pool, takes the time; small enough to be cheap beside others. */
const chunkBytes = 1024 * 1024;

export function openFile(capability: FileCapability, path: BeneathPath, etags: EtagCache): Promise<OpenFile> {
  return underCapability(capability, async ({ held }) => {
    const file = await followLinksToFile(held, path, (canonical) =>
      held.directory.openFile(canonical, held.guard),
    );
    try {
      await assertInPlace(held);
      return new StreamedFile(file, etags);
    } catch (error) {
      file.close();
      throw error;
    }
  });
}

class StreamedFile implements OpenFile {
  readonly size: number;
  readonly modifiedMs: number;
  readonly #file: FileHandle;
  readonly #facts: BigInt64Array;
  readonly #etags: EtagCache;
  #etag: Promise<string> | null = null;

  constructor(file: FileHandle, etags: EtagCache) {
    this.#file = file;
    this.#facts = file.facts();
    this.#etags = etags;
    this.size = sizeOf(this.#facts);
    this.modifiedMs = modifiedMsOf(this.#facts);
  }

  etag(): Promise<string> {
    this.#etag ??= this.#hash();
    return this.#etag;
  }

  async readAt(position: number, length: number): Promise<Uint8Array> {
    try {
      return await this.#file.readAt(position, length);
    } catch (error) {
      throw refusalOf(error);
    }
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }

  async #hash(): Promise<string> {
    const known = this.#etags.get(this.#facts);
    if (known !== undefined) return known;
    const startedMs = this.#etags.now();
    const hash = createHash('sha256');
    for (let position = 0; ; ) {
      const bytes = await this.readAt(position, chunkBytes);
      if (bytes.length === 0) break;
      hash.update(bytes);
      position += bytes.length;
    }
    const etag = etagOfDigest(hash.digest('base64url'));
    try {
      this.#etags.remember(etag, this.#facts, this.#file.facts(), startedMs);
    } catch (error) {
      throw refusalOf(error);
    }
    return etag;
  }
}
