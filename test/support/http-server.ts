import { once } from 'node:events';
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type RequestListener,
  type Server,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import {
  type App,
  type AppOptions,
  createApp,
  createAppServer,
  type ServerLimits,
} from '../../src/http/index.ts';
import type { Service } from '../../src/service.ts';

/** A running server and the ways tests talk to it. */
export interface RunningServer extends AsyncDisposable {
  readonly app: App;
  readonly server: Server;
  readonly port: number;
  readonly origin: string;
  /** Sends one request; a header given as null is left out. Paths are below `/api` unless they begin with `//`. */
  send(request: TestRequest): Promise<TestAnswer>;
  /** A raw connection, for what no HTTP client would send. */
  connect(): Promise<Socket>;
}

export interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly json?: unknown;
  readonly rawBody?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly signal?: AbortSignal;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The parsed body, or null when it is no JSON. */
  readonly body: Record<string, unknown> | null;
}

export const testToken = 'test-token-of-constant-length-0123456789';

const silent = { debug: () => undefined, info: () => undefined, error: () => undefined };

/** Accepts `Authorization: Bearer <testToken>` as an operator and `... guest` as a caller who is none. */
const testAuthenticate: AppOptions['authenticate'] = (request) => {
  const { authorization } = request.headers;
  if (authorization === `Bearer ${testToken}`) return { subject: 'operator', operator: true };
  return authorization === 'Bearer guest' ? { subject: 'guest', operator: false } : null;
};

/** Options, or a function of the port for those that must name it. */
export type StartOptions = Partial<AppOptions> | ((port: number) => Partial<AppOptions>);

export async function startServer(
  service: Service,
  options: StartOptions = {},
  serverLimits: Partial<ServerLimits> = {},
): Promise<RunningServer> {
  const listener: RequestListener = (request, response) => app(request, response);
  const server = createAppServer(Object.assign(listener, { drain: () => app.drain() }), serverLimits);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const given = typeof options === 'function' ? options(port) : options;
  const app = createApp(service, { authenticate: testAuthenticate, logger: silent, ...given });
  const origin = `http://127.0.0.1:${port}`;
  return {
    app,
    server,
    port,
    origin,
    send: (request) => send(port, origin, request),
    connect: async () => {
      const socket = connect(port, '127.0.0.1');
      // A reset is how some of these connections are meant to end; who waits for data still sees it close.
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function send(port: number, origin: string, test: TestRequest): Promise<TestAnswer> {
  const { method = 'GET', path, json, rawBody, signal } = test;
  const changes = method !== 'GET' && method !== 'HEAD';
  const body = json === undefined ? rawBody : JSON.stringify(json);
  const headers: OutgoingHttpHeaders = {
    authorization: `Bearer ${testToken}`,
    ...(changes ? { origin, 'content-type': 'application/json' } : {}),
    ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
  };
  for (const [name, value] of Object.entries(test.headers ?? {})) {
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = value as string | string[];
  }
  const outgoing = httpRequest({
    port,
    host: '127.0.0.1',
    method,
    path: path.startsWith('//') ? path.slice(1) : `/api${path}`,
    headers,
    agent: false,
    ...(signal === undefined ? {} : { signal }),
  });
  // After the answer, a caller that still sends may see the connection end.
  outgoing.on('error', () => undefined);
  outgoing.end(body);
  const [incoming] = await once(outgoing, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString('utf8');
  return { status: incoming.statusCode, headers: incoming.headers, bytes, text, body: parse(text) };
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
}
