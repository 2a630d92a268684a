/**
 * Runs the work for all items, `atOnce` of them at a time, and answers in their order. After a failure nothing more is begun, and it is
 * thrown when what had begun has ended.
 */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  run: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) {
      if (failed) return;
      try {
        results[index] = await run(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  const failure = workers.find(({ status }) => status === 'rejected');
  if (failure !== undefined) throw (failure as PromiseRejectedResult).reason;
  return results;
}
