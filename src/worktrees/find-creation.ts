import { AuthorityError } from '../errors/index.ts';
import type { CreateContext } from './create-context.ts';
import type { ManagedHome } from './managed-home.ts';
import { type CreationResult, conflict, ReceiptStore } from './receipts.ts';
import { readJournal } from './recover-creations.ts';
import { ensureRegistered } from './registration.ts';

/**
 * What is known of a transaction; null when nothing is, and it may begin. Recovery has been run.
 * @throws `transaction_retired` (details.result) | `transaction_pending` | `transaction_conflict` (details.reason)
 */
export async function findCreation(
  context: CreateContext,
  home: ManagedHome,
  txId: string,
  fingerprint: string,
): Promise<CreationResult | null> {
  const receipts = new ReceiptStore(home);
  const receipt = await receipts.find(txId);
  if (receipt === null) return assertNotPending(home, txId, fingerprint);
  if (receipt.fingerprint !== fingerprint) throw conflict('transaction-request-mismatch');
  const state = await receipts.stateOf(receipt);
  const { result } = receipt;
  if (state === 'replaced') throw conflict('transaction-target-replaced');
  if (state === 'gone')
    throw new AuthorityError('transaction_retired', { details: { txState: 'retired', result } });
  const workspaceId = await ensureRegistered(context, result.path, result.branch);
  if (workspaceId === result.workspaceId) return result;
  // Somebody took the row away; the worktree is there and has another one now.
  const renewed = { ...result, workspaceId };
  await receipts.write({ ...receipt, result: renewed });
  return renewed;
}

async function assertNotPending(home: ManagedHome, txId: string, fingerprint: string): Promise<null> {
  const journal = await readJournal(home, txId);
  if (journal === null) return null;
  if (journal === 'invalid') throw conflict('duplicate-transaction');
  if (journal.fingerprint !== fingerprint) throw conflict('transaction-request-mismatch');
  throw new AuthorityError('transaction_pending', { details: { path: `${home.path}/${journal.plan.leaf}` } });
}
