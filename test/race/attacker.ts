import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Compiles the attacker into `directory` and returns its path. It is C, so that it swaps faster than the reader reads. */
export function buildAttacker(directory: string): string {
  const program = join(directory, 'attacker');
  execFileSync('cc', ['-O2', '-o', program, join(import.meta.dirname, 'attacker.c')]);
  return program;
}

export type Attack =
  | readonly ['exchange', string, string]
  | readonly ['bounce', string, string]
  | readonly ['flood', string, string];

export class Attacker {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessWithoutNullStreams, lines: AsyncIterator<string>) {
    this.#child = child;
    this.#lines = lines;
  }

  /** Starts attacking below `directory`; resolves when the attack is running. */
  static async start(program: string, directory: string, attack: Attack): Promise<Attacker> {
    const child = spawn(program, [directory, ...attack]);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.value !== 'ready') throw new Error('the attacker did not start');
    return new Attacker(child, lines);
  }

  /** Ends the attack and tells how many names it changed. */
  async stop(): Promise<number> {
    const ended = once(this.#child, 'exit');
    this.#child.stdin.end();
    const last = await this.#lines.next();
    const [code] = await ended;
    if (code !== 0) throw new Error(`the attacker failed with ${code}`);
    return Number(last.value);
  }
}
