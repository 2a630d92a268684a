import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createStandaloneAuthentication,
  type HttpLimits,
  type StandaloneAuthentication,
} from '../../src/http/index.ts';
import { type RunningServer, startServer, type TestAnswer } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

const root = '/memory/root';
const path = `/file?cwd=${root}&path=a.txt`;
const firstToken = 'first-token-0123456789-0123456789-0123456789';
const secondToken = 'second-token-123456789-0123456789-0123456789';

describe('authentication of a server that stands alone', () => {
  const running: RunningServer[] = [];
  let token: string;
  let authentication: StandaloneAuthentication;
  let server: RunningServer;

  async function start(limits: Partial<HttpLimits> = {}): Promise<RunningServer> {
    const { authenticate, signIn } = authentication;
    const service = memoryService(new Map([[root, new Map([['a.txt', Buffer.from('a')]])]]));
    const started = await startServer(service, { authenticate, signIn, limits });
    running.push(started);
    return started;
  }

  beforeEach(async () => {
    token = firstToken;
    authentication = createStandaloneAuthentication({ current: () => token });
    server = await start();
  });
  afterEach(async () => {
    for (const started of running.splice(0)) await started[Symbol.asyncDispose]();
  });

  const withToken = (value: string) => server.send({ path, headers: { authorization: `Bearer ${value}` } });
  const withCookie = (cookie: string, to = server) =>
    to.send({ path, headers: { authorization: null, cookie } });
  const signIn = (code: string) =>
    server.send({
      path: `/sign-in?code=${code}`,
      headers: { authorization: null, 'sec-fetch-site': 'none' },
    });

  it.each([
    ['the token', `Bearer ${firstToken}`, 200],
    ['the token, scheme in lower case', `bearer ${firstToken}`, 200],
    ['no header', null, 401],
    ['an empty header', '', 401],
    ['the scheme alone', 'Bearer', 401],
    ['the token without scheme', firstToken, 401],
    ['another scheme', `Basic ${firstToken}`, 401],
    ['a token of the same length', `Bearer ${firstToken.toUpperCase()}`, 401],
    ['a longer token', `Bearer ${firstToken}0`, 401],
    ['a shorter token', `Bearer ${firstToken.slice(1)}`, 401],
    ['a token with a tail', `Bearer ${firstToken} x`, 401],
  ])('R01: %s is answered with %s', async (_title, authorization, status) => {
    const answer = await server.send({ path, headers: { authorization } });
    expect(answer.status).toBe(status);
    if (status !== 401) return;
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="workspace-authority"');
    expect([answer.body?.['code'], answer.body?.['ok']]).toEqual(['authentication_required', false]);
  });

  it('R01: a token in the query is no credential and is refused as a parameter', async () => {
    const answer = await server.send({
      path: `${path}&token=${firstToken}`,
      headers: { authorization: null },
    });
    expect(answer.status).toBe(401);
    expect(
      (await server.send({ path: `${path}&token=x`, headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(400);
  });

  it('R01: a rotated token works at once and the old one fails at once', async () => {
    expect((await withToken(firstToken)).status).toBe(200);
    token = secondToken;
    expect((await withToken(firstToken)).status).toBe(401);
    expect((await withToken(secondToken)).status).toBe(200);
  });

  it('R01: an empty token in force lets nobody in', async () => {
    token = '';
    expect((await server.send({ path, headers: { authorization: 'Bearer ' } })).status).toBe(401);
    expect((await withToken(firstToken)).status).toBe(401);
  });

  it('R01: the one-time URL gives a cookie that scripts and other sites cannot use', async () => {
    const answer = await signIn(authentication.issueCode());
    expect([answer.status, answer.headers.location]).toEqual([303, '/api/workspaces']);
    const [cookie] = answer.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(new RegExp(`^workspace-authority-${server.port}=[\\w-]{43}; `));
    expect(cookie).toMatch(/; HttpOnly(;|$)/);
    expect(cookie).toMatch(/; SameSite=Strict(;|$)/);
    expect(cookie).toMatch(/; Path=\/(;|$)/);
    expect((await withCookie(pairOf(answer))).status).toBe(200);
  });

  it('R01: a one-time URL works once, also for two readers at the same time', async () => {
    const code = authentication.issueCode();
    const answers = await Promise.all([signIn(code), signIn(code), signIn(code)]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([303, 401, 401]);
    expect((await signIn(code)).status).toBe(401);
  });

  it('R01: a one-time URL followed from another site signs nobody in', async () => {
    const code = authentication.issueCode();
    const headers = { authorization: null, 'sec-fetch-site': 'cross-site' };
    expect((await server.send({ path: `/sign-in?code=${code}`, headers })).status).toBe(403);
  });

  it('R01: an expired code and an expired session are refused', async () => {
    authentication = createStandaloneAuthentication({ current: () => token }, { codeMs: 0 });
    server = await start();
    expect((await signIn(authentication.issueCode())).status).toBe(401);
    authentication = createStandaloneAuthentication({ current: () => token }, { sessionMs: 0 });
    server = await start();
    const answer = await signIn(authentication.issueCode());
    expect([answer.status, (await withCookie(pairOf(answer))).status]).toEqual([303, 401]);
  });

  it('R01: sessions end with the token they were opened under', async () => {
    const cookie = pairOf(await signIn(authentication.issueCode()));
    token = secondToken;
    expect((await withCookie(cookie)).status).toBe(401);
  });

  it("R01: two servers on one host do not read each other's cookie", async () => {
    const other = await start();
    const cookie = pairOf(await signIn(authentication.issueCode()));
    expect((await withCookie(cookie, other)).status).toBe(401);
    expect((await withCookie(`x=y; ${cookie}; z="`)).status).toBe(200);
  });

  it('R01: a wrong bearer token is not excused by a good cookie', async () => {
    const cookie = pairOf(await signIn(authentication.issueCode()));
    const headers = { cookie, authorization: 'Bearer wrong' };
    expect((await server.send({ path, headers })).status).toBe(401);
  });

  it('R40: a cookie does not make a cross-site change acceptable', async () => {
    const cookie = pairOf(await signIn(authentication.issueCode()));
    const headers = { cookie, authorization: null, 'sec-fetch-site': 'cross-site' };
    const change = { method: 'POST', path: '/mkdir', json: { cwd: root, path: 'd' } };
    expect((await server.send({ ...change, headers })).status).toBe(403);
    expect(
      (await server.send({ ...change, headers: { ...headers, 'sec-fetch-site': 'same-origin' } })).status,
    ).toBe(201);
  });

  it('R01: failed authentications get 429 with the time to wait, right ones still pass', async () => {
    server = await start({ failedAuthentications: 5 });
    const statuses: number[] = [];
    for (let count = 0; count < 8; count += 1) statuses.push((await withToken('wrong')).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    const answer = await withToken('wrong');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers['ratelimit']).toMatch(/r=0/);
    expect(answer.headers['ratelimit-policy']).toMatch(/q=5/);
    expect([answer.body?.['code'], answer.body?.['retryable']]).toEqual(['rate_limited', true]);
    expect((await signIn('no-such-code')).status).toBe(429);
    expect((await withToken(firstToken)).status).toBe(200);
  });

  it('R01: guessing at /readyz counts like guessing anywhere', async () => {
    server = await start({ failedAuthentications: 2 });
    const guess = () => server.send({ path: '/readyz', headers: { authorization: 'Bearer wrong' } });
    const anonymous = () => server.send({ path: '/readyz', headers: { authorization: null } });
    expect([(await guess()).status, (await guess()).status, (await guess()).status]).toEqual([200, 200, 429]);
    expect((await anonymous()).status).toBe(200);
  });

  it('R01: an authentication that fails itself refuses, and says nothing of why', async () => {
    authentication = {
      ...authentication,
      authenticate: () => Promise.reject(new Error('directory server at /secret/place is down')),
    };
    server = await start();
    const answer = await withToken(firstToken);
    expect([answer.status, answer.body?.['code']]).toEqual([500, 'internal_error']);
    expect(answer.text).not.toContain('secret');
  });
});

describe('what needs an operator', () => {
  let server: RunningServer;
  const withoutRegistry = memoryService(new Map());
  afterAll(() => server[Symbol.asyncDispose]());

  it.each([
    ['GET', '/explain?path=/x', 200],
    ['POST', '/workspaces', 501],
    ['DELETE', '/workspaces', 501],
    ['POST', '/workspaces/confirm', 501],
  ])(
    'R01: %s %s is refused to a guest before its body is looked at',
    async (method, path, operatorStatus) => {
      server ??= await startServer(withoutRegistry);
      const changes = method === 'GET' ? {} : { json: { path: '/x' } };
      const guest = { authorization: 'Bearer guest' };
      const refused = await server.send({ method, path, ...changes, headers: guest });
      expect([refused.status, refused.body?.['code']]).toEqual([403, 'operator_required']);
      if (method !== 'GET') {
        const malformed = await server.send({ method, path, rawBody: '{', headers: guest });
        expect(malformed.body?.['code']).toBe('operator_required');
      }
      expect((await server.send({ method, path, ...changes })).status).toBe(operatorStatus);
    },
  );

  it('R01: /readyz tells a guest and a stranger only the status, an operator what it stands on', async () => {
    server ??= await startServer(withoutRegistry);
    for (const authorization of ['Bearer guest', null]) {
      const answer = await server.send({ path: '/readyz', headers: { authorization } });
      expect([answer.status, answer.body]).toEqual([200, { status: 'ready' }]);
    }
    expect((await server.send({ path: '/readyz' })).body).toMatchObject({
      status: 'ready',
      kernel: { openat2: true },
      prover: { active: 'git' },
      roots: [],
    });
  });

  it('R01: health needs no credentials but a valid Host, under the base and at the root', async () => {
    server ??= await startServer(withoutRegistry);
    for (const path of ['/healthz', '//healthz', '/readyz', '//readyz']) {
      expect((await server.send({ path, headers: { authorization: null } })).status).toBe(200);
      expect((await server.send({ path, headers: { host: 'rebound.example' } })).status).toBe(403);
      expect((await server.send({ path, method: 'POST', json: {} })).status).toBe(405);
    }
  });
});

function pairOf(answer: TestAnswer): string {
  return answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
}
