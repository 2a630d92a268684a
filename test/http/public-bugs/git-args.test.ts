import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { git, type HttpLab, makeRepository } from '../../support/http-lab.ts';
import { ask, type BugScenario, get, runBugTable } from './bug-table.ts';

const fetches = 'fetching is not offered yet: /action';
const changes = 'changes of the index and the files by Git are not offered yet: /action';
const branches = 'branches are not made yet: POST /worktrees';

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
  later: {
    'git-freeform-args': fetches,
    'git-ext-transport': fetches,
    'git-url-insteadof': fetches,
    'git-credential-prompt': fetches,
    'git-pathspec-star': changes,
    'git-pathspec-magic': changes,
    'git-stage-outside': changes,
    'git-identity-injection': changes,
    'git-conflict-markers': changes,
    'git-namespace-clash': branches,
  },
});
