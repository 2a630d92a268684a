import type { Transactions } from '../capability/transaction-name.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type { RecoveredFile } from './workspace-files.ts';

export interface RecoveryContext {
  readonly gate: MutationGate;
  readonly transactions: Transactions;
  /** The system's clock in milliseconds, as change times are. */
  readonly now: () => number;
}

export interface RecoverDirectoryOptions {
  readonly dryRun: boolean;
  /** Longest wait for the turn of one target. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export interface RecoveryResult {
  readonly file: RecoveredFile;
  /** False when the leftover is still there although nobody owns it. */
  readonly settled: boolean;
}
