import { Buffer } from 'node:buffer';
import type { AuthorityError } from '../errors/index.ts';
import type { Exchange } from './exchange.ts';
import { awaitsContinue } from './expect-continue.ts';
import { describeProblem, problemType } from './problem.ts';
import { answerHeaders } from './send-answer.ts';

/** Seconds after which a retryable request may be sent again, where nothing better is known. */
const usualRetrySeconds = 1;

/** An unread body up to this size is read away, so that the connection can be used again. */
const drainedBytes = 64 * 1024;

/** How long, and for how many bytes, a caller that still sends is listened to, so that it gets to read its refusal. */
const lingerMs = 2_000;
const lingerBytes = 32 * 1024 * 1024;

/** Answers a failure. Once the head of an answer is out, the only honest thing left is to break the connection. */
export function sendError(exchange: Exchange, error: AuthorityError): void {
  const { request, response } = exchange;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (request.socket.destroyed) return;
  const problem = describeProblem(error, exchange);
  const text = JSON.stringify(problem);
  const headers = answerHeaders(exchange);
  headers.push('Content-Type', problemType, 'Content-Length', String(Buffer.byteLength(text)));
  if (problem.etag !== undefined) headers.push('ETag', problem.etag);
  if (problem.retryable && !response.hasHeader('Retry-After'))
    headers.push('Retry-After', retryAfterOf(error));
  const unread = unreadBytes(exchange);
  if (unread > drainedBytes || error.code === 'shutting_down' || awaitsContinue(request)) {
    headers.push('Connection', 'close');
  }
  response.writeHead(error.status, headers);
  if (unread <= drainedBytes || awaitsContinue(request)) response.end(text);
  else linger(exchange, text);
}

/** What the forge, or whoever else was met on the way, wants to be left alone for. */
function retryAfterOf({ details }: AuthorityError): string {
  const known = details['retryAfter'];
  return String(typeof known === 'number' && Number.isInteger(known) ? known : usualRetrySeconds);
}

/** Bytes of the body that may still arrive; a body without a declared length may be any size. */
function unreadBytes(exchange: Exchange): number {
  if (exchange.bodyRead) return 0;
  const { headers } = exchange.request;
  if (headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(headers['content-length'] ?? 0);
}

/**
 * Closing a socket that still has unread input resets it, and the reset overtakes the answer (RFC 9112, 9.6). So the answer
 * is written, what still comes is thrown away within bounds, and only then the connection ends.
 */
function linger(exchange: Exchange, text: string): void {
  const { request, response } = exchange;
  let discarded = 0;
  const timer = setTimeout(finish, lingerMs);
  function finish(): void {
    clearTimeout(timer);
    request.off('data', discard).off('end', finish).off('close', finish);
    if (!response.writableEnded) response.end();
  }
  function discard(chunk: Buffer): void {
    discarded += chunk.length;
    if (discarded > lingerBytes) finish();
  }
  response.write(text);
  request.on('data', discard).on('end', finish).on('close', finish).on('error', finish);
  request.resume();
}
