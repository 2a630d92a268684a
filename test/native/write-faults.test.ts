import { constants } from 'node:os';
import { describe, expect, test } from 'vitest';
import type { FaultPlan } from '../../src/native/binding.ts';
import { contentsOf, temporaryDirectory } from '../support/room-contents.ts';
import { testBinding } from '../support/test-binding.ts';
import { newText, oldText, type TransactionCase, transactionCases } from '../support/transactions.ts';
import { openDescriptors } from './write-fixture.ts';

interface Ending {
  readonly outcome?: { readonly outcome?: string; readonly kept?: readonly string[] };
  readonly error?: { readonly code: string; readonly inPlace?: boolean; readonly kept?: readonly string[] };
  readonly trace: readonly string[];
}

/** Runs the transaction in this process, with one fault. */
async function runWith(transaction: TransactionCase, path: string, fault: FaultPlan | null): Promise<Ending> {
  const root = await testBinding.openRoot(path, {});
  const { method, words, guarded } = transaction.call(path);
  const guard = testBinding.createGuard(root, {
    closedShape: ['HEAD', 'objects', 'refs'],
    closedIdentities: [],
  });
  const run = (root as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[method];
  const given = guarded === undefined ? [...words] : [...words, guard];
  testBinding.setFault(fault);
  try {
    const outcome = (await run?.apply(root, given)) as never;
    return { outcome, trace: testBinding.faultTrace() };
  } catch (error) {
    return { error: error as never, trace: testBinding.faultTrace() };
  } finally {
    testBinding.setFault(null);
    guard.close();
    root.close();
  }
}

async function callsOf(transaction: TransactionCase): Promise<readonly string[]> {
  using room = temporaryDirectory();
  transaction.plant(room.path);
  const { error, trace } = await runWith(transaction, room.path, null);
  expect(error).toBeUndefined();
  expect(contentsOf(room.path)).toEqual({ entries: transaction.after, leftovers: {} });
  return trace;
}

const errnos = ['ENOSPC', 'EIO', 'EDQUOT', 'EPERM'] as const;

/** What an error says has happened, and what may be left, must be what is found. */
function checkRoom(path: string, { before, after }: TransactionCase, ending: Ending, moment: string): void {
  const { entries, leftovers } = contentsOf(path);
  const kept = ending.error?.kept ?? ending.outcome?.kept ?? [];
  const found = Object.keys(leftovers).map((name) => name.slice(name.lastIndexOf('/') + 1));
  expect(found.sort(), moment).toEqual([...kept].sort());
  for (const text of Object.values(leftovers)) {
    expect(
      [oldText, newText].some((whole) => whole.startsWith(text)),
      moment,
    ).toBe(true);
  }
  const changed = ending.error === undefined || ending.error.inPlace === true;
  expect(entries, moment).toEqual(changed ? after : before);
}

describe('R14, R16: whatever call fails, the error is typed, content is whole, and nothing unsaid is left', () => {
  test.each(transactionCases)('$title', async (transaction) => {
    const calls = await callsOf(transaction);
    const descriptors = openDescriptors();
    const handles = testBinding.openHandles();
    for (const errno of errnos) {
      for (const when of ['before', 'after'] as const) {
        for (let occurrence = 1; occurrence <= calls.length; occurrence++) {
          using room = temporaryDirectory();
          transaction.plant(room.path);
          const action = { errno: constants.errno[errno] };
          const ending = await runWith(transaction, room.path, { syscall: '*', occurrence, when, action });
          const moment = `${errno} ${when} ${calls[occurrence - 1]} (call ${occurrence}): ${JSON.stringify({ ...ending.error })}`;
          if (ending.error !== undefined) expect([errno, 'WA_METADATA'], moment).toContain(ending.error.code);
          checkRoom(room.path, transaction, ending, moment);
        }
      }
    }
    expect(testBinding.openHandles()).toBe(handles);
    // A displaced file is closed when the answer is on its way.
    await expect.poll(openDescriptors).toBeLessThanOrEqual(descriptors);
  });
});
