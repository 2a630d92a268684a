import { setTimeout as delay } from 'node:timers/promises';

/** The coarsest file system clock in use ticks every two seconds (FAT). */
const settleMs = 2_500;

/**
 * Waits until no later change can carry the same time as those made so far. Until then an unchanged time stamp proves nothing, and
 * what asks it has to look closer.
 */
export async function settle(): Promise<void> {
  await delay(settleMs);
}
