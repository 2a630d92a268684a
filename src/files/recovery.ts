import type { FileCapability } from '../capability/file-capability.ts';
import type { Transactions } from '../capability/transaction-name.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type { RecoveredFile } from './workspace-files.ts';

export interface RecoveryContext {
  readonly gate: MutationGate;
  readonly transactions: Transactions;
  /** The system's clock in milliseconds, as change times are. */
  readonly now: () => number;
}

/** What recovery asks of a root. The state directory, which is nobody's workspace, is recovered alike. */
export type RecoverableRoot = Pick<FileCapability, 'held' | 'assertCurrent'>;

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
