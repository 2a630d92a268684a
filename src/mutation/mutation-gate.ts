/**
 * Serialises changes: first in, first out per key within this process, and exclusive across processes through a lease that
 * the kernel drops when its holder dies. Fairness across processes is not promised (decisions 3).
 */
export interface MutationGate {
  /**
   * Runs the task when every key is free. Several keys are taken together in one order, so two callers cannot deadlock.
   * A task that has started is never stopped by abort or deadline; both only end the wait.
   * @throws `queue_full` | `deadline_exceeded` | `aborted` | `shutting_down` | `state_unavailable`, or what the task throws
   */
  run<Result>(keys: readonly GateKey[], task: () => Promise<Result>, options?: WaitOptions): Promise<Result>;
  /** Keys that have a running or waiting task. */
  pending(): readonly string[];
  depth(key: GateKey): number;
  /** Refuses new tasks, ends waits with `shutting_down`, and resolves when the running ones have ended. */
  close(): Promise<void>;
}

/**
 * `family:` keys name all checkouts of one repository by the identity of their common directory, `root:` and `file:` keys are absolute
 * canonical paths. Lock order: family, root, file; a holder never waits for an earlier class, and changes of files take no family at all.
 */
export type GateKey = `family:${string}` | `root:${string}` | `file:${string}`;

export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds to wait for the turn at most; default 30,000. */
  readonly waitMs?: number;
}
