import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { git, type HttpLab, makeRepository } from '../../support/http-lab.ts';
import type { TestRequest } from '../../support/http-server.ts';
import { ask, type BugScenario, change, get, runBugTable } from './bug-table.ts';

let repositories = 0;

/** A registered repository of one test, with a commit of `k` in it, and a program that leaves a mark. */
async function prepare(lab: HttpLab) {
  repositories += 1;
  const path = join(lab.sandbox, `git-args-${repositories}`);
  await makeRepository(path);
  await lab.service.workspaces?.add(path);
  const marker = `${path}-marker`;
  const program = `${path}-program`;
  await writeFile(program, `#!/bin/sh\n: > '${marker}'\ncat "$@"\n`, { mode: 0o755 });
  const put = (name: string, content: string) => writeFile(join(path, name), content);
  return {
    path,
    program,
    put,
    ran: () =>
      rm(marker).then(
        () => true,
        () => false,
      ),
  };
}

async function commitAll(path: string): Promise<void> {
  await git(path, 'add', '-A');
  await git(path, '-c', 'user.name=t', '-c', 'user.email=t@e', 'commit', '-q', '-m', 'more');
}

async function pathsOf(lab: HttpLab, cwd: string): Promise<readonly string[]> {
  const answer = await ask(lab, get('/diff', { cwd }), 200);
  const body = answer.body as { readonly files: readonly { readonly path: string }[] };
  return body.files.map((file) => file.path);
}

function action(cwd: string, name: string, params: Readonly<Record<string, unknown>> = {}): TestRequest {
  return change('POST', '/action', { cwd, name, params });
}

/** What is in the commit that HEAD leads to, each name by itself. */
async function committed(path: string): Promise<readonly string[]> {
  return (await git(path, 'ls-tree', '-r', '-z', '--name-only', 'HEAD')).split('\0').slice(0, -1);
}

/** The file is changed, and told under exactly its name. */
function changedName(name: string): BugScenario {
  return async (lab) => {
    const { path, put } = await prepare(lab);
    await put(name, 'one\n');
    await commitAll(path);
    await put(name, 'two\n');
    expect(await pathsOf(lab, path)).toEqual([name]);
  };
}

