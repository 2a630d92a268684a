import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { createService } from '../../../src/service/create-service.ts';
import { git, makeRepository } from '../../support/http-lab.ts';
import { startServer } from '../../support/http-server.ts';
import { testBinding } from '../../support/test-binding.ts';
import { ask, change, get, runBugTable } from './bug-table.ts';

const refused = 'workspace_not_authorized';

runBugTable('selector', 'R02', {
  scenarios: {
    'sel-prefix-sibling': async (lab) => {
      await mkdir(`${lab.plain}-secret`);
      await writeFile(`${lab.plain}-secret/k`, 'secret');
      await ask(lab, get('/file', { cwd: `${lab.plain}-secret`, path: 'k' }), 403, refused);
    },
    'sel-dotdot-sibling': async (lab) => {
      await mkdir(`${lab.plain}-secret`, { recursive: true });
      await writeFile(`${lab.plain}-secret/k`, 'secret');
      const answer = await ask(
        lab,
        get('/file', { cwd: lab.plain, path: '../plain-secret/k' }),
        403,
        'path_outside_workspace',
      );
      expect(answer.text).not.toContain('secret');
    },
    'sel-open-by-default': async (lab) => {
      const stateDirectory = join(lab.sandbox, 'empty-state');
      await using service = await createService({ stateDirectory, prover: 'git', binding: testBinding });
      await using server = await startServer(service);
      expect((await server.send({ path: '//readyz' })).body).toMatchObject({ status: 'ready', roots: [] });
      for (const cwd of ['/', '/etc', lab.plain, lab.sandbox]) {
        expect((await server.send(get('/list', { cwd }))).body?.['code']).toBe(refused);
      }
    },
    'sel-header-directory': async (lab) => {
      const headers = { directory: '/etc', 'x-directory': '/etc', 'x-opencode-directory': '/etc' };
      const answer = await ask(lab, { path: '/list', headers }, 400, 'invalid_request');
      expect(answer.body?.['error']).toBe('cwd required');
    },
    'sel-repeated-param': async (lab) => {
      const path = `/file?cwd=${lab.plain}&cwd=${lab.repo}&path=a.txt`;
      await ask(lab, { path }, 400, 'invalid_request');
      await ask(lab, { path: `/file?cwd=${lab.plain}&path=a.txt&path=a.txt` }, 400, 'invalid_request');
    },
    'sel-nul-and-control': async (lab) => {
      await ask(lab, { path: `/file?cwd=${lab.plain}%00/../../etc&path=f` }, 400, 'invalid_request');
      for (const control of ['%0a', '%1b', '%7f']) {
        await ask(lab, { path: `/file?cwd=${lab.plain}${control}&path=f` }, 400, 'invalid_request');
      }
    },
    'sel-tilde-env': async (lab) => {
      for (const cwd of ['~/app', '$HOME/app', `${lab.sandbox}/*`, 'file:///etc']) {
        await ask(lab, get('/file', { cwd, path: 'f' }), 403, refused);
      }
    },
    'sel-root-swapped': async (lab) => {
      const root = join(lab.sandbox, 'swapped');
      await makeRepository(root);
      await ask(lab, change('POST', '/workspaces', { path: root }), 201);
      await ask(lab, get('/file', { cwd: root, path: 'tracked.txt' }), 200);
      await rename(root, `${root}-away`);
      await makeRepository(root);
      await writeFile(join(root, 'tracked.txt'), 'another repository\n');
      for (const route of ['/file', '/raw']) {
        const parameters = route === '/raw' ? { download: '1' } : {};
        const request = get(route, { cwd: root, path: 'tracked.txt', ...parameters });
        const answer = await ask(lab, request, 403, refused);
        expect(answer.text).not.toContain('another');
      }
      await ask(lab, change('POST', '/workspaces/confirm', { path: root }), 200);
      await ask(lab, get('/file', { cwd: root, path: 'tracked.txt' }), 200);
    },
    'sel-forged-gitfile': async (lab) => {
      const evil = join(lab.sandbox, 'evil');
      await mkdir(evil, { recursive: true });
      await writeFile(join(evil, '.git'), `gitdir: ${lab.repo}/.git\n`);
      await ask(lab, get('/detect', { path: evil }), 403, refused);
      await ask(lab, get('/file', { cwd: evil, path: 'x' }), 403, refused);
    },
    'sel-gitdir-shape': async (lab) => {
      const evil = join(lab.sandbox, 'shaped');
      const fake = join(lab.outside, '.git/worktrees/fake');
      await mkdir(evil, { recursive: true });
      await mkdir(fake, { recursive: true });
      await writeFile(join(fake, 'HEAD'), 'ref: refs/heads/main\n');
      await writeFile(join(evil, '.git'), `gitdir: ${fake}\n`);
      await ask(lab, get('/detect', { path: evil }), 403, refused);
      const forged = join(lab.repo, '.git/worktrees/fake');
      await mkdir(forged, { recursive: true });
      await writeFile(join(forged, 'HEAD'), 'ref: refs/heads/main\n');
      await writeFile(join(evil, '.git'), `gitdir: ${forged}\n`);
      await ask(lab, get('/detect', { path: evil }), 403, refused);
      await rm(forged, { recursive: true });
    },
    'sel-moved-worktree': async (lab) => {
      const worktree = join(lab.sandbox, 'moved');
      await git(lab.repo, 'worktree', 'add', '-q', '--detach', worktree);
      await rename(worktree, `${worktree}-3`);
      await ask(lab, get('/detect', { path: `${worktree}-3` }), 403, refused);
      const { body } = await ask(lab, get('/explain', { path: `${worktree}-3` }), 200);
      const unlisted = {
        fact: 'worktree list',
        expected: 'this root',
        seen: 'another or none',
        holds: false,
      };
      expect(body).toMatchObject({ facts: expect.arrayContaining([unlisted]) });
      await git(lab.repo, 'worktree', 'repair', `${worktree}-3`);
      await ask(lab, get('/detect', { path: `${worktree}-3` }), 200);
    },
    'sel-newline-path': async (lab) => {
      const unrepresentable = join(lab.sandbox, 'w\nx');
      const honest = join(lab.sandbox, 'w');
      for (const path of [unrepresentable, honest]) {
        await git(lab.repo, 'worktree', 'add', '-q', '--detach', path);
      }
      const { body, text } = await ask(lab, get('/worktrees', { cwd: lab.repo }), 200);
      const item = expect.objectContaining({ path: honest, detached: true });
      expect(body).toMatchObject({ items: expect.arrayContaining([item]) });
      expect(text).not.toContain('w\\nx');
      await ask(lab, get('/list', { cwd: unrepresentable }), 400, 'invalid_request');
      expect(await git(unrepresentable, 'status', '--porcelain')).toBe('');
    },
    'sel-inherited-git-env': async (lab) => {
      vi.stubEnv('GIT_DIR', join(lab.outside, '.git'));
      vi.stubEnv('GIT_WORK_TREE', lab.outside);
      try {
        await git(lab.outside, 'branch', '-f', 'other');
        const answer = await ask(lab, get('/detect', { path: lab.repo }), 200);
        expect(answer.body).toMatchObject({ isGit: true, repoRoot: lab.repo, branch: 'main' });
      } finally {
        vi.unstubAllEnvs();
      }
    },
    'sel-overlapping-roots': async (lab) => {
      const inner = join(lab.plain, 'inner');
      await mkdir(inner, { recursive: true });
      await ask(lab, change('POST', '/workspaces', { path: inner }), 201);
      await ask(lab, change('POST', '/workspaces', { path: lab.sandbox }), 201);
      await writeFile(join(inner, 'f'), 'inside\n');
      expect((await ask(lab, get('/file', { cwd: inner, path: 'f' }), 200)).body?.['content']).toBe(
        'inside\n',
      );
      const state = get('/file', { cwd: lab.sandbox, path: 'state/registry.json' });
      await ask(lab, state, 403, 'administrative_path');
      expect(await readFile(join(lab.sandbox, 'state/registry.json'), 'utf8')).toContain('inner');
      for (const path of [inner, lab.sandbox]) await ask(lab, change('DELETE', '/workspaces', { path }), 200);
    },
    'sel-foreign-owner': async (lab) => {
      const foreign = join(lab.sandbox, 'foreign');
      await makeRepository(foreign);
      await chown(foreign, 65_534, 65_534);
      await ask(lab, change('POST', '/workspaces', { path: foreign }), 403, 'workspace_owner_mismatch');
      await ask(lab, get('/list', { cwd: foreign }), 403, refused);
      await rm(foreign, { recursive: true });
    },
  },
});
