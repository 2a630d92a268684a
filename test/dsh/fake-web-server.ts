import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { HostContext, HostRoute } from '../../src/dsh/index.ts';
import type { FakeHost } from './fake-host.ts';

/**
 * `ctx.webServer`. Facts (host facts 4): a path has one route; the longest prefix wins; the handler gets the request whole, its URL not cut, and nothing
 * was checked; what no route covers goes to the page of the host, here 404 without a body.
 */
class FakeWebServer {
  readonly routes = new Map<string, HostRoute>();
  readonly server: Server;

  constructor() {
    this.server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://x');
      const covering = [...this.routes.values()].filter(
        ({ path }) => pathname === path || pathname.startsWith(`${path}/`),
      );
      const route = covering.toSorted((left, right) => right.path.length - left.path.length)[0];
      if (route !== undefined) return route.handler(request, response);
      response.writeHead(404).end();
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  register(route: HostRoute): () => void {
    if (this.routes.has(route.path)) throw new Error(`webserver: duplicate prefix route "${route.path}"`);
    this.routes.set(route.path, route);
    return () => void this.routes.delete(route.path);
  }
}

export interface FakeContext extends HostContext {
  readonly webServer: FakeWebServer;
  readonly logged: string[];
}

/** A context of a plugin over the services of a fake host, listening on loopback until the test ends. */
export async function createFakeContext(host: FakeHost): Promise<FakeContext> {
  const webServer = new FakeWebServer();
  webServer.server.listen(0, '127.0.0.1');
  await once(webServer.server, 'listening');
  onTestFinished(async () => {
    webServer.server.closeAllConnections();
    webServer.server.close();
    await once(webServer.server, 'close');
  });
  const logged: string[] = [];
  const log = (format: string, text: string): void => void logged.push(format.replace('%s', () => text));
  return {
    get: (name) => (name === 'webServer' ? webServer : host.get(name)),
    webServer,
    logger: { debug: log, info: log, error: log },
    logged,
  };
}

/** `ctx.connection` of 0.2.x. Facts: first the fence (403), then the signed cookie (401); undefined lets the request in. */
export function secondConnection(cookie: string): {
  requestRejection(request: IncomingMessage): 401 | 403 | undefined;
} {
  return {
    requestRejection: ({ headers }) => {
      if (!/^(127\.0\.0\.1|localhost):\d+$/.test(headers.host ?? '')) return 403;
      return headers.cookie === cookie ? undefined : 401;
    },
  };
}

/** `ctx.connection` of 0.1.x. Fact: it has channels for calls and nothing that says who calls. */
export const firstConnection = { rpc: { handle: (): void => undefined, intercept: (): void => undefined } };
