/** How far a step of Git has come, counted in what the step counts: files, objects. */
export interface GitProgress {
  readonly done: number;
  readonly total: number;
}

/** `Updating files:  12% (12/100)`, with what progress.c adds behind it. */
const shape = /^[A-Z][A-Za-z ]*: +\d+% \((\d+)\/(\d+)\)/;

/** Longer lines are none of progress. */
const longestLine = 256;

/**
 * Takes what Git says of its progress out of its standard error (progress.c: a line for each per cent, ended by a carriage return), so that
 * what it says of a failure is not pushed out by it.
 */
export class ProgressLines {
  readonly #tell: (progress: GitProgress) => void;
  #open = '';

  constructor(tell: (progress: GitProgress) => void) {
    this.#tell = tell;
  }

  /** Gives what is not progress. */
  push(chunk: Buffer): Buffer {
    const lines = (this.#open + chunk.toString('latin1')).split(/(?<=[\r\n])/);
    const last = lines.at(-1) ?? '';
    this.#open = /[\r\n]$/.test(last) || last.length > longestLine ? '' : (lines.pop() ?? '');
    return Buffer.from(lines.filter((line) => !this.#isProgress(line)).join(''), 'latin1');
  }

  /** Gives the line that was not ended. */
  end(): Buffer {
    const rest = this.#open;
    this.#open = '';
    return Buffer.from(this.#isProgress(rest) ? '' : rest, 'latin1');
  }

  #isProgress(line: string): boolean {
    const [, done, total] = shape.exec(line) ?? [];
    if (done === undefined || total === undefined) return false;
    this.#tell({ done: Number(done), total: Number(total) });
    return true;
  }
}
