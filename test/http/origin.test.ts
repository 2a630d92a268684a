import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer, testToken } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

const root = '/memory/root';
const proxied = 'tunnel.example';

describe('where a request may come from', () => {
  let running: RunningServer;
  beforeAll(async () => {
    const service = memoryService(new Map([[root, new Map([['a.txt', Buffer.from('a')]])]]));
    const options = {
      allowedHosts: [proxied, 'Named.Example:8443'],
      trustedProxyHosts: [proxied],
      limits: { failedAuthentications: 10_000 },
    };
    running = await startServer(service, options);
  });
  afterAll(() => running[Symbol.asyncDispose]());

  const read = (headers: Record<string, string | string[] | null>) =>
    running.send({ path: `/file?cwd=${root}&path=a.txt`, headers });
  const change = (headers: Record<string, string | string[] | null>) =>
    running.send({ method: 'POST', path: '/mkdir', json: { cwd: root, path: 'd' }, headers });
  const here = (host: string) => host.replace('PORT', String(running.port));

  it.each([
    ['127.0.0.1:PORT', 200],
    ['localhost:PORT', 200],
    ['LOCALHOST:PORT', 200],
    ['[::1]:PORT', 200],
    ['tunnel.example', 200],
    ['Named.Example:8443', 200],
    ['named.example:8443', 200],
    ['named.example', 403],
    ['tunnel.example:PORT', 403],
    ['tunnel.example.', 403],
    ['localhost', 403],
    ['localhost:1', 403],
    ['203.0.113.9:PORT', 403],
    ['127.0.0.2:PORT', 403],
    ['evil.localhost:PORT', 403],
    ['127.0.0.1:PORT@evil.example', 403],
  ])('W48: Host %j is answered with %i', async (host, status) => {
    const answer = await read({ host: here(host) });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body?.['code']).toBe('host_not_allowed');
  });

  it.each([
    ['an empty Host', 'GET /api/healthz HTTP/1.1\r\nHost:\r\n\r\n'],
    ['no Host at all', 'GET /api/healthz HTTP/1.1\r\n\r\n'],
    ['two Host lines', 'GET /api/healthz HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: 127.0.0.1:PORT\r\n\r\n'],
    ['HTTP/1.0 without Host', 'GET /api/healthz HTTP/1.0\r\n\r\n'],
  ])('W48: %s is refused with the problem body', async (_title, head) => {
    const socket = await running.connect();
    socket.write(here(head));
    const [data] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(data.toString()).toMatch(/^HTTP\/1\.1 403 /);
    expect(data.toString()).toContain('"code":"host_not_allowed"');
  });

  it.each([
    [{}, 200],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': ['same-origin', 'cross-site'] }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'http://127.0.0.1:PORT' }, 200],
    [{ origin: 'http://127.0.0.1:PORT', 'sec-fetch-site': 'none' }, 403],
  ])('W48: a read with %j is answered with %i', async (headers, status) => {
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? here(value) : value]),
    );
    expect((await read(sent)).status).toBe(status);
  });

  it.each([
    ['own origin', { origin: 'http://127.0.0.1:PORT' }, 201],
    ['own origin and metadata', { origin: 'http://127.0.0.1:PORT', 'sec-fetch-site': 'same-origin' }, 201],
    ['no origin, right token', { origin: null }, 403],
    ['no origin, other site', { origin: null, 'sec-fetch-site': 'same-site' }, 403],
    ['opaque origin', { origin: 'null' }, 403],
    ['another loopback name', { origin: 'http://localhost:PORT' }, 403],
    ['another port', { origin: 'http://127.0.0.1:5173' }, 403],
    ['another scheme', { origin: 'https://127.0.0.1:PORT' }, 403],
    ['a longer name', { origin: 'http://127.0.0.1:PORT.evil.example' }, 403],
    ['a path in the origin', { origin: 'http://127.0.0.1:PORT/' }, 403],
    ['own origin, cross-site', { origin: 'http://127.0.0.1:PORT', 'sec-fetch-site': 'cross-site' }, 403],
    ['own origin by navigation', { origin: 'http://127.0.0.1:PORT', 'sec-fetch-site': 'none' }, 403],
    ['proxy speaks for a trusted host', forwarded(proxied, { 'x-forwarded-host': proxied }), 201],
    ['proxy passes the trusted Host', { ...forwarded(proxied, {}), host: proxied }, 201],
    [
      'proxy speaks for another host',
      forwarded('other.example', { 'x-forwarded-host': 'other.example' }),
      403,
    ],
    ['proxy contradicts itself', forwarded(proxied, { 'x-forwarded-host': `${proxied}, evil.example` }), 403],
    ['proxy repeats itself', forwarded(proxied, { 'x-forwarded-host': [proxied, proxied] }), 403],
    [
      'two kinds of forwarded header',
      forwarded(proxied, { 'x-forwarded-host': proxied, forwarded: 'host=x' }),
      403,
    ],
    [
      'scheme of the proxy differs',
      { ...forwarded(proxied, {}), 'x-forwarded-proto': 'http', host: proxied },
      403,
    ],
  ] as [string, Record<string, string | string[] | null>, number][])(
    'R40, W49: a change with %s is answered as it should',
    async (_title, headers, status) => {
      const sent = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [
          name,
          typeof value === 'string' ? here(value) : value,
        ]),
      );
      const answer = await change(sent);
      expect([answer.status, answer.body?.['ok']]).toEqual([status, status === 201]);
    },
  );

  it('R40: no answer ever allows another origin', async () => {
    for (const method of ['OPTIONS', 'GET', 'POST', 'PUT', 'DELETE']) {
      const answer = await running.send({
        method,
        path: '/file',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      });
      const names = Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'));
      expect([method, answer.status >= 400, names]).toEqual([method, true, []]);
    }
  });

  it('R01: two Authorization lines are no credentials', async () => {
    const answer = await read({ authorization: [`Bearer ${testToken}`, `Bearer ${testToken}`] });
    expect([answer.status, answer.body?.['code']]).toEqual([401, 'authentication_required']);
  });
});

function forwarded(
  host: string,
  headers: Record<string, string | string[]>,
): Record<string, string | string[]> {
  return { origin: `https://${host}`, 'x-forwarded-proto': 'https', ...headers };
}
