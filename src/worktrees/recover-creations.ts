import { currentProcess, type ProcessOwner, stateOf } from '../capability/process-owner.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { isAuthorityError } from '../errors/index.ts';
import { completeCreation } from './complete-creation.ts';
import type { CreateContext } from './create-context.ts';
import { type Journal, journalName, parseJournal, txIdOfJournal } from './journal.ts';
import type { ManagedHome } from './managed-home.ts';
import { releaseAbandoned } from './pull-head.ts';
import { undoCreation } from './undo-creation.ts';

/** What became of a creation that had begun and not ended. */
export interface RecoveredCreation {
  readonly txId: string;
  /** Where its worktree is or was to be; null where the journal does not say. */
  readonly path: string | null;
  readonly action: 'completed' | 'rolled-back' | 'left';
  /** Why it was left, or what of it was: one short phrase or the code of an error. Null: nothing was. */
  readonly reason: string | null;
}

/**
 * Finishes or takes back what dead processes left, below one directory of managed worktrees. The caller holds the turn of the family, so no
 * creation of this service runs. What belongs to another process that lives, or to one that nobody can see, is not touched.
 */
export async function recoverCreations(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
): Promise<readonly RecoveredCreation[]> {
  if (context.pulls !== null) await releaseAbandoned(main, context.git);
  const found: RecoveredCreation[] = [];
  for (const txId of await pendingIn(home)) found.push(await recoverOne(context, main, home, txId));
  return found;
}

/** What a recovery would do now, by the journals alone; changes nothing, and so may find later that it must leave what this calls settled. */
export async function foreseeCreations(home: ManagedHome): Promise<readonly RecoveredCreation[]> {
  const found: RecoveredCreation[] = [];
  for (const txId of await pendingIn(home)) {
    const journal = await readJournal(home, txId);
    if (journal === null) continue;
    if (journal === 'invalid') {
      found.push({ txId, path: null, action: 'left', reason: 'journal-invalid' });
      continue;
    }
    const path = `${home.path}/${journal.plan.leaf}`;
    const owner = stateOfOwner(journal.owner);
    if (owner !== 'dead') found.push({ txId, path, action: 'left', reason: `transaction-owner-${owner}` });
    else {
      const isMade = journal.phase === 'added' && (await isThere(home, journal));
      found.push({ txId, path, action: isMade ? 'completed' : 'rolled-back', reason: null });
    }
  }
  return found;
}

/** Transactions that have begun and not ended. */
export async function pendingIn({ records }: ManagedHome): Promise<readonly string[]> {
  return (await records.names()).flatMap((name) => txIdOfJournal(name) ?? []);
}

/** Null when there is none; `invalid` when it cannot be read or is not of this transaction. */
export async function readJournal(home: ManagedHome, txId: string): Promise<Journal | 'invalid' | null> {
  try {
    const record = await home.records.read(journalName(txId));
    if (record === null) return null;
    const journal = parseJournal(record.bytes);
    return journal.txId === txId ? journal : 'invalid';
  } catch {
    return 'invalid';
  }
}

async function recoverOne(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  txId: string,
): Promise<RecoveredCreation> {
  const journal = await readJournal(home, txId);
  if (journal === null) return { txId, path: null, action: 'rolled-back', reason: null };
  if (journal === 'invalid') return { txId, path: null, action: 'left', reason: 'journal-invalid' };
  const path = `${home.path}/${journal.plan.leaf}`;
  const owner = stateOfOwner(journal.owner);
  if (owner !== 'dead') return { txId, path, action: 'left', reason: `transaction-owner-${owner}` };
  try {
    if (journal.phase === 'added' && (await isThere(home, journal))) {
      await completeCreation(context, main, home, journal);
      return { txId, path, action: 'completed', reason: null };
    }
    const left = await undoCreation(context, main, home, journal);
    const isKept = left !== null && (await readJournal(home, txId)) !== null;
    return { txId, path, action: isKept ? 'left' : 'rolled-back', reason: left };
  } catch (error) {
    if (!isAuthorityError(error)) return { txId, path, action: 'left', reason: 'storage-failed' };
    const reason = error.code === 'creation_unproven' ? String(error.details['reason']) : error.code;
    return { txId, path, action: 'left', reason };
  }
}

async function isThere({ directory }: ManagedHome, { plan }: Journal): Promise<boolean> {
  try {
    await directory.stat(plan.leaf, null);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Within this process, the turn of the family says that the transaction has ended. */
function stateOfOwner(owner: ProcessOwner): 'dead' | 'live' | 'unknown' {
  const self = currentProcess();
  if (owner.pid === self.pid && owner.startTime === self.startTime && owner.boot === self.boot) return 'dead';
  const state = stateOf(owner);
  if (state === 'foreign') return 'unknown';
  return state === 'alive' ? 'live' : 'dead';
}
