import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

/** Small files are collected, so that each does not cost a system call. */
const bufferBytes = 1024 * 1024;

export interface WrittenContent {
  readonly offset: number;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
}

/** Appends contents, one after the other, to a new file. Holds a mebibyte, and what it is handed, in memory. */
export class ContentWriter {
  readonly #file: FileHandle;
  readonly #onGrowth: (bytes: number) => void;
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #position = 0;
  #start = 0;
  #hash: Hash = createHash('sha256');

  /** `onGrowth` is told the length before it is reached; what it throws ends the writing. */
  constructor(file: FileHandle, onGrowth: (bytes: number) => void) {
    this.#file = file;
    this.#onGrowth = onGrowth;
  }

  get bytes(): number {
    return this.#position;
  }

  begin(): void {
    this.#start = this.#position;
    this.#hash = createHash('sha256');
  }

  /** The caller leaves the bytes alone from now on. */
  async append(bytes: Uint8Array): Promise<void> {
    this.#onGrowth(this.#position + bytes.length);
    this.#hash.update(bytes);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#position += bytes.length;
    if (this.#waitingBytes >= bufferBytes) await this.#flush();
  }

  end(): WrittenContent {
    return { offset: this.#start, size: this.#position - this.#start, sha256: this.#hash.digest('hex') };
  }

  /** Resolves when all of it is on the disk. */
  async sync(): Promise<void> {
    await this.#flush();
    await this.#file.datasync();
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#file.write(bytes, done);
      done += bytesWritten;
    }
  }
}
