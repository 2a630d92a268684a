import { execFile } from 'node:child_process';
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorityHash } from '../../src/proof/managed-namespace.ts';
import { createHttpLab, git, type HttpLab, makeRepository } from '../support/http-lab.ts';
import {
  addOwnWorktree,
  addPluginWorktree,
  addWorktree,
  administrationOf,
} from '../support/http-worktrees.ts';
import { testBinding } from '../support/test-binding.ts';
import { ask, get } from './public-bugs/bug-table.ts';

const run = promisify(execFile);

interface Item {
  readonly path: string;
  readonly branch: string | null;
  readonly current: boolean;
}

let lab: HttpLab;
/** Each test has a registered main checkout of its own. */
let main: string;
let place: string;
let count = 0;

beforeAll(async () => {
  lab = await createHttpLab();
});
beforeEach(async () => {
  count += 1;
  place = join(lab.sandbox, `place ${count}`);
  main = join(place, 'main');
  await makeRepository(main);
  await lab.service.workspaces?.add(main);
});
afterAll(() => lab[Symbol.asyncDispose]());

async function list(cwd: string): Promise<readonly Item[]> {
  const { body } = await ask(lab, get('/worktrees', { cwd }), 200);
  expect(body).toMatchObject({ ok: true, isGit: true });
  return body?.['items'] as readonly Item[];
}

async function pathsOf(cwd: string): Promise<readonly string[]> {
  return (await list(cwd)).map(({ path }) => path);
}

const refused = 'workspace_not_authorized';

