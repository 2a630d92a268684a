import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { AuthorityError, type ErrorCode, errorCodes } from '../../src/errors/index.ts';
import type { AuditEvent, HttpOptions, ServerLimits } from '../../src/http/index.ts';
import type { Service } from '../../src/service.ts';
import { type RunningServer, startServer, testToken } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

const root = '/memory/root';
const foreign = '/home/somebody/private';

describe('what a failure looks like', () => {
  const running: RunningServer[] = [];
  afterEach(async () => {
    for (const server of running.splice(0)) await server[Symbol.asyncDispose]();
  });

  async function start(
    service: Service,
    options: Partial<HttpOptions> = {},
    limits: Partial<ServerLimits> = {},
  ): Promise<RunningServer> {
    const server = await startServer(service, options, limits);
    running.push(server);
    return server;
  }

  const failing = (error: unknown) =>
    memoryService(new Map([[root, new Map()]]), { list: () => Promise.reject(error) });
  const list = `/list?cwd=${root}`;

  it.each(Object.keys(errorCodes) as ErrorCode[])('R41: %s gets its status and one body', async (code) => {
    const server = await start(failing(new AuthorityError(code, { details: { size: 1n, name: 'x' } })));
    const answer = await server.send({ path: list });
    const row: { status: number; title: string; retryable?: boolean; legacy?: string } = errorCodes[code];
    expect(answer.status).toBe(row.status);
    expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    expect(answer.headers['retry-after']).toBe(row.retryable === true ? '1' : undefined);
    expect(answer.body).toEqual({
      ok: false,
      code,
      error: row.legacy ?? code,
      message: row.title,
      type: `urn:workspace-authority:problem:${code}`,
      title: row.title,
      detail: row.title,
      status: row.status,
      requestId: answer.headers['x-request-id'],
      retryable: row.retryable === true,
      details: { size: '1', name: 'x' },
    });
  });

  it.each([
    [
      'an error with a path and a stack',
      Object.assign(new Error(`ENOENT: open '${foreign}'`), { path: foreign }),
    ],
    ['an error of another realm', { name: 'Error', message: foreign, stack: `Error\n    at ${foreign}:1:1` }],
    ['a string', foreign],
    ['nothing', undefined],
    ['null', null],
  ])('R41: %s becomes internal_error and tells nothing', async (_title, error) => {
    const server = await start(failing(error));
    const answer = await server.send({ path: list });
    expect([answer.status, answer.body?.['code'], answer.body?.['details']]).toEqual([
      500,
      'internal_error',
      undefined,
    ]);
    expect(answer.text).not.toContain('private');
    expect(answer.text).not.toMatch(/\bat /);
  });

  it.each([
    [{ path: foreign }, {}],
    [{ path: root }, { path: root }],
    [{ path: `${root}/a/b` }, { path: `${root}/a/b` }],
    [{ path: `${root}-secret/x` }, {}],
    [{ note: `cannot open '${foreign}'` }, {}],
    [{ note: `cannot open (${foreign})` }, {}],
    [{ note: `path=${foreign}` }, {}],
    [{ list: [foreign, 'a', `${root}/b`] }, { list: ['a', `${root}/b`] }],
    [{ deep: { deeper: { path: foreign, code: 'EIO' } } }, { deep: { deeper: { code: 'EIO' } } }],
    [{ cause: new Error(foreign) }, {}],
    [
      { relative: 'a/b', ratio: '1/2', etag: '"sha256-a/b"' },
      { relative: 'a/b', ratio: '1/2', etag: '"sha256-a/b"' },
    ],
    [{ run: () => foreign, symbol: Symbol(foreign), nan: Number.NaN }, {}],
  ])('R41: of the details %j only what is inside the root is shown', async (details, shown) => {
    const server = await start(failing(new AuthorityError('storage_failed', { details })));
    const answer = await server.send({ path: list });
    expect(answer.body?.['details'] ?? {}).toEqual(shown);
    expect(answer.text).not.toContain('private');
  });

  it('R41: before a selector is authorised no absolute path is shown at all', async () => {
    const service = memoryService(new Map());
    const authorize = () =>
      Promise.reject(
        new AuthorityError('workspace_not_authorized', { details: { root: '/somewhere', fact: 'row' } }),
      );
    const server = await start({ ...service, authority: { ...service.authority, authorize } });
    const answer = await server.send({ path: list });
    expect([answer.status, answer.body?.['details']]).toEqual([403, { fact: 'row' }]);
  });

  it('R41: a failure in the middle of a stream breaks the connection instead of looking whole', async () => {
    const open = async () => ({
      size: 1_000_000,
      modifiedMs: 0,
      etag: async () => '"sha256-x"',
      readAt: async (position: number) => {
        if (position > 0) throw new AuthorityError('storage_failed');
        return new Uint8Array(1000);
      },
      [Symbol.dispose]: () => undefined,
    });
    const server = await start(memoryService(new Map([[root, new Map()]]), { open }));
    await expect(server.send({ path: `/raw?cwd=${root}&path=a.png` })).rejects.toThrow(/aborted|hang up/);
  });

  it('R41: a file that became shorter while it was sent breaks the connection', async () => {
    let disposed = false;
    const open = async () => ({
      size: 1_000_000,
      modifiedMs: 0,
      etag: async () => '"sha256-x"',
      readAt: async (position: number) => new Uint8Array(position === 0 ? 1000 : 0),
      [Symbol.dispose]: () => {
        disposed = true;
      },
    });
    const service = memoryService(new Map([[root, new Map()]]), { open });
    const server = await start(service, {}, { keepAliveMs: 600_000 });
    // A connection that would be kept alive: only its end can tell the caller that the rest will not come.
    const socket = await server.connect();
    const path = `/api/raw?cwd=${root}&path=a.png`;
    const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${testToken}\r\n\r\n`;
    socket.resume().write(head);
    await once(socket, 'close');
    expect(disposed).toBe(true);
  });
});

describe('a capability', () => {
  const read = (path: string) => ({ path: `/file?cwd=${root}&path=${path}` });
  const save = { cwd: root, path: 'a.txt', content: 'x', baseSha1: '0'.repeat(40) };
  it.each([
    ['a read', read('a.txt')],
    ['a missing file', read('none')],
    ['a path that is refused', read('../x')],
    ['a conflict', { method: 'POST', path: '/file', json: save }],
    [
      'a version that is not named',
      { method: 'POST', path: '/file', json: { ...save, baseSha1: undefined } },
    ],
    ['a download', { path: `/raw?cwd=${root}&path=a.txt&download=1` }],
    ['a cursor that is refused', { path: `/list?cwd=${root}&limit=99999` }],
  ])('R06: is let go after %s', async (_title, request) => {
    const service = memoryService(new Map([[root, new Map([['a.txt', Buffer.from('a')]])]]));
    let held = 0;
    const authorize: typeof service.authority.authorize = async (selector) => {
      const capability = await service.authority.authorize(selector);
      held += 1;
      return Object.assign(capability, {
        [Symbol.asyncDispose]: async () => {
          held -= 1;
        },
      });
    };
    await using server = await startServer({ ...service, authority: { ...service.authority, authorize } });
    await server.send(request);
    await server.app.drain();
    expect(held).toBe(0);
  });
});

describe('what is written down', () => {
  const content = 'content-that-is-nobody-elses-business';

  async function record(
    act: (server: RunningServer) => Promise<unknown>,
    service = memoryService(new Map([[root, new Map([['a.txt', Buffer.from('a')]])]])),
  ): Promise<{
    lines: { level: string; facts: Record<string, unknown>; message: string }[];
    audit: AuditEvent[];
  }> {
    const lines: { level: string; facts: Record<string, unknown>; message: string }[] = [];
    const audit: AuditEvent[] = [];
    const write = (level: string) => (facts: object, message: string) =>
      lines.push({ level, facts: { ...facts }, message });
    const logger = { debug: write('debug'), info: write('info'), error: write('error') };
    const sink = { record: (event: AuditEvent) => audit.push(event) };
    const server = await startServer(service, { logger, audit: sink });
    try {
      await act(server);
      await server.app.drain();
    } finally {
      await server[Symbol.asyncDispose]();
    }
    return { lines, audit };
  }

  it('reads are noted only for debugging, and in no audit', async () => {
    const { lines, audit } = await record((server) => server.send({ path: `/file?cwd=${root}&path=a.txt` }));
    expect(lines.map((line) => line.level)).toEqual(['debug']);
    expect(audit).toEqual([]);
  });

  it('a change is noted with who, what and where, never with its content or credentials', async () => {
    const json = { cwd: root, path: 'b.txt', content };
    const headers = { 'if-none-match': '*', cookie: 'session=secret-cookie' };
    const { lines, audit } = await record((server) =>
      server.send({ method: 'PUT', path: '/file', json, headers }),
    );
    expect(audit).toEqual([
      {
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        requestId: expect.any(String),
        subject: 'operator',
        route: 'PUT /file',
        status: 201,
        code: null,
        root,
        path: 'b.txt',
      },
    ]);
    expect(lines).toMatchObject([{ level: 'info', message: 'changed' }]);
    const written = JSON.stringify([lines, audit]);
    for (const secret of [content, testToken, 'secret-cookie']) expect(written).not.toContain(secret);
  });

  it('a refusal is noted without the foreign path it named', async () => {
    const { lines, audit } = await record(async (server) => {
      await server.send({ path: `/file?cwd=${foreign}&path=a.txt` });
      await server.send({ path: `/nowhere${foreign}?q=${foreign}` });
      await server.send({ path: `/file?cwd=${root}&path=a.txt`, headers: { host: 'private.example' } });
      await server.send({ path: `/file?cwd=${root}&path=${foreign}` });
    });
    expect(audit.map((event) => [event.route, event.status, event.code, event.path])).toEqual([
      ['GET /file', 403, 'workspace_not_authorized', null],
      [null, 404, 'route_unknown', null],
      [null, 403, 'host_not_allowed', null],
      ['GET /file', 403, 'path_outside_workspace', null],
    ]);
    expect(JSON.stringify([lines, audit])).not.toContain('private');
  });

  it('a failure of the server is an error line that carries the cause under the request id the caller saw', async () => {
    const cause = new Error('the disk said no');
    const service = memoryService(new Map([[root, new Map()]]), { list: () => Promise.reject(cause) });
    let requestId: unknown;
    const { lines } = await record(async (server) => {
      requestId = (await server.send({ path: `/list?cwd=${root}` })).body?.['requestId'];
    }, service);
    expect(lines).toMatchObject([
      { level: 'error', facts: { requestId, err: cause, code: 'internal_error' } },
    ]);
  });

  it('a caller that went away is noted as 499', async () => {
    const service = memoryService(new Map([[root, new Map()]]), {
      list: async () => ({ entries: [], cursor: null }),
      replace: (_capability, _path, _bytes, _base, options) =>
        new Promise((_resolve, reject) => {
          options?.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true });
        }),
    });
    const { audit } = await record(async (server) => {
      const caller = new AbortController();
      const json = { cwd: root, path: 'a', content: '', baseSha1: '0'.repeat(40) };
      server.server.once('request', () => setImmediate(() => caller.abort()));
      await server
        .send({ method: 'POST', path: '/file', json, signal: caller.signal })
        .catch(() => undefined);
    }, service);
    expect(audit).toMatchObject([{ route: 'POST /file', status: 499, code: 'aborted' }]);
  });
});
