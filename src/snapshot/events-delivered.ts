/**
 * Resolves when every event that the kernel had queued at the call has been heard. The event loop polls its descriptors between two of its
 * check phases, and reads the queue of inotify(7) to its end when it does.
 */
export async function eventsDelivered(): Promise<void> {
  for (let phase = 0; phase < 2; phase += 1) await new Promise((resolve) => setImmediate(resolve));
}
