import type { Exchange } from './exchange.ts';

/**
 * Resolves when more may be written, or when nothing may any more: the caller is gone, read nothing for `stallMs`, or the signal fired. Then
 * the connection is broken.
 */
export function untilWritable(
  exchange: Exchange,
  stallMs: number,
  signal: AbortSignal = exchange.signal,
): Promise<void> {
  const { response } = exchange;
  return new Promise((resolve) => {
    // Settles by itself: a pipelined answer that has no socket yet tells nobody that it was destroyed.
    const giveUp = () => {
      response.destroy();
      settle();
    };
    const timer = setTimeout(giveUp, stallMs);
    function settle(): void {
      clearTimeout(timer);
      response.off('drain', settle).off('close', settle);
      signal.removeEventListener('abort', giveUp);
      resolve();
    }
    response.on('drain', settle).on('close', settle);
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
  });
}
