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

/** A process that runs write transactions and may be killed or stopped in the middle of one. */
export class TransactionProcess {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(): Promise<TransactionProcess> {
    const program = join(import.meta.dirname, 'transaction-child.mjs');
    const child = fork(program, [testAddonPath], { serialization: 'advanced', execArgv: [] });
    await once(child, 'message');
    return new TransactionProcess(child);
  }

  /** Runs one transaction; null when the process died in it. */
  async run(call: TransactionCall): Promise<TransactionAnswer | null> {
    this.#child.send(call);
    const died = once(this.#child, 'exit').then(() => null);
    const answered = once(this.#child, 'message').then(([answer]) => answer as TransactionAnswer);
    return await Promise.race([answered, died]);
  }

  /** Resolves when the process stands still at its fault. */
  async stopped(): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (stateOf(this.#child.pid) !== 'T') {
      if (Date.now() > deadline) throw new Error('the transaction never reached its fault');
      await setTimeout(1);
    }
  }

  resume(): void {
    this.#child.kill('SIGCONT');
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
