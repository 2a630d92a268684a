import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { testAddonPath } from '../support/test-binding.ts';
import { temporaryDirectory } from './room.ts';

export interface ReadOutcome {
  readonly content?: string;
  /** Whether it was read without the pool. */
  readonly warm?: boolean;
  readonly code?: string;
  readonly syscall?: string;
}

/** A process that reads one path through a guard whenever it is asked; it may live under another user or in a sandbox. */
export class GuardedReader {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>, lines: Interface) {
    this.#child = child;
    this.#lines = lines[Symbol.asyncIterator]();
  }

  /**
   * @param warmable whether the read can be made without the pool; then it is repeated until it is
   * @param prefix the program that starts the reader, with its arguments: `setpriv`, `unshare`, ...
   */
  static start(
    root: string,
    path: string,
    warmable: 'warm' | 'cold',
    prefix: readonly string[] = [],
  ): GuardedReader {
    // Copied to where any user may read them.
    const place = temporaryDirectory();
    chmodSync(place, 0o755);
    copyFileSync(testAddonPath, join(place, 'addon.node'));
    copyFileSync(join(import.meta.dirname, 'guarded-reads.mjs'), join(place, 'guarded-reads.mjs'));
    const call = [
      process.execPath,
      join(place, 'guarded-reads.mjs'),
      join(place, 'addon.node'),
      root,
      path,
      warmable,
    ];
    const [program, ...args] = [...prefix, ...call] as [string, ...string[]];
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    return new GuardedReader(child, createInterface({ input: child.stdout }));
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** What the reader did at its start, or when it was asked last. */
  async outcome(): Promise<ReadOutcome> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error('the reader has ended');
    return JSON.parse(value);
  }

  read(): Promise<ReadOutcome> {
    this.#child.stdin.write('\n');
    return this.outcome();
  }
}

export const asNobody: readonly string[] = [
  'setpriv',
  '--reuid',
  '65534',
  '--regid',
  '65534',
  '--clear-groups',
];
