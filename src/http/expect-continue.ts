import type { IncomingMessage, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/** Remembers that the caller waits for `100 Continue` before it sends its body (RFC 9110, 10.1.1). */
export function deferContinue(request: IncomingMessage): void {
  waiting.add(request);
}

/** Lets the caller send its body, once every gate that needs no body is passed. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (waiting.delete(request)) response.writeContinue();
}

export function awaitsContinue(request: IncomingMessage): boolean {
  return waiting.has(request);
}
