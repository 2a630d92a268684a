import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contentsOf, temporaryDirectory } from '../support/room-contents.ts';
import { type TransactionAnswer, TransactionProcess } from '../support/transaction-process.ts';
import { transactionCases } from '../support/transactions.ts';
import { foreignActs } from './foreign-acts.ts';

const disturbed = transactionCases.filter(({ title }) => title === 'replace' || title === 'remove');

/*
 * The transaction is stopped before each of its system calls in turn, and somebody else acts while it stands still. So each
 * act meets each moment once, without a race that has to be won.
 */
describe.each(disturbed)('R13, R14: $title, stopped before each system call', (transaction) => {
  test.each(foreignActs)('$title', async ({ act, check, ...endings }) => {
    await using process = await TransactionProcess.start();
    const seen = new Set<string>();
    for (let occurrence = 1; ; occurrence++) {
      using base = temporaryDirectory();
      const root = join(base.path, 'root');
      mkdirSync(root);
      transaction.plant(root);
      const fault = { syscall: '*', occurrence, when: 'before', action: 'stop' } as const;
      const running = process.run({ ...transaction.call(root), fault });
      if (!(await process.stopped())) {
        expect(occurrence).toBeGreaterThan(20);
        expect([...seen].sort()).toEqual([...endings[transaction.title as 'replace' | 'remove']].sort());
        return;
      }
      const finish = await act(base.path);
      process.resume();
      const answer = (await running) as TransactionAnswer;
      seen.add(endingOf(answer));
      const moment = `before ${answer.trace[occurrence - 1]} (call ${occurrence}): ${endingOf(answer)}`;
      try {
        await finish?.();
        check(base.path, answer);
        checkLeftovers(base.path, answer);
      } catch (error) {
        throw new Error(moment, { cause: error });
      }
    }
  });
});

/** Whatever is left of the transaction has been said, and holds what somebody may want back. */
function checkLeftovers(base: string, { outcome, error }: TransactionAnswer): void {
  const found = Object.keys(contentsOf(base).leftovers).map((path) => path.slice(path.lastIndexOf('/') + 1));
  expect(found.sort()).toEqual([...(outcome?.kept ?? error?.kept ?? [])].sort());
}

function endingOf({ outcome, error }: TransactionAnswer): string {
  const kept = outcome?.kept ?? error?.kept ?? [];
  return `${outcome?.outcome ?? error?.code}${kept.length > 0 ? '+kept' : ''}`;
}
