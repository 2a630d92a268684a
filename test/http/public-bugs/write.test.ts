import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import type { DirectoryHandle } from '../../../src/native/binding.ts';
import { createHttpLab, etagOf, type HttpLab, put, putLink, sha1Of } from '../../support/http-lab.ts';
import { testToken } from '../../support/http-server.ts';
import { addWorktree } from '../../support/http-worktrees.ts';
import { mayMount, mountTmpfs } from '../../support/mounts.ts';
import { ask, change, get, runBugTable } from './bug-table.ts';

const run = promisify(execFile);
const create = { 'if-none-match': '*' };

runBugTable('write', 'R13-R16', {
  scenarios: {
    'write-same-size-same-mtime': async (lab) => {
      const path = join(lab.plain, 'a.txt');
      const read = await ask(lab, get('/file', { cwd: lab.plain, path: 'a.txt' }), 200);
      const before = await stat(path);
      await writeFile(path, 'two\n');
      await utimes(path, before.atime, before.mtime);
      await replace(lab, 'a.txt', 'mine\n', String(read.headers.etag), 412, 'precondition_failed');
      expect(await content(lab, 'a.txt')).toBe('two\n');
    },
    'write-mtime-tolerance': async (lab) => {
      const first = await etagOf(join(lab.plain, 'a.txt'));
      await writeFile(join(lab.plain, 'a.txt'), 'somebody\n');
      await replace(lab, 'a.txt', 'mine\n', first, 412, 'precondition_failed');
      await replace(lab, 'a.txt', 'mine\n', await etagOf(join(lab.plain, 'a.txt')), 200);
    },
    'write-race-in-window': async () => {
      let plain = '';
      const onRoot = (handle: DirectoryHandle) => {
        const native = handle.replace.bind(handle);
        handle.replace = async (path, ...rest) => {
          if (path === 'a.txt') {
            await writeFile(join(plain, 'theirs'), 'theirs\n');
            await run('mv', [join(plain, 'theirs'), join(plain, 'a.txt')]);
          }
          return native(path, ...rest);
        };
      };
      await using raced = await createHttpLab({ onRoot });
      plain = raced.plain;
      const base = await etagOf(join(plain, 'a.txt'));
      await replace(raced, 'a.txt', 'mine\n', base, 412, 'precondition_failed');
      expect(await content(raced, 'a.txt')).toBe('theirs\n');
      expect(await readdir(plain)).toEqual(['a.txt']);
    },
    'write-open-writer': async (lab) => {
      const path = join(lab.plain, 'a.txt');
      const writer = await open(path, 'a');
      try {
        await replace(lab, 'a.txt', 'mine\n', await etagOf(path), 409, 'file_busy');
        await writer.write('late\n');
      } finally {
        await writer.close();
      }
      expect(await content(lab, 'a.txt')).toBe('one\nlate\n');
      await replace(lab, 'a.txt', 'mine\n', await etagOf(path), 200);
    },
    'write-create-race': async (lab) => {
      await rm(join(lab.plain, 'new'), { force: true });
      const answers = await Promise.all(
        ['a', 'b', 'c', 'd'].map((text) =>
          lab.server.send(change('PUT', '/file', { cwd: lab.plain, path: 'new', content: text }, create)),
        ),
      );
      expect(answers.map((answer) => answer.status).sort()).toEqual([201, 412, 412, 412]);
    },
    'write-dangling-leaf': async (lab) => {
      const target = join(lab.sandbox, 'created-outside');
      await putLink(target, join(lab.plain, 'l'));
      const request = change('PUT', '/file', { cwd: lab.plain, path: 'l', content: 'x' }, create);
      expect((await lab.server.send(request)).status).toBe(403);
      await expect(lstat(target)).rejects.toThrow('ENOENT');
    },
    'write-through-link-out': async (lab) => {
      await putLink(join(lab.sandbox, 'shared.txt'), join(lab.plain, 'l'));
      for (const base of ['*', await etagOf(join(lab.sandbox, 'shared.txt'))]) {
        const request = change(
          'PUT',
          '/file',
          { cwd: lab.plain, path: 'l', content: 'x' },
          { 'if-match': base },
        );
        expect((await lab.server.send(request)).status).toBe(403);
      }
      expect(await readFile(join(lab.sandbox, 'shared.txt'), 'utf8')).toBe('shared-before\n');
    },
    'write-link-inside': async (lab) => {
      await putLink('a.txt', join(lab.plain, 'l'));
      const base = await etagOf(join(lab.plain, 'a.txt'));
      await replace(lab, 'l', 'x', base, 403, 'symlink_not_writable');
      expect((await lstat(join(lab.plain, 'l'))).isSymbolicLink()).toBe(true);
      expect(await content(lab, 'a.txt')).toBe('one\n');
    },
    'write-mode-preserved': async (lab) => {
      await chmod(join(lab.plain, 'a.txt'), 0o755);
      await replace(lab, 'a.txt', 'x', await etagOf(join(lab.plain, 'a.txt')), 200);
      expect((await stat(join(lab.plain, 'a.txt'))).mode & 0o7777).toBe(0o755);
    },
    'write-hardlinked': async (lab) => {
      await rm(join(lab.plain, 'g'), { force: true });
      await link(join(lab.plain, 'a.txt'), join(lab.plain, 'g'));
      await replace(lab, 'a.txt', 'x', await etagOf(join(lab.plain, 'a.txt')), 200);
      expect([await content(lab, 'a.txt'), await content(lab, 'g')]).toEqual(['x', 'one\n']);
    },
    'write-edit-ambiguous': async (lab) => {
      const json = { cwd: lab.plain, path: 'a.txt', old: 'one', new: 'two' };
      await ask(lab, change('POST', '/edit', json), 404, 'route_unknown');
      await ask(lab, change('POST', '/file', json), 400, 'invalid_request');
      expect(await content(lab, 'a.txt')).toBe('one\n');
    },
    'write-dotgit-config': async (lab) => {
      for (const path of ['.git/config', '.Git/config', 'nested/.git/config', 'git~1/config']) {
        const json = { cwd: lab.repo, path, content: '[core]\n' };
        await ask(lab, change('PUT', '/file', json, create), 403, 'administrative_path');
        const base = { ...json, baseSha1: await sha1Of(join(lab.repo, '.git/config')) };
        await ask(lab, change('POST', '/file', base), 403, 'administrative_path');
      }
    },
    'write-dotgit-pointer': async (lab) => {
      const worktree = await addWorktree(lab.repo, join(lab.sandbox, 'pointed'), 'pointed');
      const pointer = await readFile(join(worktree, '.git'), 'utf8');
      const redirect = { cwd: worktree, path: '.git', content: 'gitdir: /evil\n' };
      await ask(lab, change('PUT', '/file', redirect, create), 403, 'administrative_path');
      const baseSha1 = await sha1Of(join(worktree, '.git'));
      await ask(lab, change('POST', '/file', { ...redirect, baseSha1 }), 403, 'administrative_path');
      await ask(
        lab,
        change('DELETE', '/file', { cwd: worktree, path: '.git', baseSha1 }),
        403,
        'administrative_path',
      );
      expect(await readFile(join(worktree, '.git'), 'utf8')).toBe(pointer);
      const json = { cwd: lab.plain, path: '.git', content: 'gitdir: /evil\n' };
      await ask(lab, change('PUT', '/file', json, create), 403, 'administrative_path');
      const move = { cwd: lab.plain, from: 'a.txt', to: '.git' };
      await ask(lab, change('POST', '/rename', move), 403, 'administrative_path');
      await ask(lab, change('POST', '/mkdir', { cwd: lab.plain, path: '.git' }), 403, 'administrative_path');
      await expect(lstat(join(lab.plain, '.git'))).rejects.toThrow('ENOENT');
    },
    'write-rename-over': async (lab) => {
      await put(join(lab.plain, 'b.txt'), 'b\n');
      const json = { cwd: lab.plain, from: 'a.txt', to: 'b.txt' };
      await ask(lab, change('POST', '/rename', json), 409, 'already_exists');
      expect([await content(lab, 'a.txt'), await content(lab, 'b.txt')]).toEqual(['one\n', 'b\n']);
      await ask(lab, change('POST', '/rename', { ...json, to: 'c.txt' }), 200);
      expect(await content(lab, 'c.txt')).toBe('one\n');
    },
    'write-rename-out': async (lab) => {
      await putLink(join(lab.sandbox, 'external'), join(lab.plain, 'd'));
      for (const to of ['d/a', '../a', '/tmp/a']) {
        const answer = await lab.server.send(
          change('POST', '/rename', { cwd: lab.plain, from: 'a.txt', to }),
        );
        expect([to, answer.status]).toEqual([to, 403]);
      }
      expect(await readdir(join(lab.sandbox, 'external'))).toEqual(['external.txt']);
      expect(await content(lab, 'a.txt')).toBe('one\n');
    },
    'write-delete-recursive-link': async (lab) => {
      await mkdir(join(lab.plain, 'tree'), { recursive: true });
      await putLink(join(lab.sandbox, 'external'), join(lab.plain, 'tree/l'));
      const json = { cwd: lab.plain, path: 'tree' };
      await ask(lab, change('DELETE', '/directory', { ...json, recursive: true }), 400, 'invalid_request');
      await ask(lab, change('DELETE', '/directory', json), 409, 'directory_not_empty');
      expect(await readdir(join(lab.sandbox, 'external'))).toEqual(['external.txt']);
    },
    'write-enospc': async (lab) => {
      expect(mayMount, 'needs root').toBe(true);
      const small = join(lab.sandbox, 'small');
      await mountTmpfs(small, '1m');
      await put(join(small, 'f'), Buffer.alloc(600 * 1024, 'a'));
      await ask(lab, change('POST', '/workspaces', { path: small }), 201);
      const json = { cwd: small, path: 'f', content: 'b'.repeat(900 * 1024) };
      const headers = { 'if-match': await etagOf(join(small, 'f')) };
      await ask(lab, change('PUT', '/file', json, headers), 507, 'no_space');
      expect(await etagOf(join(small, 'f'))).toBe(headers['if-match']);
      expect(await readdir(small)).toEqual(['f']);
    },
    'write-force-needs-version': async (lab) => {
      const first = await etagOf(join(lab.plain, 'a.txt'));
      await writeFile(join(lab.plain, 'a.txt'), 'second\n');
      const told = await replace(lab, 'a.txt', 'mine', first, 412, 'precondition_failed');
      expect(told.headers.etag).toBe(await etagOf(join(lab.plain, 'a.txt')));
      await writeFile(join(lab.plain, 'a.txt'), 'third\n');
      const again = await replace(
        lab,
        'a.txt',
        'mine',
        String(told.headers.etag),
        412,
        'precondition_failed',
      );
      expect(again.headers.etag).toBe(await etagOf(join(lab.plain, 'a.txt')));
      const json = { cwd: lab.plain, path: 'a.txt', content: 'mine', force: true };
      await ask(lab, change('PUT', '/file', json, { 'if-match': first }), 400, 'invalid_request');
      expect(await content(lab, 'a.txt')).toBe('third\n');
    },
    'write-archive-import': async (lab) => {
      await ask(lab, change('POST', '/import', { cwd: lab.plain }), 404, 'route_unknown');
    },
    'write-aborted-upload': async (lab) => {
      const body = JSON.stringify({ cwd: lab.plain, path: 'a.txt', content: 'x'.repeat(100_000) });
      const socket = await lab.server.connect();
      const arrived = once(lab.server.server, 'request');
      socket.write(
        [
          'PUT /api/file HTTP/1.1',
          `Host: 127.0.0.1:${lab.server.port}`,
          `Origin: ${lab.server.origin}`,
          `Authorization: Bearer ${testToken}`,
          'Content-Type: application/json',
          `If-Match: ${await etagOf(join(lab.plain, 'a.txt'))}`,
          `Content-Length: ${body.length}`,
          '',
          body.slice(0, body.length / 2),
        ].join('\r\n'),
      );
      await arrived;
      socket.resetAndDestroy();
      // The next change of the same file would wait for a change under way.
      await replace(lab, 'a.txt', 'two\n', await etagOf(join(lab.plain, 'a.txt')), 200);
      expect((await readdir(lab.plain)).filter((name) => name.startsWith('.'))).toEqual([]);
    },
  },
  elsewhere: { 'write-temp-left': 'test/files/recovery.test.ts' },
});

function content(lab: HttpLab, name: string): Promise<string> {
  return readFile(join(lab.plain, name), 'utf8');
}

function replace(lab: HttpLab, path: string, text: string, etag: string, status: number, code?: string) {
  const json = { cwd: lab.plain, path, content: text };
  return ask(lab, change('PUT', '/file', json, { 'if-match': etag }), status, code);
}
