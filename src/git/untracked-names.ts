import { isReservedPath } from './reserved-path.ts';

/** Names that Git lists as neither tracked nor ignored. Latin-1, so that they stand for exactly Git's bytes. */
export interface UntrackedNames {
  /** In Git's order, at most as many as asked for. */
  readonly files: readonly string[];
  /** Directories of repositories of their own, without the slash at the end; at most as many as asked for. */
  readonly repositories: readonly string[];
  /** How many names more there are. */
  readonly omitted: number;
}

const nul = 0;
const slash = '/';

/** Reads `ls-files -z --others` as it comes; what is over the limit is counted and not kept. */
export class UntrackedReader {
  readonly #limit: number;
  readonly #files: string[] = [];
  readonly #repositories: string[] = [];
  #omitted = 0;
  /** The beginning of a name that is not whole yet. */
  #carried = '';

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(nul); end !== -1; end = chunk.indexOf(nul, start)) {
      this.#name(this.#carried + chunk.toString('latin1', start, end));
      this.#carried = '';
      start = end + 1;
    }
    this.#carried += chunk.toString('latin1', start);
  }

  /** Null when the last name is not whole. */
  finish(): UntrackedNames | null {
    if (this.#carried !== '') return null;
    return { files: this.#files, repositories: this.#repositories, omitted: this.#omitted };
  }

  #name(name: string): void {
    if (isReservedPath(name)) return;
    const isRepository = name.endsWith(slash);
    const names = isRepository ? this.#repositories : this.#files;
    if (names.length === this.#limit) this.#omitted += 1;
    else names.push(isRepository ? name.slice(0, -1) : name);
  }
}