runBugTable('git-args', 'R20', {
  scenarios: {
    'git-freeform-args': async (lab) => {
      const { path, program, ran } = await prepare(lab);
      await git(path, 'remote', 'add', 'origin', lab.outside);
      for (const words of [[`--upload-pack=${program}`], `--upload-pack=${program}`]) {
        for (const name of ['fetch', 'push']) {
          await ask(lab, action(path, name, { args: words }), 400, 'invalid_request');
        }
      }
      expect(await ran()).toBe(false);
      await git(path, 'fetch', '-q', `--upload-pack=${program}`, 'origin').catch(() => undefined);
      expect(await ran()).toBe(true);
    },
    'git-ext-transport': async (lab) => {
      const { path, program, ran } = await prepare(lab);
      const address = `ext::${program} /dev/null`;
      await ask(lab, action(path, 'fetch', { remote: address }), 400, 'invalid_request');
      await git(path, 'remote', 'add', 'origin', address);
      await git(path, 'config', 'protocol.ext.allow', 'always');
      for (const name of ['fetch', 'push']) {
        const { body } = await ask(lab, action(path, name), 502, 'git_failed');
        expect(body?.['details']).toMatchObject({ reason: 'protocol-not-allowed' });
      }
      expect(await ran()).toBe(false);
      await git(path, 'fetch', '-q', 'origin').catch(() => undefined);
      expect(await ran()).toBe(true);
    },
    'git-url-insteadof': async (lab) => {
      const { path, program, ran } = await prepare(lab);
      await git(path, 'remote', 'add', 'origin', 'https://host.invalid/x');
      await git(path, 'config', 'protocol.ext.allow', 'always');
      for (const [key, value, told] of [
        [`url.ext::${program} .insteadOf`, 'https://host.invalid/', 'url.*.insteadof'],
        ['core.sshCommand', program, 'core.sshcommand'],
        ['credential.helper', `!${program}`, 'credential.helper'],
      ] as const) {
        await git(path, 'config', key, value);
        const { body } = await ask(lab, action(path, 'fetch'), 409, 'untrusted_repository_config');
        expect(body?.['details']).toMatchObject({ keys: [told] });
        expect(await ran()).toBe(false);
        if (told === 'url.*.insteadof') await git(path, 'fetch', '-q', 'origin').catch(() => undefined);
        expect(await ran()).toBe(told === 'url.*.insteadof');
        await git(path, 'config', '--unset', key);
      }
    },
    'git-pathspec-star': async (lab) => {
      const { path, put } = await prepare(lab);
      const names = ['*', '*.json', 'foo.json'];
      for (const name of names) await put(name, '1\n');
      await ask(lab, action(path, 'discard', { paths: ['*.json'] }), 409, 'confirmation_required');
      for (const name of names) expect(await readFile(join(path, name), 'utf8')).toBe('1\n');
      const done = await ask(lab, action(path, 'discard', { paths: ['*.json'] }), 200);
      expect((await readdir(path)).filter((name) => names.includes(name))).toEqual(['*', 'foo.json']);
      const archive = done.body?.['archive'];
      await ask(lab, change('POST', '/discarded/restore', { cwd: path, archive }), 200);
      // A repository of its own is left out, unless the file called `*` stands for it, too.
      await makeRepository(join(path, 'inner.json'));
      await ask(lab, action(path, 'commit', { message: 'm' }), 200);
      expect(await committed(path)).toEqual([...names, 'tracked.txt']);
      expect(await git(path, 'status', '--porcelain')).toBe('?? inner.json/\n');
    },
    'git-pathspec-magic': async (lab) => {
      const { path, put } = await prepare(lab);
      const index = await readFile(join(path, '.git/index'));
      const paths = [':/', ':(top)*', ':!x'];
      for (const name of ['stage', 'add']) {
        await ask(lab, action(path, name, { paths }), 400, 'action_unknown');
      }
      await ask(lab, action(path, 'commit', { message: 'm', paths }), 400, 'invalid_request');
      expect(await readFile(join(path, '.git/index'))).toEqual(index);
      const names = [':!x', ':(top)*', ':(top,glob)**', 'x'];
      for (const name of names) await put(name, '1\n');
      await makeRepository(join(path, 'inner'));
      await ask(lab, action(path, 'commit', { message: 'm' }), 200);
      expect(await committed(path)).toEqual([':!x', ':(top)*', ':(top,glob)**', 'tracked.txt', 'x']);
      expect(await git(path, 'status', '--porcelain')).toBe('?? inner/\n');
    },
    'git-stage-outside': async (lab) => {
      const { path } = await prepare(lab);
      const secret = join(lab.sandbox, 'external/external.txt');
      const before = await git(path, 'count-objects', '-v');
      const paths = ['../external/external.txt', secret];
      await ask(lab, action(path, 'commit', { message: 'm', paths }), 400, 'invalid_request');
      expect(await git(path, 'count-objects', '-v')).toBe(before);
      await symlink(secret, join(path, 'link'));
      await symlink(join(lab.sandbox, 'external'), join(path, 'directory'));
      await ask(lab, action(path, 'commit', { message: 'm' }), 200);
      expect(await committed(path)).toEqual(['directory', 'link', 'tracked.txt']);
      expect(await git(path, 'cat-file', 'blob', 'HEAD:link')).toBe(secret);
      const stored = (await git(path, 'hash-object', secret)).trim();
      await expect(git(path, 'cat-file', '-e', stored)).rejects.toThrow();
    },
    'git-filter-clean': async (lab) => {
      const { path, program, put, ran } = await prepare(lab);
      await git(path, 'config', 'filter.z.clean', program);
      await writeFile(join(path, '.git/info/attributes'), 'tracked.txt filter=z\n');
      await put('tracked.txt', 'two\n');
      const answer = await ask(lab, get('/diff', { cwd: path }), 409, 'untrusted_repository_config');
      expect(answer.body?.['details']).toMatchObject({ keys: ['filter.z.clean'] });
      expect(await ran()).toBe(false);
    },
    'git-textconv': async (lab) => {
      const { path, program, put, ran } = await prepare(lab);
      await git(path, 'config', 'diff.q.textconv', program);
      await writeFile(join(path, '.git/info/attributes'), 'tracked.txt diff=q\n');
      await put('tracked.txt', 'two\n');
      expect(await pathsOf(lab, path)).toEqual(['tracked.txt']);
      expect(await ran()).toBe(false);
      await git(path, 'diff');
      expect(await ran()).toBe(true);
    },
    'git-rev-path-syntax': async (lab) => {
      const { path, put } = await prepare(lab);
      for (const commit of ['HEAD~1', ':/fix', '@{-1}', 'HEAD^{/x}', 'HEAD:tracked.txt']) {
        await ask(lab, get('/diff', { cwd: path, commit }), 422, 'invalid_commit_oid');
        await ask(lab, get('/diff', { cwd: path, base: commit }), 422, 'invalid_base_revision');
      }
      await put('a:b', '1\n');
      const { body } = await ask(lab, get('/diff', { cwd: path, path: 'a:b' }), 200);
      expect(body?.['files']).toMatchObject([{ path: 'a:b', additions: 1 }]);
    },
    'git-short-oid': async (lab) => {
      const { path } = await prepare(lab);
      const head = (await git(path, 'rev-parse', 'HEAD')).trimEnd();
      for (const digits of [7, 8, 39]) {
        const commit = head.slice(0, digits);
        await ask(lab, get('/diff', { cwd: path, commit }), 422, 'invalid_commit_oid');
      }
      await ask(lab, get('/diff', { cwd: path, commit: head }), 200);
    },
    'git-nonascii-path': changedName('한글 a.md'),
    'git-name-with-b-slash': async (lab) => {
      const { path, put } = await prepare(lab);
      await mkdir(join(path, 'x b'));
      await put('x b/y', 'one\n');
      await commitAll(path);
      await put('x b/y', 'two\n');
      expect(await pathsOf(lab, path)).toEqual(['x b/y']);
    },
    'git-user-config-format': async (lab) => {
      const { path, put } = await prepare(lab);
      await put('tracked.txt', 'two\n');
      const before = await ask(lab, get('/diff', { cwd: path }), 200);
      for (const [key, value] of [
        ['diff.noprefix', 'true'],
        ['diff.mnemonicPrefix', 'true'],
        ['color.ui', 'always'],
        ['diff.external', '/bin/false'],
      ] as const) {
        await git(path, 'config', key, value);
      }
      expect((await ask(lab, get('/diff', { cwd: path }), 200)).body).toEqual(before.body);
    },
    'git-unborn-head': async (lab) => {
      const path = join(lab.sandbox, 'git-args-unborn');
      await git(lab.sandbox, 'init', '-q', '-b', 'main', path);
      await lab.service.workspaces?.add(path);
      await writeFile(join(path, 'HEAD'), '1\n');
      await git(path, 'add', 'HEAD');
      expect(await pathsOf(lab, path)).toEqual(['HEAD']);
    },
  },
  elsewhere: {
    'git-credential-prompt': 'test/actions/network.test.ts',
    'git-identity-injection': 'test/http/action.test.ts',
    'git-conflict-markers': 'test/http/action.test.ts',
  },
  later: {
    'git-namespace-clash': 'branches are not made yet: POST /worktrees',
  },
});
