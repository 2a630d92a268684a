import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

const root = '/memory/root';
const mebibyte = 1024 * 1024;
const sha1 = (bytes: string | Buffer) => createHash('sha1').update(bytes).digest('hex');
const etag = (bytes: string | Buffer) => `"sha256-${createHash('sha256').update(bytes).digest('base64url')}"`;

describe('what changes of /file answer', () => {
  let running: RunningServer;
  const files = new Map<string, Uint8Array>();
  beforeAll(async () => {
    running = await startServer(memoryService(new Map([[root, files]])));
  });
  afterAll(() => running[Symbol.asyncDispose]());
  beforeEach(() => {
    files.clear();
    files.set('a.txt', Buffer.from('one\n'));
  });

  describe('POST /file', () => {
    const post = (json: unknown, headers = {}) =>
      running.send({ method: 'POST', path: '/file', json, headers });
    const good = { cwd: root, path: 'a.txt', content: 'two\n', baseSha1: sha1('one\n') };

    it.each([
      ['as it is', sha1('one\n')],
      ['in upper case (W23)', sha1('one\n').toUpperCase()],
    ])('R13: saves on the version it was based on, its hash %s', async (_title, baseSha1) => {
      const answer = await post({ ...good, baseSha1 });
      expect([answer.status, answer.headers.etag]).toEqual([200, etag('two\n')]);
      expect(answer.body).toEqual({ ok: true, sha1: sha1('two\n'), bytes: 4, etag: etag('two\n') });
      expect(String(files.get('a.txt'))).toBe('two\n');
    });

    it('R13: a stale base is a conflict that tells the current version where old clients look', async () => {
      const answer = await post({ ...good, baseSha1: '0'.repeat(40) });
      expect([answer.status, answer.headers.etag]).toEqual([409, etag('one\n')]);
      expect(answer.body).toMatchObject({
        ok: false,
        code: 'conflict',
        error: 'conflict',
        sha1: sha1('one\n'),
        etag: etag('one\n'),
      });
      expect(String(files.get('a.txt'))).toBe('one\n');
    });

    /** In the order in which they are refused: each row also carries every fault of the rows below it. */
    it.each([
      ['shape', { ...good, content: 7 }, 400, 'invalid_request', 'cwd, path and content required'],
      ['shape of the base', { ...good, baseSha1: 7 }, 400, 'invalid_request', 'invalid baseSha1'],
      [
        'NUL',
        { cwd: '/x', path: '../x', content: '\0\ud800' },
        415,
        'binary_content',
        'binary content rejected',
      ],
      [
        'surrogate',
        { cwd: '/x', path: '../x', content: '\ud800' },
        422,
        'unencodable_text',
        'unencodable_text',
      ],
      [
        'size',
        { cwd: '/x', path: '../x', content: 'x'.repeat(mebibyte + 1) },
        413,
        'file_too_large',
        'file too large',
      ],
      [
        'selector',
        { cwd: '/x', path: '../x', content: '' },
        403,
        'workspace_not_authorized',
        'workspace not authorized',
      ],
      [
        'path',
        { ...good, path: '../x', baseSha1: 'x' },
        403,
        'path_outside_workspace',
        'path escapes workspace',
      ],
      ['path form', { ...good, path: 'a//b', baseSha1: 'x' }, 400, 'invalid_path', 'invalid_path'],
      ['missing file', { ...good, path: 'none', baseSha1: 'x' }, 404, 'not_found', 'existing file required'],
      [
        'missing file, no base',
        { cwd: root, path: 'none', content: '' },
        404,
        'not_found',
        'existing file required',
      ],
      ['form of the base', { ...good, baseSha1: 'x' }, 400, 'invalid_request', 'invalid baseSha1'],
      [
        'no base',
        { cwd: root, path: 'a.txt', content: '' },
        428,
        'precondition_required',
        'precondition_required',
      ],
    ])('R41: %s is refused in its turn', async (_title, json, status, code, error) => {
      const answer = await post(json);
      expect([answer.status, answer.body?.['code'], answer.body?.['error']]).toEqual([status, code, error]);
      expect([...files.keys()]).toEqual(['a.txt']);
      expect(String(files.get('a.txt'))).toBe('one\n');
    });

    it.each([
      ['If-Match alone', undefined, etag('one\n'), 200],
      ['both, both right', sha1('one\n'), etag('one\n'), 200],
      ['both, hash stale', '0'.repeat(40), etag('one\n'), 409],
      ['both, tag stale', sha1('one\n'), '"sha256-x"', 412],
      ['tag stale', undefined, '"sha256-x"', 412],
      ['weak tag', undefined, `W/${etag('one\n')}`, 412],
      ['any version', undefined, '*', 428],
      ['two tags', undefined, `${etag('one\n')}, "x"`, 400],
      ['no tag', undefined, 'x', 400],
    ])('R13: %s is answered as it should', async (_title, baseSha1, ifMatch, status) => {
      const answer = await post(
        { cwd: root, path: 'a.txt', content: 'two\n', baseSha1 },
        { 'if-match': ifMatch },
      );
      expect(answer.status).toBe(status);
      expect(String(files.get('a.txt'))).toBe(status === 200 ? 'two\n' : 'one\n');
    });
  });

  describe('PUT and DELETE /file', () => {
    const put = (json: object, headers: Record<string, string>) =>
      running.send({ method: 'PUT', path: '/file', json: { cwd: root, ...json }, headers });
    const create = { 'if-none-match': '*' };

    it('creates only what does not exist', async () => {
      const first = await put({ path: 'new.txt', content: 'é' }, create);
      expect([first.status, first.body]).toEqual([
        201,
        { ok: true, sha1: sha1('é'), bytes: 2, etag: etag('é') },
      ]);
      const second = await put({ path: 'new.txt', content: 'x' }, create);
      expect([second.status, second.body?.['code']]).toEqual([412, 'precondition_failed']);
      expect(String(files.get('new.txt'))).toBe('é');
    });

    it.each([
      [
        'bytes as base64',
        { content: Buffer.from([0, 255]).toString('base64'), encoding: 'base64' },
        create,
        201,
      ],
      ['no bytes as base64', { content: '', encoding: 'base64' }, create, 201],
      ['base64 without padding', { content: 'AA', encoding: 'base64' }, create, 400],
      ['base64 of the URL kind', { content: '_-8=', encoding: 'base64' }, create, 400],
      ['base64 with a space', { content: 'AA ==', encoding: 'base64' }, create, 400],
      ['base64 with stray bits', { content: 'AB==', encoding: 'base64' }, create, 400],
      [
        'too many bytes',
        { content: Buffer.alloc(mebibyte + 1).toString('base64'), encoding: 'base64' },
        create,
        413,
      ],
      ['another encoding', { content: 'x', encoding: 'latin1' }, create, 400],
      ['NUL in text', { content: '\0' }, create, 415],
      ['a lone surrogate', { content: '\udfff' }, create, 422],
      ['neither condition and no file', { content: 'x' }, {}, 404],
      ['both conditions', { content: 'x' }, { ...create, 'if-match': '"x"' }, 400],
      ['If-None-Match with a tag', { content: 'x' }, { 'if-none-match': '"x"' }, 400],
      ['If-Match on nothing', { content: 'x' }, { 'if-match': '"x"' }, 404],
    ])('%s is answered as it should', async (_title, json, headers: Record<string, string>, status) => {
      const answer = await put({ path: 'new.bin', ...json }, headers);
      expect(answer.status).toBe(status);
      expect(files.has('new.bin')).toBe(status === 201);
    });

    it('refuses a change of a file that names no version', async () => {
      const answer = await put({ path: 'a.txt', content: 'x' }, {});
      expect([answer.status, answer.body?.['code']]).toEqual([428, 'precondition_required']);
    });

    it('replaces on If-Match, and tells the current tag when it is stale', async () => {
      const stale = await put({ path: 'a.txt', content: 'two\n' }, { 'if-match': '"sha256-x"' });
      expect([stale.status, stale.headers.etag]).toEqual([412, etag('one\n')]);
      expect((await put({ path: 'a.txt', content: 'two\n' }, { 'if-match': etag('one\n') })).status).toBe(
        200,
      );
      expect(String(files.get('a.txt'))).toBe('two\n');
    });

    it.each([
      ['the right hash', { baseSha1: sha1('one\n') }, {}, 200],
      ['the right tag', {}, { 'if-match': etag('one\n') }, 200],
      ['a stale hash', { baseSha1: '0'.repeat(40) }, {}, 409],
      ['a stale tag', {}, { 'if-match': '"x"' }, 412],
      ['no version', {}, {}, 428],
      ['any version', {}, { 'if-match': '*' }, 428],
    ])('R13: deletes with %s as it should', async (_title, json, headers: Record<string, string>, status) => {
      const body = { cwd: root, path: 'a.txt', ...json };
      const answer = await running.send({ method: 'DELETE', path: '/file', json: body, headers });
      expect([answer.status, files.has('a.txt')]).toEqual([status, status !== 200]);
    });
  });
});
