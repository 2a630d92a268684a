import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/http-lab.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import {
  addOwnWorktree,
  addPluginWorktree,
  addWorktree,
  administrationOf,
} from '../support/http-worktrees.ts';
import { ask, get } from './public-bugs/bug-table.ts';

const here = useWorktreeLab();
const refused = 'workspace_not_authorized';

describe('GET /detect of a worktree', () => {
  it('R33: a linked one is told from its main checkout', async () => {
    const linked = await addWorktree(here.main, join(here.place, 'linked'), 'feat/x');
    const { body } = await ask(here.lab, get('/detect', { path: linked }), 200);
    expect(body).toEqual({
      ok: true,
      isGit: true,
      repoRoot: linked,
      mainRepoRoot: here.main,
      isLinkedWorktree: true,
      managed: false,
      defaultBranch: 'main',
      branch: 'feat/x',
    });
  });

  it('R02: a managed one names the workspace that it was made from, where its metadata does', async () => {
    const titled = [
      await addOwnWorktree(here.main, here.lab.managedRoot, 'own', 'The source'),
      await addPluginWorktree(here.main, here.lab.pluginRoot, 'plugin', {
        sourceWorkspaceTitle: 'The source',
      }),
    ];
    for (const path of titled) {
      const { body } = await ask(here.lab, get('/detect', { path }), 200);
      expect(body).toMatchObject({
        isLinkedWorktree: true,
        managed: true,
        mainRepoRoot: here.main,
        sourceWorkspaceTitle: 'The source',
      });
    }
    const untitled = await addOwnWorktree(here.main, here.lab.managedRoot, 'untitled', null);
    const { body } = await ask(here.lab, get('/detect', { path: untitled }), 200);
    expect(body).toMatchObject({ managed: true });
    expect(body).not.toHaveProperty('sourceWorkspaceTitle');
  });

  it('R26: damaged metadata leaves a linked worktree, without a word of the metadata', async () => {
    const path = await addPluginWorktree(here.main, here.lab.pluginRoot, 'plugin', {
      version: 3,
      sourceWorkspaceTitle: 'x',
    });
    const { body } = await ask(here.lab, get('/detect', { path }), 200);
    expect(body).toMatchObject({ isLinkedWorktree: true, managed: false });
    expect(body).not.toHaveProperty('sourceWorkspaceTitle');
  });

  it('W38: another branch, or a rebase that stopped, leaves it managed', async () => {
    const path = await addOwnWorktree(here.main, here.lab.managedRoot, 'own', null);
    await git(path, 'checkout', '-q', '-b', 'another');
    expect((await ask(here.lab, get('/detect', { path }), 200)).body).toMatchObject({
      managed: true,
      branch: 'another',
    });
    await mkdir(join(await administrationOf(path), 'rebase-merge'));
    await git(path, 'checkout', '-q', '--detach');
    expect((await ask(here.lab, get('/detect', { path }), 200)).body).toMatchObject({
      managed: true,
      branch: null,
    });
  });
});

describe('GET /explain of a worktree', () => {
  interface Facts {
    readonly facts: readonly { fact: string; seen: string; holds: boolean }[];
  }

  async function explain(path: string): Promise<Facts & Record<string, unknown>> {
    const { body } = await ask(here.lab, get('/explain', { path }), 200);
    return body as unknown as Facts & Record<string, unknown>;
  }

  it.each([
    [
      'linked-worktree',
      () => addWorktree(here.main, join(here.place, 'linked'), 'linked'),
      /^no: no metadata$/,
    ],
    [
      'managed-worktree',
      () => addOwnWorktree(here.main, here.lab.managedRoot, 'own', null),
      /^yes, .* version 2$/,
    ],
    ['managed-worktree', () => addPluginWorktree(here.main, here.lab.pluginRoot, 'p'), /^yes, .* version 1$/],
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
    const linked = await addWorktree(here.main, join(here.place, 'linked'), 'linked');
    await rename(linked, `${linked}-moved`);
    const told = await explain(`${linked}-moved`);
    expect(told).toMatchObject({ authorized: false, result: null, refusal: { code: refused } });
    expect(told.facts.at(-1)).toMatchObject({ fact: 'worktree list', holds: false });
    const guest = { authorization: 'Bearer guest' };
    const request = { ...get('/explain', { path: `${linked}-moved` }), headers: guest };
    await ask(here.lab, request, 403, 'operator_required');
    await git(here.main, 'worktree', 'repair', `${linked}-moved`);
    expect(await explain(`${linked}-moved`)).toMatchObject({ authorized: true });
  });
});
