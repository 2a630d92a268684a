import { Buffer } from 'node:buffer';
import type { Answer } from './define-route.ts';
import type { Exchange } from './exchange.ts';
import { securityHeaders } from './security-headers.ts';

const jsonType = 'application/json; charset=utf-8';

/** Nothing this server tells may be kept by a cache: files change under it. */
const fixedHeaders: readonly string[] = [...securityHeaders, 'Cache-Control', 'no-store'];

/** Head of every answer, names and values alternating. */
export function answerHeaders(exchange: Exchange): string[] {
  return [...fixedHeaders, 'X-Request-Id', exchange.requestId];
}

/** Sends one JSON answer in one write. A 304 has no body (RFC 9110, 15.4.5). */
export function sendAnswer(exchange: Exchange, answer: Answer): void {
  const headers = answerHeaders(exchange);
  if (answer.headers !== undefined) headers.push(...answer.headers);
  if (answer.status === 304) {
    exchange.response.writeHead(304, headers).end();
    return;
  }
  const text = JSON.stringify(answer.body);
  headers.push('Content-Type', answer.contentType ?? jsonType);
  headers.push('Content-Length', String(Buffer.byteLength(text)));
  exchange.response.writeHead(answer.status, headers).end(text);
}
