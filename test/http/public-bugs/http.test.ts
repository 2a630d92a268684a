import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type AppOptions, createApp, createRouter } from '../../../src/http/index.ts';
import type { HttpLab } from '../../support/http-lab.ts';
import { startServer, type TestAnswer, type TestRequest, testToken } from '../../support/http-server.ts';
import { ask, change, get, runBugTable } from './bug-table.ts';

const otherOrigin = 'same_origin_required';

runBugTable('http', 'R40', {
  scenarios: {
    'http-origin-null': async (lab) => {
      await refused(lab, { origin: 'null' }, 403, otherOrigin);
    },
    'http-origin-suffix': async (lab) => {
      await refused(lab, { origin: `${lab.server.origin}.evil.test` }, 403, otherOrigin);
      await refused(lab, { origin: `http://evil.test/${lab.server.origin}` }, 403, otherOrigin);
      await refused(lab, { origin: `http://127.0.0.1:${lab.server.port}@evil.test` }, 403, otherOrigin);
    },
    'http-origin-port': async (lab) => {
      await refused(lab, { origin: 'http://localhost:5173' }, 403, otherOrigin);
      await refused(lab, { origin: 'http://127.0.0.1' }, 403, otherOrigin);
    },
    'http-text-plain': async (lab) => {
      await refused(lab, { 'content-type': 'text/plain' }, 415, 'json_required');
    },
    'http-form-types': async (lab) => {
      for (const type of [
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        null,
        'application/json-patch+json',
        'text/plain; application/json',
        'application/json; charset=latin1',
      ]) {
        await refused(lab, { 'content-type': type }, 415, 'json_required');
      }
      await accepted(lab, { 'content-type': 'APPLICATION/JSON; charset=utf-8' });
    },
    'http-sec-fetch': async (lab) => {
      for (const site of ['cross-site', 'same-site', 'none']) {
        await refused(lab, { origin: null, 'sec-fetch-site': site }, 403, otherOrigin);
        await refused(lab, { 'sec-fetch-site': site }, 403, otherOrigin);
      }
      await refused(lab, { origin: null, 'sec-fetch-mode': 'no-cors' }, 403, otherOrigin);
      await refused(lab, { origin: null, authorization: null, cookie: 'session=x' }, 403, otherOrigin);
    },
    'http-no-origin-cli': async (lab) => {
      await refused(lab, { origin: null, authorization: null }, 403, otherOrigin);
      await refused(lab, { origin: null }, 403, otherOrigin);
      await refused(lab, { authorization: null }, 401, 'authentication_required');
      await accepted(lab, {});
    },
    'http-ws-sse-origin': async (lab) => {
      const headers = { origin: 'https://evil.test', accept: 'text/event-stream' };
      const stream = await ask(lab, { ...get('/events', {}), headers }, 403, otherOrigin);
      expect(stream.headers['content-type']).toContain('application/problem+json');
      const upgrade = { ...headers, connection: 'Upgrade', upgrade: 'websocket' };
      await ask(lab, { ...get('/list', { cwd: lab.plain }), headers: upgrade }, 403, otherOrigin);
    },
    'http-get-mutation': async (lab) => {
      const { headers } = await ask(lab, { path: '/rename' }, 405, 'method_not_allowed');
      expect(headers.allow).toBe('POST');
      await ask(lab, { path: '/worktrees/x/remove' }, 404, 'route_unknown');
      const override = { 'x-http-method-override': 'DELETE' };
      const json = { cwd: lab.plain, path: 'a.txt' };
      await ask(lab, change('POST', '/directory', json, override), 405, 'method_not_allowed');
      await ask(lab, change('POST', '/file', json, override), 400, 'invalid_request');
      expect(await readFile(join(lab.plain, 'a.txt'), 'utf8')).toBe('one\n');
    },
    'http-public-bind-no-auth': async (lab) => {
      const options = {} as AppOptions;
      expect(() => createApp(lab.service, options)).toThrow(TypeError);
      expect(() => createRouter(lab.service, options)).toThrow(TypeError);
    },
    'http-error-as-200': async (lab) => {
      for (const request of [
        get('/file', { cwd: lab.plain, path: 'missing' }),
        get('/raw', { cwd: lab.plain, path: 'missing.png' }),
        get('/list', { cwd: lab.plain, path: 'missing' }),
      ]) {
        const answer = await ask(lab, request, 404, 'not_found');
        expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
        expect(answer.body).toMatchObject({
          type: expect.any(String),
          title: expect.any(String),
          detail: expect.any(String),
          status: 404,
          requestId: expect.any(String),
        });
      }
    },
    'http-health-auth': async (lab) => {
      const headers = { authorization: null };
      expect((await ask(lab, { path: '//healthz', headers }, 200)).body).toEqual({ status: 'alive' });
      expect((await ask(lab, { path: '//readyz', headers }, 200)).body).toEqual({ status: 'ready' });
      const request = { ...get('/list', { cwd: lab.plain }), headers };
      const answer = await ask(lab, request, 401, 'authentication_required');
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    },
    'http-token-in-query': async (lab) => {
      const parameters = { cwd: lab.plain, path: 'a.txt', download: '1', token: testToken };
      const answer = await ask(lab, get('/raw', parameters), 400, 'invalid_request');
      expect([answer.text.includes(testToken), answer.headers['referrer-policy']]).toEqual([
        false,
        'no-referrer',
      ]);
    },
    'http-unknown-error': async (lab) => {
      const secret = 'https://user:secret@host/';
      const lines: unknown[] = [];
      const note = (facts: object) => lines.push(facts);
      const failing = { ...lab.service.files, list: () => Promise.reject(new Error(`fatal: ${secret}`)) };
      const logger = { debug: note, info: note, error: note };
      await using server = await startServer({ ...lab.service, files: failing }, { logger });
      const answer = await server.send(get('/list', { cwd: lab.plain }));
      expect([answer.status, answer.body?.['code']]).toEqual([500, 'internal_error']);
      expect(answer.text).not.toContain('secret');
      expect(lines).toMatchObject([
        { requestId: answer.body?.['requestId'], err: { message: `fatal: ${secret}` } },
      ]);
    },
    'http-rate-limit': async (lab) => {
      await using server = await startServer(lab.service);
      const headers = { authorization: 'Bearer wrong' };
      const answers: TestAnswer[] = [];
      for (let count = 0; count < 200; count += 1)
        answers.push(await server.send({ path: '/workspaces', headers }));
      const limited = answers.filter((answer) => answer.status === 429);
      expect(limited.length).toBe(180);
      for (const answer of limited) {
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
        expect(answer.headers['ratelimit']).toBeDefined();
      }
    },
    'http-cors-is-not-a-gate': async (lab) => {
      for (const headers of [
        { origin: 'https://evil.test' },
        { origin: 'https://evil.test', 'content-type': 'text/plain' },
        { origin: 'https://evil.test', 'content-type': null },
      ] as TestRequest['headers'][]) {
        const answer = await lab.server.send({ ...save(lab, await baseSha1(lab)), headers: headers ?? {} });
        expect([403, 415]).toContain(answer.status);
        expect(answer.headers['access-control-allow-origin']).toBeUndefined();
      }
      await ask(
        lab,
        { method: 'DELETE', path: '/file', headers: { origin: 'https://evil.test' } },
        403,
        otherOrigin,
      );
      expect(await readFile(join(lab.plain, 'a.txt'), 'utf8')).toBe('one\n');
    },
    'http-ip-host-allowed': async (lab) => {
      for (const host of ['203.0.113.9', '10.0.0.1', '127.0.0.2', '[::2]', '0.0.0.0']) {
        const headers = { host: `${host}:${lab.server.port}` };
        await ask(lab, { ...get('/list', { cwd: lab.plain }), headers }, 403, 'host_not_allowed');
      }
    },
  },
});

function save(lab: HttpLab, base: string): TestRequest {
  return change('POST', '/file', { cwd: lab.plain, path: 'a.txt', content: 'saved\n', baseSha1: base });
}

async function baseSha1(lab: HttpLab): Promise<string> {
  const read = await lab.server.send(get('/file', { cwd: lab.plain, path: 'a.txt' }));
  return String(read.body?.['sha1']);
}

/** A save that would work but for these headers is refused, and nothing is saved. */
async function refused(
  lab: HttpLab,
  headers: TestRequest['headers'],
  status: number,
  code: string,
): Promise<void> {
  await ask(lab, { ...save(lab, await baseSha1(lab)), headers: headers ?? {} }, status, code);
  expect(await readFile(join(lab.plain, 'a.txt'), 'utf8')).toBe('one\n');
}

async function accepted(lab: HttpLab, headers: TestRequest['headers']): Promise<void> {
  await ask(lab, { ...save(lab, await baseSha1(lab)), headers: headers ?? {} }, 200);
  await writeFile(join(lab.plain, 'a.txt'), 'one\n');
}
