import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { FaultPlan } from '../../src/native/binding.ts';
import { testAddonPath } from './test-binding.ts';

export interface TransactionCall {
  /** Path of the root to open. */
  readonly root: string;
  /** Method of its DirectoryHandle, and the arguments before the guard. */
  readonly method: string;
  readonly words: readonly unknown[];
  /** Whether to pass a guard that closes Git directories, or null; absent for methods that take none. */
  readonly guarded?: boolean;
  readonly fault: FaultPlan | null;
}

export interface TransactionAnswer {
  readonly outcome?: { readonly outcome: string; readonly kept?: readonly string[] };
  readonly error?: {
    readonly code: string;
    readonly syscall?: string;
    readonly inPlace?: true;
    readonly kept?: readonly string[];
  };
  readonly trace: readonly string[];
  /** Descriptors of the process afterwards. */
  readonly descriptors: number;
}

/** A process that runs write transactions, one at a time, and may be killed or stopped in the middle of one. */
export class TransactionProcess {
  readonly #child: ChildProcess;
  #answered: ((answer: TransactionAnswer | null) => void) | undefined;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (answer: TransactionAnswer) => this.#settle(answer));
    child.on('exit', () => this.#settle(null));
  }

  static async start(): Promise<TransactionProcess> {
    const program = join(import.meta.dirname, 'transaction-child.mjs');
    const child = fork(program, [testAddonPath], { serialization: 'advanced', execArgv: [] });
    await once(child, 'message');
    return new TransactionProcess(child);
  }

  /** Runs one transaction; null when the process died in it. */
  run(call: TransactionCall): Promise<TransactionAnswer | null> {
    const answer = new Promise<TransactionAnswer | null>((resolve) => {
      this.#answered = resolve;
    });
    this.#child.send(call);
    return answer;
  }

  /** Resolves when the process stands still at its fault; false when the transaction has ended without reaching it. */
  async stopped(): Promise<boolean> {
    const deadline = Date.now() + 10_000;
    while (stateOf(this.#child.pid) !== 'T') {
      if (this.#answered === undefined) return false;
      if (Date.now() > deadline) throw new Error('the transaction neither ended nor reached its fault');
      await setTimeout(1);
    }
    return true;
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  #settle(answer: TransactionAnswer | null): void {
    this.#answered?.(answer);
    this.#answered = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}

/** The letter of proc_pid_stat(5). */
function stateOf(pid: number | undefined): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
}
