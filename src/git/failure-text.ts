import { type GitProgress, ProgressLines } from './progress-lines.ts';

/** What goes beyond is dropped. */
const limitBytes = 4096;

/** The beginning of standard error, for logs and to tell failures apart, without what it says of progress. */
export class FailureText {
  readonly #progress: ProgressLines | null;
  readonly #chunks: Buffer[] = [];
  #room = limitBytes;

  constructor(onProgress: ((progress: GitProgress) => void) | undefined) {
    this.#progress = onProgress === undefined ? null : new ProgressLines(onProgress);
  }

  push(chunk: Buffer): void {
    this.#keep(this.#progress?.push(chunk) ?? chunk);
  }

  end(): Buffer {
    if (this.#progress !== null) this.#keep(this.#progress.end());
    return Buffer.concat(this.#chunks);
  }

  #keep(chunk: Buffer): void {
    if (this.#room === 0 || chunk.length === 0) return;
    const kept = chunk.subarray(0, this.#room);
    this.#room -= kept.length;
    this.#chunks.push(kept);
  }
}
