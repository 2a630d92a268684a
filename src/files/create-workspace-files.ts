import { Transactions } from '../capability/transaction-name.ts';
import { createMutationGate } from '../mutation/gate.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import { createFile } from './create-file.ts';
import { EtagCache } from './etag-cache.ts';
import { HashCache } from './hash-cache.ts';
import { LastCommits } from './last-commits.ts';
import { listDirectory } from './list-directory.ts';
import { makeDirectory } from './make-directory.ts';
import { openFile } from './open-file.ts';
import type { ChangeContext } from './operation.ts';
import { readFile } from './read-file.ts';
import { recoverRoot } from './recover-root.ts';
import { removeDirectory } from './remove-directory.ts';
import { removeFile } from './remove-file.ts';
import { renameEntry } from './rename-entry.ts';
import { replaceFile } from './replace-file.ts';
import { Sweeper } from './sweeper.ts';
import type { WorkspaceFiles } from './workspace-files.ts';

export interface WorkspaceFilesOptions {
  readonly gate: MutationGate;
  /** Bytes of a file that is read whole or changed, unless a read names its own limit. Default 1 MiB. */
  readonly contentLimit?: number;
  /** The system's clock in milliseconds, which change times of files are compared with. */
  readonly now?: () => number;
}

/** The limit of the wire contract (1.7): what its clients edit. */
const defaultContentLimit = 1024 * 1024;

export function createWorkspaceFiles(options: WorkspaceFilesOptions): WorkspaceFiles {
  const { gate, contentLimit = defaultContentLimit, now = Date.now } = options;
  const transactions = new Transactions();
  const recovery = { gate, transactions, now };
  const sweeper = new Sweeper(recovery);
  const largeRemovals = createMutationGate({ leases: null });
  const hashes = new HashCache();
  const lastCommits = new LastCommits();
  const context: ChangeContext = {
    gate,
    transactions,
    sweeper,
    hashes,
    lastCommits,
    contentLimit,
    largeRemovals,
  };
  const etags = new EtagCache(now);
  return {
    read: (capability, path, { limit = contentLimit } = {}) => readFile(capability, path, limit, hashes),
    open: (capability, path) => openFile(capability, path, etags),
    list: (capability, path, request = {}) => listDirectory(capability, path, request, sweeper),
    replace: (capability, path, bytes, base, change = {}) =>
      replaceFile(context, capability, path, bytes, base, change),
    create: (capability, path, bytes, change = {}) => createFile(context, capability, path, bytes, change),
    remove: (capability, path, base, change = {}) => removeFile(context, capability, path, base, change),
    rename: (capability, from, to, change = {}) => renameEntry(context, capability, from, to, change),
    makeDirectory: (capability, path, change = {}) => makeDirectory(context, capability, path, change),
    removeDirectory: (capability, path, change = {}) => removeDirectory(context, capability, path, change),
    recover: (capability, recover = {}) => recoverRoot(recovery, capability, recover),
  };
}
