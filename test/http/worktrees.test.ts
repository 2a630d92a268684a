import { execFile } from 'node:child_process';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { authorityHash } from '../../src/proof/managed-namespace.ts';
import { git, makeRepository } from '../support/http-lab.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import {
  addOwnWorktree,
  addPluginWorktree,
  addWorktree,
  administrationOf,
} from '../support/http-worktrees.ts';
import { expectNestedRefused } from '../support/nested.ts';
import { ask, get } from './public-bugs/bug-table.ts';

const run = promisify(execFile);

const here = useWorktreeLab();
const refused = 'workspace_not_authorized';

interface Item {
  readonly path: string;
  readonly branch: string | null;
  readonly current: boolean;
}

async function list(cwd: string): Promise<readonly Item[]> {
  const { body } = await ask(here.lab, get('/worktrees', { cwd }), 200);
  expect(body).toMatchObject({ ok: true, isGit: true });
  return body?.['items'] as readonly Item[];
}

async function pathsOf(cwd: string): Promise<readonly string[]> {
  return (await list(cwd)).map(({ path }) => path);
}

describe('GET /worktrees', () => {
  it('R41: tells every field of the wire contract, for a main checkout and all kinds of worktrees', async () => {
    const first = (await git(here.main, 'rev-parse', 'HEAD')).trimEnd();
    const linked = await addWorktree(here.main, join(here.place, 'linked'), 'feat/x');
    await git(
      linked,
      '-c',
      'user.name=t',
      '-c',
      'user.email=t@e',
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'x',
    );
    const second = (await git(linked, 'rev-parse', 'HEAD')).trimEnd();
    const detached = await addWorktree(here.main, join(here.place, 'detached'), null);
    const unborn = await addWorktree(here.main, join(here.place, 'unborn'), 'to-go');
    await git(unborn, 'checkout', '-q', '--orphan', 'new');
    const locked = await addWorktree(here.main, join(here.place, 'locked'), 'locked');
    await git(here.main, 'worktree', 'lock', '--reason', 'worktree /etc\nprunable', locked);
    const own = await addOwnWorktree(here.main, here.lab.managedRoot, 'own', 'Source');
    const plugin = await addPluginWorktree(here.main, here.lab.pluginRoot, 'plugin', { baseRefName: null });
    const plain = { bare: false, managed: false, baseRefName: null, isMain: false, detached: false };
    const wanted = [
      { ...plain, path: here.main, branch: 'main', head: first, isMain: true },
      { ...plain, path: linked, branch: 'feat/x', head: second },
      { ...plain, path: detached, branch: null, head: first, detached: true },
      { ...plain, path: unborn, branch: 'new', head: null },
      { ...plain, path: locked, branch: 'locked', head: first },
      { ...plain, path: own, branch: 'own', head: first, managed: true, baseRefName: 'main' },
      { ...plain, path: plugin, branch: 'plugin', head: first, managed: true },
    ];
    for (const cwd of [here.main, linked, detached, locked, own]) {
      const { body } = await ask(here.lab, get('/worktrees', { cwd }), 200);
      const { items, ...rest } = body as { items: readonly Item[] };
      const root = join(here.lab.managedRoot, authorityHash(here.main));
      expect(rest).toEqual({ ok: true, isGit: true, mainRepoRoot: here.main, root });
      expect(items[0]?.path).toBe(here.main);
      const expected = await Promise.all(
        wanted.map(async (item) => ({
          ...item,
          createdAt: (await stat(item.path)).mtimeMs,
          current: item.path === cwd,
        })),
      );
      expect(items).toHaveLength(expected.length);
      expect(items).toEqual(expect.arrayContaining(expected.map((item) => closeTo(item))));
    }
  });

  /** The kernel counts nanoseconds, a double of milliseconds cannot. */
  function closeTo<Row extends { readonly createdAt: number }>(item: Row): object {
    return { ...item, createdAt: expect.closeTo(item.createdAt, 1) };
  }

  it('R03: a plain directory has none, and a nested one gets none of the repository around it', async () => {
    const { body } = await ask(here.lab, get('/worktrees', { cwd: here.lab.plain }), 200);
    expect(body).toEqual({ ok: true, isGit: false, items: [] });
    await expectNestedRefused(here.lab, '/worktrees');
  });

  it('R41: a missing selector is named as older clients know it', async () => {
    const { body } = await ask(here.lab, { path: '/worktrees' }, 400, 'invalid_request');
    expect(body?.['error']).toBe('cwd required');
    await ask(here.lab, get('/worktrees', { cwd: here.main, path: here.main }), 400, 'invalid_request');
  });

  it.each([
    ['an unregistered repository', async () => here.lab.outside],
    [
      'a directory in a worktree',
      async () => join(await addWorktree(here.main, join(here.place, 'w'), 'w'), 'sub'),
    ],
    [
      'a worktree of an unregistered repository',
      () => addWorktree(here.lab.outside, join(here.place, 'w'), 'of-outside-1'),
    ],
  ])('R34: %s is refused', async (_, make) => {
    const cwd = await make();
    await mkdir(cwd, { recursive: true });
    await ask(here.lab, get('/worktrees', { cwd }), 403, refused);
  });

  it('R31: a prunable row is left out, and so is one on a removed disk; a moved one has its new name', async () => {
    for (const name of ['gone', 'away', 'moving']) await addWorktree(here.main, join(here.place, name), name);
    await git(here.main, 'worktree', 'lock', join(here.place, 'away'));
    for (const name of ['gone', 'away']) await rm(join(here.place, name), { recursive: true });
    await git(here.main, 'worktree', 'move', join(here.place, 'moving'), join(here.place, 'moved'));
    expect(await pathsOf(here.main)).toEqual([here.main, join(here.place, 'moved')]);
    expect(await git(here.main, 'worktree', 'list')).toContain(join(here.place, 'gone'));
  });

  it('R34, W41: a path with a newline forges no row, and nothing acts on it', async () => {
    const victim = join(here.lab.plain, '');
    await git(here.main, 'worktree', 'add', '-q', '--detach', `${here.place}/x\nworktree ${victim}`);
    await git(
      here.main,
      'worktree',
      'add',
      '-q',
      '--detach',
      `${here.place}/y\n\nworktree ${here.lab.repo}\nHEAD 1`,
    );
    await git(here.main, 'worktree', 'add', '-q', '--detach', `${here.place}/z\u001b[2J`);
    const honest = await addWorktree(here.main, join(here.place, 'honest'), 'honest');
    expect(await pathsOf(here.main)).toEqual([here.main, honest]);
  });

  it('R34: a path that is not UTF-8 is left out, and does not become another one', async () => {
    const script = `git -C "$1" worktree add -q --detach "$2/$(printf 'a\\377')"`;
    await run('bash', ['-c', script, 'bash', here.main, here.place], { env: { PATH: process.env['PATH'] } });
    await addWorktree(here.main, join(here.place, 'a\ufffd'), 'impostor');
    const honest = await addWorktree(here.main, join(here.place, 'ä 한'), 'honest');
    expect(await pathsOf(here.main)).toEqual([here.main, honest]);
  });

  it('R32: a row that names a checkout of another repository is not listed, though that is authorised', async () => {
    const fake = join(here.main, '.git/worktrees/fake');
    await mkdir(fake, { recursive: true });
    await writeFile(join(fake, 'gitdir'), `${here.lab.repo}/.git\n`);
    await writeFile(join(fake, 'commondir'), '../..\n');
    await writeFile(join(fake, 'HEAD'), 'ref: refs/heads/main\n');
    expect(await git(here.main, 'worktree', 'list')).toContain(here.lab.repo);
    expect(await pathsOf(here.main)).toEqual([here.main]);
    await ask(here.lab, get('/worktrees', { cwd: here.lab.repo }), 200);
  });

  it('R32: a registered worktree of an unregistered main checkout lends neither that nor its siblings', async () => {
    const other = join(here.place, 'other');
    await makeRepository(other);
    const [one, two] = [join(here.place, 'one'), join(here.place, 'two')];
    await addWorktree(other, one, 'one');
    await addWorktree(other, two, 'two');
    await here.lab.service.workspaces?.add(one);
    const { body } = await ask(here.lab, get('/worktrees', { cwd: one }), 200);
    expect(body).toMatchObject({ mainRepoRoot: null, root: null, items: [{ path: one, current: true }] });
    expect(body?.['items']).toHaveLength(1);
    await ask(here.lab, get('/worktrees', { cwd: two }), 403, refused);
  });

  it('a worktree that two administrations claim is listed once, as what it is', async () => {
    const linked = await addWorktree(here.main, join(here.place, 'linked'), 'real');
    await git(here.main, 'branch', 'false');
    const copy = join(here.main, '.git/worktrees/a-copy');
    await run('cp', ['-a', await administrationOf(linked), copy]);
    await writeFile(join(copy, 'HEAD'), 'ref: refs/heads/false\n');
    const rows = (await git(here.main, 'worktree', 'list'))
      .split('\n')
      .filter((row) => row.startsWith(linked));
    expect(rows).toHaveLength(2);
    expect((await list(here.main)).filter(({ path }) => path === linked)).toMatchObject([{ branch: 'real' }]);
  });

  it('a main checkout with a separate Git dir lists itself', async () => {
    const root = join(here.place, 'separate');
    await git('/', 'init', '-q', '-b', 'main', `--separate-git-dir=${root}.git`, root);
    await here.lab.service.workspaces?.add(root);
    await addUnsupported(root);
    const { body } = await ask(here.lab, get('/worktrees', { cwd: root }), 200);
    expect(body).toMatchObject({ mainRepoRoot: root, items: [{ path: root, isMain: true, current: true }] });
    expect(body?.['items']).toHaveLength(1);
  });

  /** Git itself takes the separate Git dir for the main checkout of such a worktree. */
  async function addUnsupported(root: string): Promise<void> {
    await git(root, '-c', 'user.name=t', '-c', 'user.email=t@e', 'commit', '-q', '--allow-empty', '-m', 'x');
    await addWorktree(root, `${root}-linked`, 'linked');
  }
});
