import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { BaseVersion } from '../../src/files/workspace-files.ts';
import type { FaultPlan } from '../../src/native/binding.ts';
import { testAddonPath } from './test-binding.ts';

export interface Change {
  readonly root: string;
  readonly operation: 'replace' | 'create' | 'remove';
  readonly path: string;
  readonly content?: string;
  readonly base?: BaseVersion;
  readonly fault: FaultPlan | null;
}

export interface ChangeAnswer {
  /** `ok` or the code of the refusal. */
  readonly code: string;
  readonly kept: readonly string[];
  /** Of the refusal. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly trace: readonly string[];
}

const program = join(import.meta.dirname, 'change-child.mjs');
const patienceMs = 20_000;

/** A process of its own that uses the built package, and may be killed or stopped in the middle of a change. */
export class ChangeProcess {
  readonly #child: ChildProcess;
  #ended = false;
  #answered: ((answer: ChangeAnswer | null) => void) | null = null;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message) => this.#answered?.(message as ChangeAnswer));
    child.on('exit', () => {
      this.#ended = true;
      this.#answered?.(null);
    });
  }

  static async start(): Promise<ChangeProcess> {
    const child = fork(program, [testAddonPath], { execArgv: [] });
    const started = new ChangeProcess(child);
    await once(child, 'message');
    return started;
  }

  /** Null when the process died in it. */
  run(change: Change): Promise<ChangeAnswer | null> {
    const answer = new Promise<ChangeAnswer | null>((resolve) => {
      this.#answered = resolve;
    });
    this.#child.send(change);
    return answer;
  }

  /** Waits until the process stands still at its fault. False: the change ended without reaching it. */
  async untilStopped(running: Promise<unknown>): Promise<boolean> {
    let over = false;
    void running.then(() => {
      over = true;
    });
    const deadline = Date.now() + patienceMs;
    while (!over) {
      if (this.#letter() === 'T') return true;
      if (Date.now() > deadline) throw new Error('the change neither ended nor reached its fault');
      await setTimeout(0);
    }
    return false;
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }

  /** State of the process, proc_pid_stat(5). */
  #letter(): string | undefined {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'latin1');
    return stat[stat.lastIndexOf(')') + 2];
  }
}

/** Starts the next process while the current one is used, as starting takes longer than the change. */
export class ChangeProcesses {
  #next = ChangeProcess.start();

  async take(): Promise<ChangeProcess> {
    const process = await this.#next;
    this.#next = ChangeProcess.start();
    return process;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#next)[Symbol.asyncDispose]();
  }
}
