import { execFile } from 'node:child_process';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { etagOf, put, putLink } from '../../support/http-lab.ts';
import { ask, get, runBugTable } from './bug-table.ts';

const outside = 'path_outside_workspace';
const run = promisify(execFile);

runBugTable('files', 'R10-R12', {
  scenarios: {
    'file-symlink-absolute': async (lab) => {
      await putLink('/etc/hostname', join(lab.plain, 'link'));
      const answer = await ask(lab, get('/file', { cwd: lab.plain, path: 'link' }), 403, outside);
      expect(answer.text).not.toContain('/etc');
      await ask(lab, get('/raw', { cwd: lab.plain, path: 'link', download: '1' }), 403, outside);
    },
    'file-symlink-dir-list': async (lab) => {
      await putLink('/etc', join(lab.plain, 'd'));
      await ask(lab, get('/list', { cwd: lab.plain, path: 'd' }), 403, outside);
      await ask(lab, get('/file', { cwd: lab.plain, path: 'd/hostname' }), 403, outside);
      expect(await entry(lab, 'd')).toMatchObject({ type: 'symlink', linkTarget: 'outside' });
    },
    'file-symlink-inside': async (lab) => {
      await putLink('a.txt', join(lab.plain, 'in'));
      await putLink(join(lab.plain, 'a.txt'), join(lab.plain, 'in-absolute'));
      for (const path of ['in', 'in-absolute']) {
        const answer = await ask(lab, get('/file', { cwd: lab.plain, path }), 200);
        expect(answer.body?.['content']).toBe('one\n');
        expect(await entry(lab, path)).toMatchObject({ type: 'symlink', linkTarget: 'inside' });
      }
    },
    'file-magic-link': async (lab) => {
      await putLink('/proc/self/root', join(lab.plain, 'm'));
      await ask(lab, get('/file', { cwd: lab.plain, path: 'm/etc/hostname' }), 403, outside);
    },
    'file-toctou-swap': async (lab) => {
      const [d, real, link] = ['d-swap', 'd-real', 'd-link'].map((name) => join(lab.plain, name)) as [
        string,
        string,
        string,
      ];
      await mkdir(real, { recursive: true });
      await writeFile(join(real, 'hostname'), 'inside\n');
      await putLink('/etc', link);
      let swapping = true;
      const attacker = (async () => {
        for (let turn = 0; swapping; turn += 1) {
          const side = turn % 2 === 0 ? real : link;
          await rename(side, d);
          await rename(d, side);
        }
      })();
      const seen = new Set<string>();
      try {
        for (let round = 0; round < 1500; round += 1) {
          const answer = await lab.server.send(get('/file', { cwd: lab.plain, path: 'd-swap/hostname' }));
          seen.add(`${answer.status} ${String(answer.body?.['content'] ?? answer.body?.['code'])}`);
        }
      } finally {
        swapping = false;
        await attacker;
      }
      const allowed = ['200 inside\n', `403 ${outside}`, '404 not_found', '503 busy', '409 identity_changed'];
      for (const outcome of seen) expect(allowed).toContain(outcome);
    },
    'file-dotdot-prefixed-name': async (lab) => {
      await put(join(lab.plain, '..notes'), 'n');
      await ask(lab, get('/file', { cwd: lab.plain, path: '..notes' }), 200);
    },
    'file-inner-dotdot': async (lab) => {
      await mkdir(join(lab.plain, 'sub'), { recursive: true });
      for (const path of ['sub/../a.txt', './a.txt', 'sub//a.txt', 'sub/', 'sub/.', '.']) {
        await ask(lab, get('/file', { cwd: lab.plain, path }), 400, 'invalid_path');
      }
    },
    'file-double-encoding': async (lab) => {
      await ask(lab, { path: `/file?cwd=${lab.plain}&path=..%2f..%2fetc%2fpasswd` }, 403, outside);
      await ask(lab, { path: `/file?cwd=${lab.plain}&path=%252e%252e/x` }, 404, 'not_found');
    },
    'file-fifo': async (lab) => {
      await rm(join(lab.plain, 'p'), { force: true });
      await run('mkfifo', [join(lab.plain, 'p')]);
      const requests = Array.from({ length: 8 }, () =>
        ask(lab, get('/file', { cwd: lab.plain, path: 'p' }), 422, 'not_regular_file'),
      );
      for (const answer of await Promise.all(requests))
        expect(answer.body).toMatchObject({ ok: true, kind: 'not-file' });
      await ask(lab, get('/raw', { cwd: lab.plain, path: 'p', download: '1' }), 422, 'not_regular_file');
      await ask(lab, get('/file', { cwd: lab.plain, path: 'a.txt' }), 200);
    },
    'file-unreadable-entry': async (lab) => {
      const request = get('/list', { cwd: lab.plain, recursive: '1' });
      const answer = await ask(lab, request, 400, 'invalid_request');
      expect(answer.body?.['details']).toEqual({ field: 'recursive', reason: 'unknown' });
    },
    'file-protected-read': async (lab) => {
      for (const path of ['.git/config', '.GIT/config', '.git', '.git/HEAD']) {
        await ask(lab, get('/file', { cwd: lab.repo, path }), 403, 'administrative_path');
      }
    },
    'file-abs-path-leak': async (lab) => {
      const answer = await ask(lab, get('/file', { cwd: lab.plain, path: 'missing' }), 404, 'not_found');
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(answer.text).not.toContain(lab.sandbox);
    },
    'file-range-if-range': async (lab) => {
      await put(join(lab.plain, 'f.png'), '0123456789');
      const request = get('/raw', { cwd: lab.plain, path: 'f.png' });
      const first = await etagOf(join(lab.plain, 'f.png'));
      const same = await ask(lab, { ...request, headers: { range: 'bytes=0-3', 'if-range': first } }, 206);
      expect(same.text).toBe('0123');
      await put(join(lab.plain, 'f.png'), 'abcdefghij');
      const other = await ask(lab, { ...request, headers: { range: 'bytes=0-3', 'if-range': first } }, 200);
      expect([other.text, other.headers.etag]).toEqual([
        'abcdefghij',
        await etagOf(join(lab.plain, 'f.png')),
      ]);
      const beyond = { ...request, headers: { range: 'bytes=99999-' } };
      const refused = await ask(lab, beyond, 416, 'range_not_satisfiable');
      expect(refused.headers['content-range']).toBe('bytes */10');
    },
    'file-html-served': async (lab) => {
      await put(join(lab.plain, 'x.html'), '<script>1</script>');
      await put(join(lab.plain, 'x.svg'), '<svg><script>1</script></svg>');
      await ask(lab, get('/raw', { cwd: lab.plain, path: 'x.html' }), 415, 'media_type_not_served');
      const html = await ask(lab, get('/raw', { cwd: lab.plain, path: 'x.html', download: '1' }), 200);
      expect(html.headers['content-disposition']).toMatch(/^attachment;/);
      const svg = await ask(lab, get('/raw', { cwd: lab.plain, path: 'x.svg' }), 200);
      for (const { headers } of [html, svg]) {
        expect(headers).toMatchObject({
          'x-content-type-options': 'nosniff',
          'cross-origin-resource-policy': 'same-origin',
          'content-security-policy': expect.stringContaining('sandbox'),
        });
      }
    },
  },
});

async function entry(lab: Parameters<typeof ask>[0], name: string): Promise<object | undefined> {
  const answer = await ask(lab, get('/list', { cwd: lab.plain }), 200);
  const entries = answer.body?.['entries'] as { name: string }[] | undefined;
  return entries?.find((listed) => listed.name === name);
}
