import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningServer, startServer, testToken } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

const root = '/memory/root';
const secret = 'value-that-must-not-come-back';

describe('the shape of requests', () => {
  let running: RunningServer;
  const files = new Map([['a.txt', Buffer.from('a')]]);
  beforeAll(async () => {
    running = await startServer(memoryService(new Map([[root, files]])));
  });
  afterAll(() => running[Symbol.asyncDispose]());

  it.each([
    ['/detect', 'path', 'path required'],
    ['/file', 'cwd', 'cwd and path required'],
    [`/file?cwd=${root}`, 'path', 'cwd and path required'],
    ['/file?cwd=&path=a', 'cwd', 'cwd and path required'],
    [`/raw?cwd=${root}`, 'path', 'cwd and path required'],
    ['/list', 'cwd', 'cwd required'],
    ['/explain', 'path', 'path required'],
  ])('R41: GET %s keeps the text old clients read', async (path, field, error) => {
    const answer = await running.send({ path });
    expect([answer.status, answer.body?.['code'], answer.body?.['error']]).toEqual([
      400,
      'invalid_request',
      error,
    ]);
    expect(answer.body?.['details']).toMatchObject({ field });
  });

  it.each([
    ['unknown', `/file?cwd=${root}&path=a.txt&token=${secret}`, 'token', 'unknown'],
    ['repeated', `/file?cwd=${root}&cwd=${secret}&path=a.txt`, 'cwd', 'repeated'],
    ['repeated in other spelling', `/file?cwd=${root}&%63wd=${secret}&path=a.txt`, 'cwd', 'repeated'],
    ['array form', `/file?cwd[]=${secret}&path=a.txt`, 'cwd', 'missing'],
    ['prototype key', `/file?cwd=${root}&path=a.txt&__proto__=${secret}`, '__proto__', 'unknown'],
    ['constructor', `/file?cwd=${root}&path=a.txt&constructor=${secret}`, 'constructor', 'unknown'],
    ['NUL in the selector', `/file?cwd=${root}%00/${secret}&path=a.txt`, 'cwd', 'invalid'],
    ['broken escape', `/file?cwd=${root}%zz${secret}&path=a.txt`, 'cwd', 'invalid escape'],
    ['escape that is no UTF-8', `/file?cwd=${root}%ff${secret}&path=a.txt`, 'cwd', 'invalid escape'],
    ['overlong UTF-8', `/file?cwd=${root}&path=%c0%ae%c0%ae`, 'path', 'invalid escape'],
    ['surrogate in UTF-8', `/file?cwd=${root}&path=%ed%a0%80`, 'path', 'invalid escape'],
    ['no name', `/file?cwd=${root}&path=a.txt&=x`, '(unprintable)', 'empty name'],
    ['a name that cannot be shown', `/file?cwd=${root}&path=a.txt&%1b[31m=x`, '(unprintable)', 'unknown'],
    ['limit that is no number', `/list?cwd=${root}&limit=1e3`, 'limit', 'invalid'],
    ['limit over the bound', `/list?cwd=${root}&limit=999999999`, 'limit', 'too large'],
    ['parameters on a route without', '/workspaces?all=1', 'all', 'unknown'],
    ['download with another value', `/raw?cwd=${root}&path=a.txt&download=yes`, 'download', 'invalid'],
  ])('R41: a query parameter (%s) is named, its value never shown', async (_title, path, field, reason) => {
    const answer = await running.send({ path });
    expect([answer.status, answer.body?.['code']]).toEqual([400, 'invalid_request']);
    expect(answer.body?.['details']).toEqual({ field, reason });
    expect(answer.text).not.toContain(secret);
  });

  it.each([
    ['unknown', { cwd: root, path: 'd', args: [secret] }, 'args', 'unknown'],
    ['missing', { cwd: root }, 'path', 'missing'],
    ['null', { cwd: root, path: null }, 'path', 'wrong type'],
    ['number', { cwd: root, path: 7 }, 'path', 'wrong type'],
    ['array', { cwd: [root], path: 'd' }, 'cwd', 'wrong type'],
    ['lone surrogate in the selector', { cwd: `${root}\ud800`, path: 'd' }, 'cwd', 'invalid'],
  ])('R41: a body field (%s) is named, its value never shown', async (_title, json, field, reason) => {
    const answer = await running.send({ method: 'POST', path: '/mkdir', json });
    expect([answer.status, answer.body?.['code']]).toEqual([400, 'invalid_request']);
    expect(answer.body?.['details']).toEqual({ field, reason });
    expect(answer.text).not.toContain(secret);
  });

  it.each([
    ['{"cwd":"/memory/root","path":"d","__proto__":{"operator":true}}', '__proto__'],
    ['{"cwd":"/memory/root","path":"d","constructor":1}', 'constructor'],
    ['{"__proto__":{"cwd":"/memory/root","path":"d"}}', 'cwd'],
  ])('R41: prototype keys are only unknown fields: %s', async (rawBody, field) => {
    const answer = await running.send({ method: 'POST', path: '/mkdir', rawBody });
    expect(answer.status).toBe(400);
    expect(answer.body?.['details']).toMatchObject({ field });
    expect(({} as { operator?: unknown }).operator).toBeUndefined();
  });

  it.each([
    ['{', 400, 'malformed_json', 'malformed JSON'],
    ['{"a":1}x', 400, 'malformed_json', 'malformed JSON'],
    ['\ufeff{}', 400, 'malformed_json', 'malformed JSON'],
    ['[{}]', 400, 'json_object_required', 'JSON object required'],
    ['null', 400, 'json_object_required', 'JSON object required'],
    ['"x"', 400, 'json_object_required', 'JSON object required'],
    ['', 400, 'invalid_request', 'cwd, path and content required'],
    ['{}', 400, 'invalid_request', 'cwd, path and content required'],
  ])('R41: the body %j gets %i %s', async (rawBody, status, code, error) => {
    const answer = await running.send({ method: 'POST', path: '/file', rawBody });
    expect([answer.status, answer.body?.['code'], answer.body?.['error']]).toEqual([status, code, error]);
  });

  it('R41: a body that is no UTF-8 is malformed, not repaired', async () => {
    const rawBody = Buffer.concat([Buffer.from('{"cwd":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const answer = await running.send({ method: 'POST', path: '/mkdir', rawBody });
    expect([answer.status, answer.body?.['code']]).toEqual([400, 'malformed_json']);
  });

  it('R41: a body nested a million deep is refused, and the server lives on', async () => {
    const rawBody = `{"cwd":${'['.repeat(1_000_000)}`;
    expect((await running.send({ method: 'POST', path: '/mkdir', rawBody })).body?.['code']).toBe(
      'malformed_json',
    );
    expect((await running.send({ path: '/healthz' })).status).toBe(200);
  });

  it.each([
    ['application/json', 201],
    ['APPLICATION/JSON; charset=utf-8', 201],
    ['application/json;charset="UTF-8"', 201],
    ['application/json; charset=latin1', 415],
    ['application/json; charset=utf-16', 415],
    ['application/jsonp', 415],
    ['application/json-patch+json', 415],
    ['application/ld+json', 415],
    ['text/plain', 415],
    ['text/plain; application/json', 415],
    ['text/json', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/json, text/plain', 415],
    ['application/json; charset', 415],
    ['', 415],
    [null, 415],
  ])('R40: a change sent as %j is answered with %i', async (type, status) => {
    const headers = { 'content-type': type };
    const answer = await running.send({
      method: 'POST',
      path: '/mkdir',
      json: { cwd: root, path: 'd' },
      headers,
    });
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.body?.['error']).toBe('application/json required');
  });

  it('R40: two content types are none', async () => {
    const socket = await running.connect();
    const type = 'Content-Type: application/json\r\n';
    const head = `POST /api/mkdir HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\nOrigin: ${running.origin}\r\n`;
    socket.write(`${head}${type}${type}Authorization: Bearer ${testToken}\r\nContent-Length: 2\r\n\r\n{}`);
    const [data] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(data.toString()).toMatch(/^HTTP\/1\.1 415 /);
  });

  it('R40: a coded body is not decoded', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const answer = await running.send({
      method: 'POST',
      path: '/mkdir',
      json: { cwd: root, path: 'd' },
      headers,
    });
    expect(answer.status).toBe(415);
  });

  it.each([
    ['/nowhere', 404],
    ['/FILE', 404],
    ['/file/', 404],
    ['/%66ile', 404],
    ['/file%2f', 404],
    ['//api//file', 404],
    ['//', 404],
    ['/../api/file', 404],
    ['/worktrees/x/remove', 404],
    ['/events/', 404],
    ['/snapshots/x', 404],
  ])('R41: the path %s is no route', async (path, status) => {
    const answer = await running.send({ path });
    expect([answer.status, answer.body?.['code'], answer.body?.['ok']]).toEqual([
      status,
      'route_unknown',
      false,
    ]);
  });

  it.each([
    ['PATCH', '/file', 'DELETE, GET, POST, PUT'],
    ['HEAD', '/file', 'DELETE, GET, POST, PUT'],
    ['OPTIONS', '/file', 'DELETE, GET, POST, PUT'],
    ['POST', '/raw', 'GET, HEAD'],
    ['GET', '/mkdir', 'POST'],
    ['GET', '/directory', 'DELETE'],
    ['TRACE', '/detect', 'GET'],
  ])('W27: %s %s is 405 and says what is allowed', async (method, path, allow) => {
    const answer = await running.send({ method, path });
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
    if (method !== 'HEAD') expect(answer.body?.['code']).toBe('method_not_allowed');
  });

  it('R40: no header changes the method', async () => {
    const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' };
    const answer = await running.send({ path: `/file?cwd=${root}&path=a.txt`, headers });
    expect([answer.status, files.has('a.txt')]).toEqual([200, true]);
  });
});
