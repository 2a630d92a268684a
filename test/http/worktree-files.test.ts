import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { git, makeRepository } from '../support/http-lab.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import {
  addOwnWorktree,
  addPluginWorktree,
  addWorktree,
  administrationOf,
} from '../support/http-worktrees.ts';
import { ask, get } from './public-bugs/bug-table.ts';

const run = promisify(execFile);

const here = useWorktreeLab();
const refused = 'workspace_not_authorized';

describe('files of a worktree', () => {
  const fileRoutes = (cwd: string) => [
    get('/file', { cwd, path: 'tracked.txt' }),
    get('/list', { cwd }),
    get('/raw', { cwd, path: 'tracked.txt', download: '1' }),
  ];

  it.each([
    ['linked', (): Promise<string> => addWorktree(here.main, join(here.place, 'linked'), 'linked')],
    ['inside its main checkout', () => addWorktree(here.main, join(here.main, 'pool/feat/x'), 'feat/x')],
    ['managed', () => addOwnWorktree(here.main, here.lab.managedRoot, 'own', null)],
    ['managed by the plugin', () => addPluginWorktree(here.main, here.lab.pluginRoot, 'plugin')],
  ])('R33: %s: they are read, listed, saved and made; its `.git` file stays closed', async (_, make) => {
    const cwd = await make();
    for (const request of fileRoutes(cwd)) await ask(here.lab, request, 200);
    const read = await ask(here.lab, get('/file', { cwd, path: 'tracked.txt' }), 200);
    const save = { cwd, path: 'tracked.txt', content: 'saved\n', baseSha1: read.body?.['sha1'] };
    await ask(here.lab, { method: 'POST', path: '/file', json: save }, 200);
    expect(await readFile(join(cwd, 'tracked.txt'), 'utf8')).toBe('saved\n');
    expect(await readFile(join(here.main, 'tracked.txt'), 'utf8')).toBe('one\n');
    const create = { cwd, path: 'new.txt', content: 'new\n' };
    const headers = { 'if-none-match': '*' };
    await ask(here.lab, { method: 'PUT', path: '/file', json: create, headers }, 201);
    const closed = { code: 'administrative_path', pointer: await readFile(join(cwd, '.git'), 'utf8') };
    for (const path of ['.git', '.GIT', '.git/config']) {
      await ask(here.lab, get('/file', { cwd, path }), 403, closed.code);
      await ask(here.lab, get('/raw', { cwd, path, download: '1' }), 403, closed.code);
      const json = { cwd, path, content: 'gitdir: /evil\n' };
      await ask(here.lab, { method: 'PUT', path: '/file', json, headers }, 403, closed.code);
    }
    await ask(
      here.lab,
      { method: 'POST', path: '/rename', json: { cwd, from: '.git', to: 'x' } },
      403,
      closed.code,
    );
    expect(await readFile(join(cwd, '.git'), 'utf8')).toBe(closed.pointer);
    const { body } = await ask(here.lab, get('/list', { cwd }), 200);
    const { entries } = body as unknown as { entries: readonly { name: string }[] };
    const names = entries.map(({ name }) => name);
    expect(names).toEqual(['new.txt', 'tracked.txt']);
  });

  it('R12: a worktree that contains its own main checkout cannot reach the administration', async () => {
    const outer = join(here.place, 'outer');
    await git(here.main, 'worktree', 'add', '-q', '--detach', outer);
    await rename(here.main, join(outer, 'main'));
    await git(join(outer, 'main'), 'worktree', 'repair', outer);
    await here.lab.service.workspaces?.add(join(outer, 'main'));
    await ask(here.lab, get('/file', { cwd: outer, path: 'main/tracked.txt' }), 200);
    for (const path of ['main/.git/config', 'main/.git/worktrees/outer/gitdir']) {
      await ask(here.lab, get('/file', { cwd: outer, path }), 403, 'administrative_path');
    }
  });

  const strangers: readonly [string, () => Promise<string>][] = [
    [
      'a directory in a linked worktree',
      async () => {
        const inner = join(await addWorktree(here.main, join(here.place, 'linked'), 'linked'), 'inner');
        await mkdir(inner);
        return inner;
      },
    ],
    [
      'a copy of a linked worktree',
      async () => {
        await addWorktree(here.main, join(here.place, 'linked'), 'linked');
        await run('cp', ['-a', join(here.place, 'linked'), join(here.place, 'copy')]);
        return join(here.place, 'copy');
      },
    ],
    [
      'a copy of a managed worktree beside it',
      async () => {
        const own = await addOwnWorktree(here.main, here.lab.managedRoot, 'own', null);
        await run('cp', ['-a', own, `${own}-copy`]);
        return `${own}-copy`;
      },
    ],
    ['a forged `.git` file that names the main checkout', () => forge(`${here.main}/.git`)],
    [
      'a forged `.git` file that names the administration of a real worktree',
      async () =>
        forge(await administrationOf(await addWorktree(here.main, join(here.place, 'linked'), 'linked'))),
    ],
    [
      'a forged `.git` file that names an administration made for it elsewhere',
      async () => {
        const evil = await forge(join(here.place, 'evil/.git/worktrees/forged'));
        const administration = join(here.place, 'evil/.git/worktrees/forged');
        await mkdir(administration, { recursive: true });
        await writeFile(join(administration, 'gitdir'), `${evil}/.git\n`);
        await writeFile(join(administration, 'commondir'), `${here.main}/.git\n`);
        await writeFile(join(administration, 'HEAD'), 'ref: refs/heads/main\n');
        return evil;
      },
    ],
    [
      'a forged `.git` file that names a worktree with a name longer than any',
      async () => {
        const linked = await addWorktree(here.main, join(here.place, 'linked'), 'linked');
        return forge(`${dirname(await administrationOf(linked))}/${'n'.repeat(256)}`);
      },
    ],
    [
      'a forged `.git` file that names a worktree with a path longer than any',
      async () => {
        const main = `${here.place}${`/${'d'.repeat(200)}`.repeat(19)}`;
        await makeRepository(main);
        await here.lab.service.workspaces?.add(main);
        const target = `${main}/.git/worktrees/${'n'.repeat(250)}`;
        expect(target.length).toBeGreaterThan(4096);
        return forge(target);
      },
    ],
    [
      'a worktree of a main checkout that is not registered',
      () => addWorktree(here.lab.outside, join(here.place, 'linked'), 'of-outside-2'),
    ],
    [
      'a worktree of a main checkout that is registered no longer',
      async () => {
        const linked = await addWorktree(here.main, join(here.place, 'linked'), 'linked');
        await ask(here.lab, get('/list', { cwd: linked }), 200);
        await here.lab.service.workspaces?.remove(here.main);
        return linked;
      },
    ],
    [
      'a worktree whose row was pruned',
      async () => {
        const linked = await addWorktree(here.main, join(here.place, 'linked'), 'linked');
        await rename(linked, `${linked}-away`);
        await git(here.main, 'worktree', 'prune');
        await rename(`${linked}-away`, linked);
        return linked;
      },
    ],
    [
      'another spelling of a linked worktree',
      async () => `${await addWorktree(here.main, join(here.place, 'linked'), 'linked')}/`,
    ],
    [
      'a link to a linked worktree',
      async () => {
        await addWorktree(here.main, join(here.place, 'linked'), 'linked');
        await run('ln', ['-s', join(here.place, 'linked'), join(here.place, 'link')]);
        return join(here.place, 'link');
      },
    ],
  ];

  async function forge(target: string): Promise<string> {
    const path = join(here.place, 'forged');
    await mkdir(path, { recursive: true });
    await writeFile(join(path, '.git'), `gitdir: ${target}\n`);
    return path;
  }

  it.each(strangers)('R30, R32, R34: %s is 403 on every route, like what does not exist', async (_, make) => {
    const cwd = await make();
    const missing = await ask(here.lab, get('/list', { cwd: join(here.place, 'missing') }), 403, refused);
    const routes = [...fileRoutes(cwd), get('/detect', { path: cwd }), get('/worktrees', { cwd })];
    for (const request of routes) {
      const { body } = await ask(here.lab, request, 403, refused);
      expect({ ...body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
    }
    const json = { cwd, path: 'made' };
    await ask(here.lab, { method: 'POST', path: '/mkdir', json }, 403, refused);
    await expect(realpath(join(cwd, 'made'))).rejects.toThrow('ENOENT');
  });
});
