import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RunningServer, startServer } from '../support/http-server.ts';
import { memoryService } from '../support/memory-service.ts';

const root = '/memory/root';
const mebibyte = 1024 * 1024;
const sha1 = (bytes: string | Buffer) => createHash('sha1').update(bytes).digest('hex');
const etag = (bytes: string | Buffer) => `"sha256-${createHash('sha256').update(bytes).digest('base64url')}"`;
const query = (path: string) => `cwd=${encodeURIComponent(root)}&path=${encodeURIComponent(path)}`;

describe('what /file and /raw answer', () => {
  let running: RunningServer;
  const files = new Map<string, Uint8Array>();
  const digits = Buffer.from('0123456789');
  beforeAll(async () => {
    running = await startServer(memoryService(new Map([[root, files]])));
  });
  afterAll(() => running[Symbol.asyncDispose]());
  beforeEach(() => {
    files.clear();
    files.set('a.txt', Buffer.from('one\n'));
    files.set('digits.png', digits);
    files.set('empty.gif', Buffer.alloc(0));
    files.set('page.html', Buffer.from('<script>1</script>'));
  });

  describe('GET /file', () => {
    it.each([
      ['ASCII', 'plain\r\ntext\n'],
      ['nothing', ''],
      ['UTF-8', 'ünïcödé 한글 🙂'],
      ['a byte order mark', '\ufeffx'],
      ['a replacement character of its own', '\ufffd'],
      ['noncharacters', '\uffff\u{10ffff}'],
      ['what JSON escapes', '"\\\u0000'.replace('\u0000', '\u0001\u2028\u007f')],
    ])('R41: text with %s comes back as it is', async (_title, content) => {
      files.set('a.txt', Buffer.from(content));
      const answer = await running.send({ path: `/file?${query('a.txt')}` });
      expect(answer.body).toEqual({
        ok: true,
        kind: 'text',
        size: Buffer.byteLength(content),
        content,
        sha1: sha1(content),
        etag: etag(content),
      });
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(answer.bytes.length),
        'cache-control': 'no-store',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        etag: etag(content),
      });
    });

    it.each([
      ['Latin-1', Buffer.from('caf\xe9', 'latin1')],
      ['GBK', Buffer.from([0xc4, 0xe3, 0xba, 0xc3])],
      ['a cut sequence', Buffer.from([0x61, 0xe2, 0x82])],
      ['an overlong form', Buffer.from([0xc0, 0xae])],
      ['an encoded surrogate', Buffer.from([0xed, 0xa0, 0x80])],
      ['NUL', Buffer.from('a\0b')],
      ['NUL behind the first 8,000 bytes', Buffer.concat([Buffer.alloc(9000, 'a'), Buffer.from([0])])],
    ])('W10: bytes with %s are binary, never repaired', async (_title, bytes) => {
      files.set('a.txt', bytes);
      const answer = await running.send({ path: `/file?${query('a.txt')}` });
      expect(answer.status).toBe(415);
      expect(answer.body).toMatchObject({
        ok: true,
        kind: 'binary',
        size: bytes.length,
        code: 'binary_content',
        status: 415,
      });
    });

    it('R41: the kinds of files that are no text keep ok and tell their status', async () => {
      files.set('big.txt', Buffer.alloc(mebibyte + 1, 'a'));
      const big = await running.send({ path: `/file?${query('big.txt')}` });
      expect(big.status).toBe(413);
      expect(big.body).toMatchObject({
        ok: true,
        kind: 'too_large',
        size: mebibyte + 1,
        code: 'file_too_large',
        status: 413,
      });
      const missing = await running.send({ path: `/file?${query('none.txt')}` });
      expect(missing.status).toBe(404);
      expect(missing.body).toMatchObject({
        ok: true,
        kind: 'missing',
        code: 'not_found',
        status: 404,
        title: expect.any(String),
      });
      expect(missing.headers['content-type']).toBe('application/problem+json; charset=utf-8');
    });

    it('W24: a file of exactly the limit opens and saves, every character escaped', async () => {
      const content = '\u0001'.repeat(mebibyte);
      files.set('a.txt', Buffer.from(content));
      const opened = await running.send({ path: `/file?${query('a.txt')}` });
      expect(opened.body?.['content']).toBe(content);
      const json = { cwd: root, path: 'a.txt', content, baseSha1: sha1(content) };
      expect((await running.send({ method: 'POST', path: '/file', json })).status).toBe(200);
    });

    it('R41: an image is told by its URL, which works under the path the router is mounted at', async () => {
      files.set('dir/a b#?.png', digits);
      const answer = await running.send({ path: `/file?${query('dir/a b#?.png')}` });
      expect(answer.body).toEqual({
        ok: true,
        kind: 'image',
        size: 10,
        url: '/api/raw?cwd=%2Fmemory%2Froot&path=dir/a%20b%23%3F.png',
      });
      const raw = await running.send({ path: `/${String(answer.body?.['url'])}` });
      expect([raw.status, raw.text]).toEqual([200, '0123456789']);
    });
  });

  describe('conditions on a read', () => {
    const current = etag('one\n');
    it.each([
      ['If-None-Match', current, 304],
      ['If-None-Match', `W/${current}`, 304],
      ['If-None-Match', `"other", ${current}`, 304],
      ['If-None-Match', '*', 304],
      ['If-None-Match', '"other"', 200],
      ['If-None-Match', '"a,b", "c"', 200],
      ['If-None-Match', 'unquoted', 400],
      ['If-None-Match', '', 400],
      ['If-Match', current, 200],
      ['If-Match', `"other", ${current}`, 200],
      ['If-Match', '*', 200],
      ['If-Match', '"other"', 412],
      ['If-Match', `W/${current}`, 412],
      ['If-Match', `${current} x`, 400],
    ])('RFC 9110: /file with %s: %s is answered with %i', async (name, value, status) => {
      const answer = await running.send({ path: `/file?${query('a.txt')}`, headers: { [name]: value } });
      expect(answer.status).toBe(status);
      if (status === 304) expect([answer.bytes.length, answer.headers.etag]).toEqual([0, current]);
      if (status === 412) {
        expect(answer.headers.etag).toBe(current);
        expect(answer.body).toMatchObject({ ok: false, code: 'precondition_failed', etag: current });
      }
    });

    it('RFC 9110, 13.2.2: If-Match is looked at before If-None-Match', async () => {
      const headers = { 'if-match': '"other"', 'if-none-match': current };
      expect((await running.send({ path: `/file?${query('a.txt')}`, headers })).status).toBe(412);
    });
  });

  describe('/raw', () => {
    const tag = etag(digits);
    it.each([
      [{}, 200, '0123456789', undefined],
      [{ range: 'bytes=0-0' }, 206, '0', 'bytes 0-0/10'],
      [{ range: 'bytes=2-4' }, 206, '234', 'bytes 2-4/10'],
      [{ range: 'bytes=7-' }, 206, '789', 'bytes 7-9/10'],
      [{ range: 'bytes=-3' }, 206, '789', 'bytes 7-9/10'],
      [{ range: 'bytes=-99' }, 206, '0123456789', 'bytes 0-9/10'],
      [{ range: 'bytes=5-99' }, 206, '56789', 'bytes 5-9/10'],
      [{ range: 'bytes=10-' }, 416, null, 'bytes */10'],
      [{ range: 'bytes=99999-' }, 416, null, 'bytes */10'],
      [{ range: 'bytes=-0' }, 416, null, 'bytes */10'],
      [{ range: 'bytes=5-2' }, 200, '0123456789', undefined],
      [{ range: 'bytes=-' }, 200, '0123456789', undefined],
      [{ range: 'BYTES=2-4' }, 206, '234', 'bytes 2-4/10'],
      [{ range: 'bytes=0-99999999999999999999' }, 206, '0123456789', 'bytes 0-9/10'],
      [{ range: 'bytes=0-1,3-4' }, 200, '0123456789', undefined],
      [{ range: 'lines=1-2' }, 200, '0123456789', undefined],
      [{ range: 'nonsense' }, 200, '0123456789', undefined],
      [{ range: 'bytes=2-4', 'if-range': tag }, 206, '234', 'bytes 2-4/10'],
      [{ range: 'bytes=2-4', 'if-range': '"other"' }, 200, '0123456789', undefined],
      [{ range: 'bytes=2-4', 'if-range': `W/${tag}` }, 200, '0123456789', undefined],
      [{ range: 'bytes=2-4', 'if-range': 'Wed, 21 Oct 2026 07:28:00 GMT' }, 200, '0123456789', undefined],
      [{ range: 'bytes=99-', 'if-range': '"other"' }, 200, '0123456789', undefined],
      [{ 'if-none-match': tag }, 304, '', undefined],
      [{ 'if-none-match': tag, range: 'bytes=2-4' }, 304, '', undefined],
      [{ 'if-match': '"other"' }, 412, null, undefined],
    ])('RFC 9110, 14: GET with %j is answered with %i', async (headers, status, text, contentRange) => {
      const answer = await running.send({ path: `/raw?${query('digits.png')}`, headers });
      expect([answer.status, answer.headers['content-range']]).toEqual([status, contentRange]);
      if (text !== null) expect(answer.text).toBe(text);
      else expect(answer.body?.['ok']).toBe(false);
      if (status === 200 || status === 206) {
        expect(answer.headers).toMatchObject({
          etag: tag,
          'accept-ranges': 'bytes',
          'content-type': 'image/png',
          'content-length': String(text?.length),
        });
      }
    });

    it.each([
      [{}, 200, '10'],
      [{ range: 'bytes=2-4' }, 200, '10'],
      [{ range: 'bytes=99-' }, 200, '10'],
      [{ 'if-none-match': tag }, 304, undefined],
      [{ 'if-match': '"other"' }, 412, undefined],
    ])('RFC 9110, 9.3.2: HEAD with %j is answered with %i and no body', async (headers, status, length) => {
      const answer = await running.send({ method: 'HEAD', path: `/raw?${query('digits.png')}`, headers });
      expect([answer.status, answer.bytes.length]).toEqual([status, 0]);
      if (length !== undefined) expect(answer.headers['content-length']).toBe(length);
    });

    it('an empty file is served whole and has no satisfiable range', async () => {
      const whole = await running.send({ path: `/raw?${query('empty.gif')}` });
      expect([whole.status, whole.headers['content-length'], whole.text]).toEqual([200, '0', '']);
      const ranged = await running.send({
        path: `/raw?${query('empty.gif')}`,
        headers: { range: 'bytes=0-' },
      });
      expect([ranged.status, ranged.headers['content-range']]).toEqual([416, 'bytes */0']);
    });

    it.each([
      ['/raw', `/raw?${query('digits.png')}`],
      ['/raw as a download', `/raw?${query('page.html')}&download=1`],
      ['a refused /raw', `/raw?${query('page.html')}`],
      ['a missing file', `/raw?${query('none.png')}`],
      ['/list', `/list?cwd=${root}`],
      ['no route', '/nowhere'],
    ])(
      'W48: %s can be kept by no cache, sniffed by no browser and embedded by no other site',
      async (_title, path) => {
        const { headers } = await running.send({ path });
        expect(headers).toMatchObject({
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
          'cross-origin-resource-policy': 'same-origin',
          'referrer-policy': 'no-referrer',
          'x-request-id': expect.any(String),
        });
        expect(headers['content-security-policy']).toContain("default-src 'none'");
        expect(headers['content-security-policy']).toContain('sandbox');
      },
    );

    it('what is no image is served only as a download, whatever its bytes are', async () => {
      const inline = await running.send({ path: `/raw?${query('page.html')}` });
      expect([inline.status, inline.body?.['code']]).toEqual([415, 'media_type_not_served']);
      const download = await running.send({ path: `/raw?${query('page.html')}&download=1` });
      expect(download.headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment; filename="page.html"; filename*=UTF-8\'\'page.html',
      });
      expect(download.text).toBe('<script>1</script>');
    });

    it('a hostile name cannot leave its header', async () => {
      const name = 'a"; filename="evil.exe\r\nSet-Cookie: x=1\\%41한.txt';
      files.set(name, digits);
      const { headers } = await running.send({ path: `/raw?${query(name)}&download=1` });
      expect(headers['set-cookie']).toBeUndefined();
      expect(headers['content-disposition']).toBe(
        'attachment; filename="a_; filename=_evil.exe__Set-Cookie: x=1__41_.txt"; ' +
          "filename*=UTF-8''a%22%3B%20filename%3D%22evil.exe%0D%0ASet-Cookie%3A%20x%3D1%5C%2541%ED%95%9C.txt",
      );
    });
  });
});
