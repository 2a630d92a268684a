import type { Exchange } from './exchange.ts';

/**
 * Gives up the connection when nothing of what waits to be sent on it leaves for `stallMs`. The socket's timer begins anew whenever
 * some of it leaves, and becomes the server's keep-alive timer once the answer is out (node:http).
 */
export function boundReading({ request, response }: Exchange, stallMs: number): void {
  if (!response.writableFinished && !response.destroyed) request.socket.setTimeout(stallMs);
}

/**
 * Resolves when the answer has left or its connection has ended, so that what a caller leaves unread counts as one of its requests. A
 * pipelined answer waits for those before it and has no socket until then, so the end of the connection is told by the signal.
 */
export async function untilRead(exchange: Exchange, stallMs: number): Promise<void> {
  const { response, signal } = exchange;
  if (response.writableFinished || response.destroyed || signal.aborted) return;
  boundReading(exchange, stallMs);
  await new Promise<void>((resolve) => {
    function settle(): void {
      response.off('finish', settle).off('close', settle);
      signal.removeEventListener('abort', settle);
      resolve();
    }
    response.on('finish', settle).on('close', settle);
    signal.addEventListener('abort', settle);
  });
}
