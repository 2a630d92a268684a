import { isClosed } from '../capability/closed-names.ts';
import type { NativePath } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { displayPath, joinPath } from '../capability/native-path.ts';
import { stateOf } from '../capability/process-owner.ts';
import {
  isProbeName,
  isTarget,
  parseTransactionName,
  type TransactionName,
} from '../capability/transaction-name.ts';
import { entriesOf } from './directory-entries.ts';
import type { RecoveryContext } from './recovery.ts';

/** The temporary file of one transaction, found in a directory. */
export interface Leftover {
  readonly directory: NativePath;
  readonly temporaryName: string;
  readonly transaction: TransactionName;
}

export interface DirectoryFindings {
  readonly leftovers: Leftover[];
  /** Names of directories in which an exchange was tried. */
  readonly probes: string[];
  /** Raw names of directories that are open to file access. */
  readonly subdirectories: NativePath[];
}

/**
 * A transaction takes milliseconds. One whose owner cannot be seen is taken for dead after this; if it lives all the same (stopped,
 * say), it loses nothing: its next step finds other inodes and refuses.
 */
const unseenOwnerMs = 60 * 60 * 1000;
const nanosecondsPerMillisecond = 1_000_000n;

/** @throws errno of the listing */
export async function findLeftovers(held: HeldRoot, directory: NativePath): Promise<DirectoryFindings> {
  const found: DirectoryFindings = { leftovers: [], probes: [], subdirectories: [] };
  for await (const { raw, isDirectory, closed } of entriesOf(held, directory)) {
    const name = displayPath(raw);
    const transaction = parseTransactionName(name);
    if (transaction !== null) found.leftovers.push({ directory, temporaryName: name, transaction });
    else if (isDirectory && isProbeName(name)) found.probes.push(name);
    else if (isDirectory && !closed && !isClosed(name, held.confinement)) found.subdirectories.push(raw);
  }
  return found;
}

/**
 * Path of the file that the transaction was about. Null when it is not known, or when its name may not be given to a file: a name
 * that came with foreign content must not make us plant a `.git`.
 */
export async function findTarget(held: HeldRoot, leftover: Leftover): Promise<NativePath | null> {
  const { target } = leftover.transaction;
  if ('name' in target) {
    const plain = target.name !== '.' && target.name !== '..' && !isClosed(target.name, held.confinement);
    return plain ? joinPath(leftover.directory, target.name) : null;
  }
  for await (const { raw } of entriesOf(held, leftover.directory)) {
    const name = displayPath(raw);
    if (isTarget(target, name) && !isClosed(name, held.confinement)) return joinPath(leftover.directory, raw);
  }
  return null;
}

/** Why a leftover still belongs to somebody, or null when nobody runs its transaction any more. */
export async function ownerOf(
  context: RecoveryContext,
  held: HeldRoot,
  { transaction }: Leftover,
  path: NativePath,
): Promise<string | null> {
  const active = context.transactions.isActive(transaction);
  if (active !== undefined) return active ? 'This process is at work on it.' : null;
  const state = stateOf(transaction.owner);
  if (state === 'dead') return null;
  if (state === 'alive') return 'The process that made it is running.';
  const { changedNs } = await held.directory.stat(path, held.guard);
  const ageMs = context.now() - Number(changedNs / nanosecondsPerMillisecond);
  return ageMs < unseenOwnerMs
    ? 'It is recent, and its owner runs in a process namespace that cannot be seen.'
    : null;
}
