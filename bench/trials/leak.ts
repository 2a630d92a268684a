import { setTimeout as delay } from 'node:timers/promises';
import type { Cleanup } from '../harness/cleanup.ts';
import type { Growth, Scale } from '../harness/trial.ts';
import { startOurServer } from '../http/http-contest.ts';
import { fillForMixedRequests, sendMixedRequests } from '../http/mixed-requests.ts';
import { countsOf, type ProcessCounts } from '../http/process-counts.ts';

const workers = 8;
/** Closing what the last clients left behind takes the server a moment; what still moves after this time counts as it is. */
const settleMs = 10_000;
const unchangedMs = 1_000;

interface Held extends ProcessCounts {
  readonly residentBytes: number;
}

export async function measure(cleanup: Cleanup, scale: Scale): Promise<readonly Growth[]> {
  const { root, target, child } = await startOurServer(cleanup, (directory) =>
    fillForMixedRequests(directory, workers),
  );
  const send = async (requests: number): Promise<void> => {
    const budget = { left: requests };
    const sending = Array.from({ length: workers }, (_, worker) =>
      sendMixedRequests(target, root, worker, budget),
    );
    await Promise.all(sending);
  };
  const heldNow = async (): Promise<Held> => {
    const counts = await settledCounts(child.pid);
    return { ...counts, residentBytes: await settledMemory(child) };
  };

  // Code, caches and pools that every server has after its first minutes are no leak.
  await send(scale.leakRequests / 20);
  const before = await heldNow();
  await send(scale.leakRequests);
  const after = await heldNow();
  return [
    { name: 'open descriptors', before: before.descriptors, after: after.descriptors },
    { name: 'child processes', before: before.children, after: after.children },
    { name: 'resident memory', before: before.residentBytes, after: after.residentBytes },
  ];
}

/** The least of some seconds: the engine gives memory back only after it has been idle for a while. */
async function settledMemory(child: Awaited<ReturnType<typeof startOurServer>>['child']): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  const end = performance.now() + settleMs;
  while (performance.now() < end) {
    least = Math.min(least, (await child.ask<{ residentBytes: number }>({})).residentBytes);
    await delay(unchangedMs);
  }
  return least;
}

/** The counts once they have not moved for a while. */
async function settledCounts(pid: number): Promise<ProcessCounts> {
  const end = performance.now() + settleMs;
  let counts = await countsOf(pid);
  let since = performance.now();
  while (performance.now() < end && performance.now() - since < unchangedMs) {
    await delay(50);
    const next = await countsOf(pid);
    if (next.descriptors === counts.descriptors && next.children === counts.children) continue;
    counts = next;
    since = performance.now();
  }
  return counts;
}
