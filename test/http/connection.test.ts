import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { WorkspaceFiles } from '../../src/files/workspace-files.ts';
import { drainServer, type HttpLimits, type ServerLimits } from '../../src/http/index.ts';
import { type Deferred, deferred } from '../support/deferred.ts';
import { type RunningServer, startServer, testToken } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

const root = '/memory/root';

describe('slow, large and broken connections', () => {
  const running: RunningServer[] = [];
  const files = new Map<string, Uint8Array>();
  afterEach(async () => {
    for (const server of running.splice(0)) await server[Symbol.asyncDispose]();
    files.clear();
  });

  async function start(
    limits: Partial<HttpLimits> = {},
    serverLimits: Partial<ServerLimits> = {},
    overrides: Partial<WorkspaceFiles> = {},
  ): Promise<RunningServer> {
    const server = await startServer(
      memoryService(new Map([[root, files]]), overrides),
      { limits },
      serverLimits,
    );
    running.push(server);
    return server;
  }

  const body = JSON.stringify({ cwd: root, path: 'new.txt', content: 'x' });
  const head = (server: RunningServer, length: number | 'chunked', extra = '') =>
    [
      'PUT /api/file HTTP/1.1',
      `Host: 127.0.0.1:${server.port}`,
      `Origin: ${server.origin}`,
      `Authorization: Bearer ${testToken}`,
      'Content-Type: application/json',
      'If-None-Match: *',
      length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`,
      `${extra}\r\n`,
    ].join('\r\n');

  const declaredHalf = (server: RunningServer) => head(server, body.length) + body.slice(0, -5);
  const chunkedHalf = (server: RunningServer) => `${head(server, 'chunked')}5\r\n${body.slice(0, 5)}\r\n`;

  it('headers that never end are answered with 408 and the connection is closed', async () => {
    const server = await start({}, { headersTimeoutMs: 50, requestTimeoutMs: 60, checkIntervalMs: 10 });
    const socket = await server.connect();
    socket.write('GET /api/healthz HTTP/1.1\r\nHost: 127.0.0.1');
    const text = await everything(socket);
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(text).toContain('"code":"request_timeout"');
  });

  it.each([
    ['sends nothing', ''],
    ['sends no HTTP', 'no HTTP\r\n\r\n'],
  ])(
    'a peer that %s is refused, and cannot keep the connection by leaving its side open',
    async (_title, sent) => {
      const server = await start({}, { headersTimeoutMs: 50, requestTimeoutMs: 60, checkIntervalMs: 10 });
      const accepted = once(server.server, 'connection') as Promise<[Socket]>;
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.on('error', () => undefined);
      if (sent !== '') socket.write(sent);
      const [connection] = await accepted;
      if (!connection.closed) await once(connection, 'close');
      socket.destroy();
    },
  );

  it('a body that never ends is answered with 408, and nothing is done', async () => {
    const server = await start({ bodyTimeoutMs: 50 });
    const socket = await server.connect();
    socket.write(head(server, body.length) + body.slice(0, 10));
    const [data] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(data.toString()).toMatch(/^HTTP\/1\.1 408 /);
    expect(data.toString()).toContain('"retryable":true');
    expect(files.size).toBe(0);
  });

  it.each([
    ['with a declared length, by reset', declaredHalf, (socket: Socket) => socket.resetAndDestroy()],
    ['with a declared length, by close', declaredHalf, (socket: Socket) => socket.resume().end()],
    ['in chunks, by reset', chunkedHalf, (socket: Socket) => socket.resetAndDestroy()],
    ['in chunks, by close', chunkedHalf, (socket: Socket) => socket.resume().end()],
  ])(
    'a caller that goes away in the middle of its body (%s) changes nothing',
    async (_title, half, leave) => {
      const server = await start();
      const socket = await server.connect();
      socket.write(half(server));
      await bodyArrives(server);
      leave(socket);
      if (!socket.closed) await once(socket, 'close');
      await server.app.drain();
      expect(files.size).toBe(0);
    },
  );

  it.each([
    ['declared', (server: RunningServer) => head(server, 2000)],
    ['counted', (server: RunningServer) => `${head(server, 'chunked')}7d0\r\n${'x'.repeat(2000)}\r\n`],
  ])('a body over the bound, %s, is 413 before it is parsed', async (_title, first) => {
    const server = await start({ bodyBytes: 1000 });
    const socket = await server.connect();
    socket.write(first(server));
    const [data] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(data.toString()).toMatch(/^HTTP\/1\.1 413 /);
    expect(data.toString()).toContain('"error":"body too large"');
  });

  it('a body of exactly the bound is taken, one byte more is not', async () => {
    const server = await start({ bodyBytes: body.length });
    const headers = { 'if-none-match': '*' };
    expect((await server.send({ method: 'PUT', path: '/file', rawBody: body, headers })).status).toBe(201);
    expect((await server.send({ method: 'PUT', path: '/file', rawBody: `${body} `, headers })).status).toBe(
      413,
    );
  });

  it('a caller that sends its whole refused body before it reads still gets to read why', async () => {
    const server = await start();
    const bytes = Buffer.alloc(12 * 1024 * 1024, 'x');
    const socket = await server.connect();
    socket.pause();
    socket.write(head(server, bytes.length));
    // The write ends only when the other side has taken it all or is gone, and the refusal is long there by then.
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    const answer = await everything(socket.resume());
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('Connection: close');
    expect(answer).toContain('"code":"body_too_large"');
  });

  it('a refused small body leaves the connection usable', async () => {
    const server = await start();
    const socket = await server.connect();
    const refused = head(server, body.length).replace('application/json', 'text/plain') + body;
    socket.write(refused);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 415 /);
    socket.write(head(server, body.length) + body);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 201 /);
    socket.destroy();
  });

  it('R40: a caller that waits for 100 Continue is refused before it sends its body', async () => {
    const server = await start();
    const socket = await server.connect();
    const expects = 'Expect: 100-continue\r\n';
    socket.write(head(server, body.length, expects).replace('application/json', 'text/plain'));
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 415 /);
    await once(socket, 'close');
    const good = await server.connect();
    good.write(head(server, body.length, expects));
    expect(String((await once(good, 'data'))[0])).toMatch(/^HTTP\/1\.1 100 Continue/);
    good.write(body);
    expect(String((await once(good, 'data'))[0])).toMatch(/^HTTP\/1\.1 201 /);
    good.destroy();
  });

  it.each([
    [
      'headers over the bound',
      `GET /api/healthz?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
      'headers_too_large',
    ],
    ['no HTTP at all', 'hello\r\n\r\n', 400, 'invalid_request'],
    ['an unknown method', 'BREW /api/file HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'invalid_request'],
    [
      'two lengths',
      'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'invalid_request',
    ],
  ])('%s gets the problem body too', async (_title, text, status, code) => {
    const server = await start();
    const socket = await server.connect();
    socket.write(text);
    const answer = await everything(socket);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const problem = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));
    expect(problem).toMatchObject({ ok: false, code, status });
    expect(answer).toContain('application/problem+json');
  });

  it.each(['*', 'http://127.0.0.1/api/file', 'api/file'])(
    'the request target %j is no path',
    async (target) => {
      const server = await start();
      const socket = await server.connect();
      socket.write(
        `OPTIONS ${target} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\n\r\n`,
      );
      const answer = await everything(socket);
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(answer).toContain('"ok":false');
    },
  );

  it('a caller over its share of parallel requests gets 429, another caller does not', async () => {
    const { entered, leave, list } = heldList();
    const server = await start({ requestsPerCaller: 1 }, {}, { list });
    const first = server.send({ path: `/list?cwd=${root}` });
    await entered.promise;
    const second = await server.send({ path: `/detect?path=${root}` });
    expect([second.status, second.body?.['code'], second.headers['retry-after']]).toEqual([
      429,
      'rate_limited',
      '1',
    ]);
    const other = await server.send({
      path: `/detect?path=${root}`,
      headers: { authorization: 'Bearer guest' },
    });
    expect(other.status).toBe(200);
    leave.resolve();
    expect((await first).status).toBe(200);
    expect((await server.send({ path: `/detect?path=${root}` })).status).toBe(200);
  });

  it('the signal of a request fires when its caller goes away', async () => {
    const seen = deferred<AbortSignal>();
    const replace: WorkspaceFiles['replace'] = (_capability, _path, _bytes, _base, options) => {
      const signal = options?.signal as AbortSignal;
      seen.resolve(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    };
    const server = await start({}, {}, { replace });
    const caller = new AbortController();
    const json = { cwd: root, path: 'a.txt', content: 'x', baseSha1: '0'.repeat(40) };
    const request = server.send({ method: 'POST', path: '/file', json, signal: caller.signal });
    const signal = await seen.promise;
    expect(signal.aborted).toBe(false);
    const fired = once(signal, 'abort');
    caller.abort();
    await expect(request).rejects.toThrow();
    await fired;
  });

  it('W27: a caller that leaves its answer unread loses its connection, and the file is closed', async () => {
    const closed = deferred<void>();
    const open: WorkspaceFiles['open'] = async () => ({
      size: 1_000_000_000,
      modifiedMs: 0,
      etag: async () => '"sha256-x"',
      readAt: async (_position, length) => new Uint8Array(length),
      [Symbol.dispose]: () => closed.resolve(),
    });
    const server = await start({ stallTimeoutMs: 50, taggedBytes: 0 }, {}, { open });
    const socket = await server.connect();
    socket.pause();
    const path = `/api/raw?cwd=${root}&path=a.png`;
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${testToken}\r\n\r\n`,
    );
    await closed.promise;
    socket.destroy();
  });

  it('while draining, running requests end, new ones get 503, health tells so', async () => {
    const { entered, leave, list } = heldList();
    const server = await start({}, {}, { list });
    const first = server.send({ path: `/list?cwd=${root}` });
    await entered.promise;
    const drained = server.app.drain();
    const refused = await server.send({ path: `/list?cwd=${root}` });
    expect([refused.status, refused.body?.['code'], refused.headers.connection]).toEqual([
      503,
      'shutting_down',
      'close',
    ]);
    expect(refused.body?.['error']).toBe('API is stopping');
    expect((await server.send({ path: '/healthz' })).status).toBe(200);
    expect((await server.send({ path: '/readyz', headers: { authorization: null } })).body).toEqual({
      status: 'stopping',
    });
    leave.resolve();
    expect((await first).status).toBe(200);
    await drained;
  });

  it('drainServer ends waits after the grace, answers what was running and closes', async () => {
    const entered = deferred<void>();
    const replace: WorkspaceFiles['replace'] = (_capability, _path, _bytes, _base, options) =>
      new Promise((_resolve, reject) => {
        entered.resolve();
        options?.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true });
      });
    const server = await start({}, {}, { replace });
    const json = { cwd: root, path: 'a.txt', content: 'x', baseSha1: '0'.repeat(40) };
    const request = server.send({ method: 'POST', path: '/file', json });
    await entered.promise;
    const drained = drainServer(server.server, server.app, { graceMs: 10 });
    expect((await request).status).toBe(499);
    await drained;
    await expect(server.send({ path: '/healthz' })).rejects.toThrow(/ECONNREFUSED/);
    running.length = 0;
  });
});

/** A `list` that tells when it was entered and waits to be let go. */
function heldList(): { entered: Deferred<void>; leave: Deferred<void>; list: WorkspaceFiles['list'] } {
  const [entered, leave] = [deferred<void>(), deferred<void>()];
  const list: WorkspaceFiles['list'] = async () => {
    entered.resolve();
    await leave.promise;
    return { entries: [], cursor: null };
  };
  return { entered, leave, list };
}

/** Resolves when the server has the head of a request and the first bytes of its body. */
async function bodyArrives(server: RunningServer): Promise<void> {
  const [request] = (await once(server.server, 'request')) as [IncomingMessage];
  await once(request, 'data');
}

async function everything(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