describe('GET /worktrees', () => {
  it('R41: tells every field of the wire contract, for a main checkout and all kinds of worktrees', async () => {
    const first = (await git(main, 'rev-parse', 'HEAD')).trimEnd();
    const linked = await addWorktree(main, join(place, 'linked'), 'feat/x');
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
    const detached = await addWorktree(main, join(place, 'detached'), null);
    const unborn = await addWorktree(main, join(place, 'unborn'), 'to-go');
    await git(unborn, 'checkout', '-q', '--orphan', 'new');
    const locked = await addWorktree(main, join(place, 'locked'), 'locked');
    await git(main, 'worktree', 'lock', '--reason', 'worktree /etc\nprunable', locked);
    const own = await addOwnWorktree(main, lab.managedRoot, 'own', 'Source');
    const plugin = await addPluginWorktree(main, lab.pluginRoot, 'plugin', { baseRefName: null });
    const plain = { bare: false, managed: false, baseRefName: null, isMain: false, detached: false };
    const wanted = [
      { ...plain, path: main, branch: 'main', head: first, isMain: true },
      { ...plain, path: linked, branch: 'feat/x', head: second },
      { ...plain, path: detached, branch: null, head: first, detached: true },
      { ...plain, path: unborn, branch: 'new', head: null },
      { ...plain, path: locked, branch: 'locked', head: first },
      { ...plain, path: own, branch: 'own', head: first, managed: true, baseRefName: 'main' },
      { ...plain, path: plugin, branch: 'plugin', head: first, managed: true },
    ];
    for (const cwd of [main, linked, detached, locked, own]) {
      const { body } = await ask(lab, get('/worktrees', { cwd }), 200);
      const { items, ...rest } = body as { items: readonly Item[] };
      const root = join(lab.managedRoot, authorityHash(main));
      expect(rest).toEqual({ ok: true, isGit: true, mainRepoRoot: main, root });
      expect(items[0]?.path).toBe(main);
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
    const { body } = await ask(lab, get('/worktrees', { cwd: lab.plain }), 200);
    expect(body).toEqual({ ok: true, isGit: false, items: [] });
    const nested = await ask(lab, get('/worktrees', { cwd: lab.nested }), 403, 'git_root_not_authorized');
    expect(nested.body?.['error']).toBe('git repository root not authorized');
  });

  it('R41: a missing selector is named as older clients know it', async () => {
    const { body } = await ask(lab, { path: '/worktrees' }, 400, 'invalid_request');
    expect(body?.['error']).toBe('cwd required');
    await ask(lab, get('/worktrees', { cwd: main, path: main }), 400, 'invalid_request');
  });

  it.each([
    ['an unregistered repository', async () => lab.outside],
    ['a directory in a worktree', async () => join(await addWorktree(main, join(place, 'w'), 'w'), 'sub')],
    [
      'a worktree of an unregistered repository',
      () => addWorktree(lab.outside, join(place, 'w'), `w${count}`),
    ],
  ])('R34: %s is refused', async (_, make) => {
    const cwd = await make();
    await mkdir(cwd, { recursive: true });
    await ask(lab, get('/worktrees', { cwd }), 403, refused);
  });

  it('R31: a prunable row is left out, and so is one on a removed disk; a moved one has its new name', async () => {
    for (const name of ['gone', 'away', 'moving']) await addWorktree(main, join(place, name), name);
    await git(main, 'worktree', 'lock', join(place, 'away'));
    for (const name of ['gone', 'away']) await rm(join(place, name), { recursive: true });
    await git(main, 'worktree', 'move', join(place, 'moving'), join(place, 'moved'));
    expect(await pathsOf(main)).toEqual([main, join(place, 'moved')]);
    expect(await git(main, 'worktree', 'list')).toContain(join(place, 'gone'));
  });

  it('R34, W41: a path with a newline forges no row, and nothing acts on it', async () => {
    const victim = join(lab.plain, '');
    await git(main, 'worktree', 'add', '-q', '--detach', `${place}/x\nworktree ${victim}`);
    await git(main, 'worktree', 'add', '-q', '--detach', `${place}/y\n\nworktree ${lab.repo}\nHEAD 1`);
    await git(main, 'worktree', 'add', '-q', '--detach', `${place}/z\u001b[2J`);
    const honest = await addWorktree(main, join(place, 'honest'), 'honest');
    expect(await pathsOf(main)).toEqual([main, honest]);
  });

  it('R34: a path that is not UTF-8 is left out, and does not become another one', async () => {
    const script = `git -C "$1" worktree add -q --detach "$2/$(printf 'a\\377')"`;
    await run('bash', ['-c', script, 'bash', main, place], { env: { PATH: process.env['PATH'] } });
    await addWorktree(main, join(place, 'a\ufffd'), 'impostor');
    const honest = await addWorktree(main, join(place, 'ä 한'), 'honest');
    expect(await pathsOf(main)).toEqual([main, honest]);
  });

  it('R32: a row that names a checkout of another repository is not listed, though that is authorised', async () => {
    const fake = join(main, '.git/worktrees/fake');
    await mkdir(fake, { recursive: true });
    await writeFile(join(fake, 'gitdir'), `${lab.repo}/.git\n`);
    await writeFile(join(fake, 'commondir'), '../..\n');
    await writeFile(join(fake, 'HEAD'), 'ref: refs/heads/main\n');
    expect(await git(main, 'worktree', 'list')).toContain(lab.repo);
    expect(await pathsOf(main)).toEqual([main]);
    await ask(lab, get('/worktrees', { cwd: lab.repo }), 200);
  });

  it('R32: a registered worktree of an unregistered main checkout lends neither that nor its siblings', async () => {
    const other = join(place, 'other');
    await makeRepository(other);
    const [one, two] = [join(place, 'one'), join(place, 'two')];
    await addWorktree(other, one, 'one');
    await addWorktree(other, two, 'two');
    await lab.service.workspaces?.add(one);
    const { body } = await ask(lab, get('/worktrees', { cwd: one }), 200);
    expect(body).toMatchObject({ mainRepoRoot: null, root: null, items: [{ path: one, current: true }] });
    expect(body?.['items']).toHaveLength(1);
    await ask(lab, get('/worktrees', { cwd: two }), 403, refused);
  });

  it('a worktree that two administrations claim is listed once, as what it is', async () => {
    const linked = await addWorktree(main, join(place, 'linked'), 'real');
    await git(main, 'branch', 'false');
    const copy = join(main, '.git/worktrees/a-copy');
    await run('cp', ['-a', await administrationOf(linked), copy]);
    await writeFile(join(copy, 'HEAD'), 'ref: refs/heads/false\n');
    const rows = (await git(main, 'worktree', 'list')).split('\n').filter((row) => row.startsWith(linked));
    expect(rows).toHaveLength(2);
    expect((await list(main)).filter(({ path }) => path === linked)).toMatchObject([{ branch: 'real' }]);
  });

  it('a main checkout with a separate Git dir lists itself', async () => {
    const root = join(place, 'separate');
    await git('/', 'init', '-q', '-b', 'main', `--separate-git-dir=${root}.git`, root);
    await lab.service.workspaces?.add(root);
    await addUnsupported(root);
    const { body } = await ask(lab, get('/worktrees', { cwd: root }), 200);
    expect(body).toMatchObject({ mainRepoRoot: root, items: [{ path: root, isMain: true, current: true }] });
    expect(body?.['items']).toHaveLength(1);
  });

  /** Git itself takes the separate Git dir for the main checkout of such a worktree. */
  async function addUnsupported(root: string): Promise<void> {
    await git(root, '-c', 'user.name=t', '-c', 'user.email=t@e', 'commit', '-q', '--allow-empty', '-m', 'x');
    await addWorktree(root, `${root}-linked`, 'linked');
  }

  it('R06: holds nothing open after its answer that it did not hold before', async () => {
    for (const name of ['a', 'b', 'c']) await addWorktree(main, join(place, name), name);
    await list(main);
    const before = testBinding.openHandles();
    for (let round = 0; round < 20; round += 1) await list(main);
    expect(testBinding.openHandles()).toBe(before);
  });
});

describe('GET /detect of a worktree', () => {
  it('R33: a linked one is told from its main checkout', async () => {
    const linked = await addWorktree(main, join(place, 'linked'), 'feat/x');
    const { body } = await ask(lab, get('/detect', { path: linked }), 200);
    expect(body).toEqual({
      ok: true,
      isGit: true,
      repoRoot: linked,
      mainRepoRoot: main,
      isLinkedWorktree: true,
      managed: false,
      defaultBranch: 'main',
      branch: 'feat/x',
    });
  });

  it('R02: a managed one names the workspace that it was made from, where its metadata does', async () => {
    const titled = [
      await addOwnWorktree(main, lab.managedRoot, 'own', 'The source'),
      await addPluginWorktree(main, lab.pluginRoot, 'plugin', { sourceWorkspaceTitle: 'The source' }),
    ];
    for (const path of titled) {
      const { body } = await ask(lab, get('/detect', { path }), 200);
      expect(body).toMatchObject({
        isLinkedWorktree: true,
        managed: true,
        mainRepoRoot: main,
        sourceWorkspaceTitle: 'The source',
      });
    }
    const untitled = await addOwnWorktree(main, lab.managedRoot, 'untitled', null);
    const { body } = await ask(lab, get('/detect', { path: untitled }), 200);
    expect(body).toMatchObject({ managed: true });
    expect(body).not.toHaveProperty('sourceWorkspaceTitle');
  });

  it('R26: damaged metadata leaves a linked worktree, without a word of the metadata', async () => {
    const path = await addPluginWorktree(main, lab.pluginRoot, 'plugin', {
      version: 3,
      sourceWorkspaceTitle: 'x',
    });
    const { body } = await ask(lab, get('/detect', { path }), 200);
    expect(body).toMatchObject({ isLinkedWorktree: true, managed: false });
    expect(body).not.toHaveProperty('sourceWorkspaceTitle');
  });

  it('W38: another branch, or a rebase that stopped, leaves it managed', async () => {
    const path = await addOwnWorktree(main, lab.managedRoot, 'own', null);
    await git(path, 'checkout', '-q', '-b', 'another');
    expect((await ask(lab, get('/detect', { path }), 200)).body).toMatchObject({
      managed: true,
      branch: 'another',
    });
    await mkdir(join(await administrationOf(path), 'rebase-merge'));
    await git(path, 'checkout', '-q', '--detach');
    expect((await ask(lab, get('/detect', { path }), 200)).body).toMatchObject({
      managed: true,
      branch: null,
    });
  });
});

describe('files of a worktree', () => {
  const fileRoutes = (cwd: string) => [
    get('/file', { cwd, path: 'tracked.txt' }),
    get('/list', { cwd }),
    get('/raw', { cwd, path: 'tracked.txt', download: '1' }),
  ];

  it.each([
    ['linked', (): Promise<string> => addWorktree(main, join(place, 'linked'), 'linked')],
    ['inside its main checkout', () => addWorktree(main, join(main, 'pool/feat/x'), 'feat/x')],
    ['managed', () => addOwnWorktree(main, lab.managedRoot, 'own', null)],
    ['managed by the plugin', () => addPluginWorktree(main, lab.pluginRoot, 'plugin')],
  ])('R33: %s: they are read, listed, saved and made; its `.git` file stays closed', async (_, make) => {
    const cwd = await make();
    for (const request of fileRoutes(cwd)) await ask(lab, request, 200);
    const read = await ask(lab, get('/file', { cwd, path: 'tracked.txt' }), 200);
    const save = { cwd, path: 'tracked.txt', content: 'saved\n', baseSha1: read.body?.['sha1'] };
    await ask(lab, { method: 'POST', path: '/file', json: save }, 200);
    expect(await readFile(join(cwd, 'tracked.txt'), 'utf8')).toBe('saved\n');
    expect(await readFile(join(main, 'tracked.txt'), 'utf8')).toBe('one\n');
    const create = { cwd, path: 'new.txt', content: 'new\n' };
    const headers = { 'if-none-match': '*' };
    await ask(lab, { method: 'PUT', path: '/file', json: create, headers }, 201);
    const closed = { code: 'administrative_path', pointer: await readFile(join(cwd, '.git'), 'utf8') };
    for (const path of ['.git', '.GIT', '.git/config']) {
      await ask(lab, get('/file', { cwd, path }), 403, closed.code);
      await ask(lab, get('/raw', { cwd, path, download: '1' }), 403, closed.code);
      const json = { cwd, path, content: 'gitdir: /evil\n' };
      await ask(lab, { method: 'PUT', path: '/file', json, headers }, 403, closed.code);
    }
    await ask(
      lab,
      { method: 'POST', path: '/rename', json: { cwd, from: '.git', to: 'x' } },
      403,
      closed.code,
    );
    expect(await readFile(join(cwd, '.git'), 'utf8')).toBe(closed.pointer);
    const { body } = await ask(lab, get('/list', { cwd }), 200);
    const { entries } = body as unknown as { entries: readonly { name: string }[] };
    const names = entries.map(({ name }) => name);
    expect(names).toEqual(['new.txt', 'tracked.txt']);
  });

  it('R12: a worktree that contains its own main checkout cannot reach the administration', async () => {
    const outer = join(place, 'outer');
    await git(main, 'worktree', 'add', '-q', '--detach', outer);
    await rename(main, join(outer, 'main'));
    await git(join(outer, 'main'), 'worktree', 'repair', outer);
    await lab.service.workspaces?.add(join(outer, 'main'));
    await ask(lab, get('/file', { cwd: outer, path: 'main/tracked.txt' }), 200);
    for (const path of ['main/.git/config', 'main/.git/worktrees/outer/gitdir']) {
      await ask(lab, get('/file', { cwd: outer, path }), 403, 'administrative_path');
    }
  });

  const strangers: readonly [string, () => Promise<string>][] = [
    [
      'a directory in a linked worktree',
      async () => {
        const inner = join(await addWorktree(main, join(place, 'linked'), 'linked'), 'inner');
        await mkdir(inner);
        return inner;
      },
    ],
    [
      'a copy of a linked worktree',
      async () => {
        await addWorktree(main, join(place, 'linked'), 'linked');
        await run('cp', ['-a', join(place, 'linked'), join(place, 'copy')]);
        return join(place, 'copy');
      },
    ],
    [
      'a copy of a managed worktree beside it',
      async () => {
        const own = await addOwnWorktree(main, lab.managedRoot, 'own', null);
        await run('cp', ['-a', own, `${own}-copy`]);
        return `${own}-copy`;
      },
    ],
    ['a forged `.git` file that names the main checkout', () => forge(`${main}/.git`)],
    [
      'a forged `.git` file that names the administration of a real worktree',
      async () => forge(await administrationOf(await addWorktree(main, join(place, 'linked'), 'linked'))),
    ],
    [
      'a forged `.git` file that names an administration made for it elsewhere',
      async () => {
        const evil = await forge(join(place, 'evil/.git/worktrees/forged'));
        const administration = join(place, 'evil/.git/worktrees/forged');
        await mkdir(administration, { recursive: true });
        await writeFile(join(administration, 'gitdir'), `${evil}/.git\n`);
        await writeFile(join(administration, 'commondir'), `${main}/.git\n`);
        await writeFile(join(administration, 'HEAD'), 'ref: refs/heads/main\n');
        return evil;
      },
    ],
    [
      'a worktree of a main checkout that is not registered',
      () => addWorktree(lab.outside, join(place, 'linked'), `linked-${count}`),
    ],
    [
      'a worktree of a main checkout that is registered no longer',
      async () => {
        const linked = await addWorktree(main, join(place, 'linked'), 'linked');
        await ask(lab, get('/list', { cwd: linked }), 200);
        await lab.service.workspaces?.remove(main);
        return linked;
      },
    ],
    [
      'a worktree whose row was pruned',
      async () => {
        const linked = await addWorktree(main, join(place, 'linked'), 'linked');
        await rename(linked, `${linked}-away`);
        await git(main, 'worktree', 'prune');
        await rename(`${linked}-away`, linked);
        return linked;
      },
    ],
    [
      'another spelling of a linked worktree',
      async () => `${await addWorktree(main, join(place, 'linked'), 'linked')}/`,
    ],
    [
      'a link to a linked worktree',
      async () => {
        await addWorktree(main, join(place, 'linked'), 'linked');
        await run('ln', ['-s', join(place, 'linked'), join(place, 'link')]);
        return join(place, 'link');
      },
    ],
  ];

  async function forge(target: string): Promise<string> {
    const path = join(place, 'forged');
    await mkdir(path, { recursive: true });
    await writeFile(join(path, '.git'), `gitdir: ${target}\n`);
    return path;
  }

  it.each(strangers)('R30, R32, R34: %s is 403 on every route, like what does not exist', async (_, make) => {
    const cwd = await make();
    const missing = await ask(lab, get('/list', { cwd: join(place, 'missing') }), 403, refused);
    const routes = [...fileRoutes(cwd), get('/detect', { path: cwd }), get('/worktrees', { cwd })];
    for (const request of routes) {
      const { body } = await ask(lab, request, 403, refused);
      expect({ ...body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
    }
    const json = { cwd, path: 'made' };
    await ask(lab, { method: 'POST', path: '/mkdir', json }, 403, refused);
    await expect(realpath(join(cwd, 'made'))).rejects.toThrow('ENOENT');
  });
});

describe('GET /explain of a worktree', () => {
  interface Facts {
    readonly facts: readonly { fact: string; seen: string; holds: boolean }[];
  }

  async function explain(path: string): Promise<Facts & Record<string, unknown>> {
    const { body } = await ask(lab, get('/explain', { path }), 200);
    return body as unknown as Facts & Record<string, unknown>;
  }

  it.each([
    ['linked-worktree', () => addWorktree(main, join(place, 'linked'), 'linked'), /^no: no metadata$/],
    ['managed-worktree', () => addOwnWorktree(main, lab.managedRoot, 'own', null), /^yes, .* version 2$/],
    ['managed-worktree', () => addPluginWorktree(main, lab.pluginRoot, 'p'), /^yes, .* version 1$/],
  ] as const)(
    'R02: a %s is explained from the registered main checkout outwards',
    async (kind, make, managed) => {
      const path = await make();
      const told = await explain(path);
      expect(told).toMatchObject({
        authorized: true,
        refusal: null,
        result: { kind, gitBoundary: 'root', root: path },
      });
      expect(told.facts.every(({ holds }) => holds)).toBe(true);
      const names = told.facts.map(({ fact }) => fact);
      const steps = [
        'registry row',
        'row of the main checkout',
        'main checkout',
        'worktree list',
        'managed worktree',
      ];
      const order = steps.map((step) => names.indexOf(step));
      expect(order).not.toContain(-1);
      expect([...order].sort((left, right) => left - right)).toEqual(order);
      expect(told.facts.find(({ fact }) => fact === 'managed worktree')?.seen).toMatch(managed);
    },
  );

  it('R34: of a refused one the fact that failed is the last, and it is told to operators only', async () => {
    const linked = await addWorktree(main, join(place, 'linked'), 'linked');
    await rename(linked, `${linked}-moved`);
    const told = await explain(`${linked}-moved`);
    expect(told).toMatchObject({ authorized: false, result: null, refusal: { code: refused } });
    expect(told.facts.at(-1)).toMatchObject({ fact: 'worktree list', holds: false });
    const guest = { authorization: 'Bearer guest' };
    const request = { ...get('/explain', { path: `${linked}-moved` }), headers: guest };
    await ask(lab, request, 403, 'operator_required');
    await git(main, 'worktree', 'repair', `${linked}-moved`);
    expect(await explain(`${linked}-moved`)).toMatchObject({ authorized: true });
  });
});
