import { Buffer } from 'node:buffer';
import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { AuthorityError, type ErrorCode } from '../errors/index.ts';
import type { App } from './app.ts';
import { deferContinue } from './expect-continue.ts';
import type { DrainOptions } from './options.ts';
import { describeProblem, problemType } from './problem.ts';
import { nextRequestId } from './request-id.ts';
import { securityHeaders } from './security-headers.ts';

/** Bounds on a connection. Bytes and milliseconds. */
export interface ServerLimits {
  /** Request line and headers together. */
  readonly headerBytes: number;
  readonly headersTimeoutMs: number;
  /** A whole request; longer than the body timeout of the application, which answers better. */
  readonly requestTimeoutMs: number;
  readonly keepAliveMs: number;
  /** How often the two timeouts are looked at. */
  readonly checkIntervalMs: number;
}

export const defaultServerLimits: ServerLimits = {
  headerBytes: 16 * 1024,
  headersTimeoutMs: 15_000,
  requestTimeoutMs: 60_000,
  keepAliveMs: 5_000,
  checkIntervalMs: 1_000,
};

/**
 * An HTTP server for the application, not yet listening: slow, oversized and malformed requests, which never reach the
 * application, get the same problem body as every other failure.
 */
export function createAppServer(app: App, limits: Partial<ServerLimits> = {}): Server {
  const bounds = { ...defaultServerLimits, ...limits };
  const server = createServer({
    maxHeaderSize: bounds.headerBytes,
    headersTimeout: bounds.headersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveMs,
    connectionsCheckingInterval: bounds.checkIntervalMs,
    // A missing Host is refused by the application's first gate, with a body.
    requireHostHeader: false,
  });
  server.on('request', app);
  server.on('checkContinue', (request, response) => {
    deferContinue(request);
    app(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuse(error, socket));
  return server;
}

/** How long answers that are already written may take to leave, and how often idle connections are looked for. */
const flushMs = 2_000;
const flushCheckMs = 20;

/** Stops listening, lets running requests end and their answers leave, then closes what is left of the connections. */
export async function drainServer(server: Server, app: App, options?: DrainOptions): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await app.drain(options);
  const closing = setInterval(() => server.closeIdleConnections(), flushCheckMs);
  const cutting = setTimeout(() => server.closeAllConnections(), flushMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(closing);
  clearTimeout(cutting);
}

/** How long a refused peer may take to read its refusal and close. */
const refusalMs = 2_000;

const codes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

function refuse(error: NodeJS.ErrnoException, socket: Duplex): void {
  // An answer that has begun cannot be followed by another; a reset connection has no reader.
  const begun = (socket as { _httpMessage?: { headersSent?: boolean } })._httpMessage?.headersSent === true;
  if (!socket.writable || begun || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const refusal = new AuthorityError(codes[error.code ?? ''] ?? 'invalid_request', { legacy: 'bad request' });
  const requestId = nextRequestId();
  const text = JSON.stringify(describeProblem(refusal, { requestId, root: null }));
  const lines = [`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`];
  for (let index = 0; index < securityHeaders.length; index += 2) {
    lines.push(`${securityHeaders[index]}: ${securityHeaders[index + 1]}`);
  }
  lines.push(`Content-Type: ${problemType}`, `Content-Length: ${Buffer.byteLength(text)}`);
  lines.push(`X-Request-Id: ${requestId}`, 'Cache-Control: no-store', 'Connection: close');
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
  // Node no longer watches a connection that it reported once, and a peer that never closes its side would keep this one.
  const cutting = setTimeout(() => socket.destroy(), refusalMs);
  socket.once('close', () => clearTimeout(cutting));
}
