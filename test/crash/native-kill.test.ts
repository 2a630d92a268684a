import { describe, expect, test } from 'vitest';
import { contentsOf, temporaryDirectory } from '../support/room-contents.ts';
import { type TransactionAnswer, TransactionProcess } from '../support/transaction-process.ts';
import { newText, oldText, type TransactionCase, transactionCases } from '../support/transactions.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';

/** The system calls that the undisturbed transaction makes. */
async function callsOf(transaction: TransactionCase): Promise<readonly string[]> {
  using room = temporaryDirectory();
  await using process = await TransactionProcess.start();
  transaction.plant(room.path);
  expect(contentsOf(room.path).entries).toEqual(transaction.before);
  const answer = (await process.run({ ...transaction.call(room.path), fault: null })) as TransactionAnswer;
  expect(answer.error).toBeUndefined();
  expect(contentsOf(room.path)).toEqual({ entries: transaction.after, leftovers: {} });
  return answer.trace;
}

/** After a call is before the next one, but for what the process has in mind; so only the long mode tries both. */
function momentsOf(calls: readonly string[]): readonly { occurrence: number; when: 'before' | 'after' }[] {
  const last = calls.length;
  return calls.flatMap((_, index) => {
    const occurrence = index + 1;
    const before = { occurrence, when: 'before' as const };
    return long || occurrence === last ? [before, { occurrence, when: 'after' as const }] : [before];
  });
}

describe('R14, R15: a process killed before or after any system call leaves old or new content whole', () => {
  test.each(transactionCases)('$title', async (transaction) => {
    const calls = await callsOf(transaction);
    expect(calls.length).toBeGreaterThan(4);
    for (const { occurrence, when } of momentsOf(calls)) {
      using room = temporaryDirectory();
      await using process = await TransactionProcess.start();
      transaction.plant(room.path);
      const fault = { syscall: '*', occurrence, when, action: 'kill' } as const;
      const answer = await process.run({ ...transaction.call(room.path), fault });
      const moment = `${when} ${calls[occurrence - 1]} (call ${occurrence})`;
      // A call that fails by itself, as looking for what must not be there, has no moment after it.
      if (answer !== null) expect(when, moment).toBe('after');
      checkRoom(room.path, transaction, moment);
    }
  });
});

/** Nothing but the state before, the state after, or the name moved aside with its content whole beside. */
function checkRoom(root: string, { title, before, after }: TransactionCase, moment: string): void {
  const { entries, leftovers } = contentsOf(root);
  expect([before, after], moment).toContainEqual(entries);
  const texts = Object.values(leftovers);
  expect(texts.length, moment).toBeLessThanOrEqual(1);
  // A new file has no name until it is complete.
  if (title === 'create') expect(texts, moment).toEqual([]);
  for (const text of texts) expect([oldText, newText], moment).toContain(text);
  // Old content is under the name, or set aside, until the change is complete.
  if (title === 'remove' && texts.length > 0) expect(entries, moment).toEqual(after);
}
