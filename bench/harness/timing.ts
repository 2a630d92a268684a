import { setImmediate as turn } from 'node:timers/promises';

/** Operations between two looks at the clock: a look costs about 50 ns, which a batch of fast reads must not feel. */
const batch = 16;
const nsPerMs = 1e6;

/** One operation after the other; a new one begins when the last has resolved. */
export function oneAtATime(operation: () => Promise<unknown>): (budgetMs: number) => Promise<number[]> {
  return (budgetMs) =>
    untilSpent(budgetMs, async () => {
      const start = performance.now();
      for (let done = 0; done < batch; done += 1) await operation();
      return (performance.now() - start) / batch;
    });
}

/** The same for slow operations: every one is timed. */
export function eachTimed(operation: () => Promise<unknown>): (budgetMs: number) => Promise<number[]> {
  return (budgetMs) =>
    untilSpent(budgetMs, async () => {
      const start = performance.now();
      await operation();
      return performance.now() - start;
    });
}

export function synchronously(operation: () => unknown): (budgetMs: number) => Promise<number[]> {
  return (budgetMs) =>
    untilSpent(budgetMs, () => {
      const start = performance.now();
      for (let done = 0; done < batch; done += 1) operation();
      return (performance.now() - start) / batch;
    });
}

/** `width` operations begun together; the next ones begin when all have resolved. */
export function together(
  width: number,
  operation: (index: number) => Promise<unknown>,
): (budgetMs: number) => Promise<number[]> {
  return (budgetMs) =>
    untilSpent(budgetMs, async () => {
      const running: Promise<unknown>[] = [];
      const start = performance.now();
      for (let index = 0; index < width; index += 1) running.push(operation(index));
      await Promise.all(running);
      return (performance.now() - start) / width;
    });
}

/**
 * Repeats a timed batch until the budget is spent, three times at least. Between batches the event loop turns once, so that
 * finalizers of both sides' buffers run: code that only ever awaits resolved promises would keep them waiting.
 */
async function untilSpent(budgetMs: number, timedBatch: () => number | Promise<number>): Promise<number[]> {
  const figures: number[] = [];
  const end = performance.now() + budgetMs;
  while (figures.length < 3 || performance.now() < end) {
    figures.push((await timedBatch()) * nsPerMs);
    await turn();
  }
  return figures;
}
