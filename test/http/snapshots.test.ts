import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, makeRepository } from '../support/http-lab.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { addOwnWorktree, addPluginWorktree, addWorktree } from '../support/http-worktrees.ts';
import { ask, get } from './public-bugs/bug-table.ts';

const here = useWorktreeLab();

type Body = Record<string, unknown>;

const post = (json: unknown) => here.lab.server.send({ method: 'POST', path: '/snapshots', json });
const batch = async (...cwds: readonly string[]) => (await post({ cwds })).body?.['byCwd'] as Body;
const snapshotOf = async (cwd: string) =>
  (await ask(here.lab, get('/snapshot', { cwd }), 200)).body?.['snapshot'] as Body;

describe('GET /snapshot and POST /snapshots', () => {
  it('R41: both give the same facts of a repository, and say what is none', async () => {
    await writeFile(join(here.main, 'new'), 'x\n');
    const { at, ...one } = await snapshotOf(here.main);
    expect(at).toEqual(expect.any(Number));
    expect(one).toMatchObject({
      cwd: here.main,
      isGit: true,
      branch: 'main',
      untrackedCount: 1,
      dirty: true,
    });
    const found = await batch(here.main, here.lab.plain);
    expect(found).toEqual({
      [here.main]: { ...one, at: expect.any(Number) },
      [here.lab.plain]: { cwd: here.lab.plain, isGit: false, at: expect.any(Number) },
    });
  });

  it('R41: an unchanged answer may be 3 s old, but a single one never is', async () => {
    const before = (await batch(here.main))[here.main] as Body;
    await writeFile(join(here.main, 'new'), 'x\n');
    expect(await snapshotOf(here.main)).toMatchObject({ untrackedCount: 1 });
    const after = (await batch(here.main))[here.main] as Body;
    expect(before).toMatchObject({ untrackedCount: 0 });
    expect(after).toMatchObject({ untrackedCount: 1 });
  });

  it('W26: byCwd has the selectors as they were asked for', async () => {
    const link = join(here.place, 'link');
    await symlink(here.main, link);
    const asked = [here.main, link, here.main];
    const found = await batch(...asked);
    expect(Object.keys(found).sort()).toEqual([link, here.main].sort());
    expect(found[link]).toMatchObject({ cwd: link, repoRoot: here.main });
  });

  it('W26: a selector that is not authorised fails the batch and says which one it was', async () => {
    const { status, body } = await post({ cwds: [here.main, here.lab.outside, here.lab.nested] });
    expect([status, body?.['error'], body?.['details']]).toEqual([
      403,
      'workspace not authorized',
      { index: 1 },
    ]);
    const nested = await post({ cwds: [here.main, here.main, here.lab.nested] });
    expect([nested.status, nested.body?.['error'], nested.body?.['details']]).toEqual([
      403,
      'git repository root not authorized',
      { index: 2 },
    ]);
  });

  it('W26: with partial, each selector has its own answer', async () => {
    const gone = join(here.place, 'gone');
    await mkdir(gone);
    await here.lab.service.workspaces?.add(gone);
    await rename(gone, `${gone}-away`);
    const cwds = [here.lab.outside, here.main, here.lab.nested, gone, '__proto__'];
    const { status, body } = await post({ cwds, partial: true });
    expect(status).toBe(200);
    expect(body?.['ok']).toBe(true);
    expect(Object.keys(body?.['byCwd'] as Body)).toEqual([here.main]);
    const failures = body?.['failures'] as Record<string, Body>;
    expect(Object.keys(failures).sort()).toEqual(
      [here.lab.outside, here.lab.nested, gone, '__proto__'].sort(),
    );
    for (const [selector, code] of [
      [here.lab.outside, 'workspace_not_authorized'],
      [here.lab.nested, 'git_root_not_authorized'],
      [gone, 'workspace_not_authorized'],
    ] as const) {
      expect(failures[selector]).toMatchObject({ ok: false, status: 403, code });
    }
  });

  it('partial with nothing that fails, and an empty batch', async () => {
    expect((await post({ cwds: [here.main], partial: true })).body).toMatchObject({ ok: true, failures: {} });
    expect((await post({ cwds: [] })).body).toEqual({ ok: true, byCwd: {} });
  });

  it.each([
    [{}, 400, 'cwds array required'],
    [{ cwds: null }, 400, 'cwds array required'],
    [{ cwds: 'x' }, 400, 'cwds array required'],
    [{ cwds: { 0: '/x', length: 1 } }, 400, 'cwds array required'],
    [{ cwds: [1] }, 400, 'cwds must contain paths'],
    [{ cwds: ['/x', ''] }, 400, 'cwds must contain paths'],
    [{ cwds: ['/x', null] }, 400, 'cwds must contain paths'],
    [{ cwds: ['/x\0'] }, 400, 'cwds must contain paths'],
    [{ cwds: [['/x']] }, 400, 'cwds must contain paths'],
    [{ cwds: Array.from({ length: 201 }, () => '/x') }, 413, 'too many workspaces'],
    [{ cwds: [], partial: 'yes' }, 400, 'invalid_request'],
    [{ cwds: [], more: 1 }, 400, 'invalid_request'],
  ])('R41: %j is refused with %i %s', async (json, status, error) => {
    const answer = await post(json);
    expect([answer.status, answer.body?.['ok'], answer.body?.['error']]).toEqual([status, false, error]);
  });

  it('R41: 200 selectors are a batch', async () => {
    const cwds = Array.from({ length: 200 }, () => here.main);
    expect(Object.keys((await post({ cwds })).body?.['byCwd'] as Body)).toEqual([here.main]);
  });

  it.each([
    ['/snapshot', 400, 'cwd required'],
    ['/snapshot?cwd=', 400, 'cwd required'],
    ['/snapshot?cwd=relative', 403, 'workspace not authorized'],
  ])('R41: GET %s is refused with %i %s', async (path, status, error) => {
    const answer = await here.lab.server.send({ path });
    expect([answer.status, answer.body?.['error']]).toEqual([status, error]);
  });

  it('R03: a nested directory has no snapshot', async () => {
    await ask(here.lab, get('/snapshot', { cwd: here.lab.nested }), 403, 'git_root_not_authorized');
  });

  it('R02: a managed worktree is compared with the branch that it was made from', async () => {
    await git(here.main, 'branch', 'develop');
    const own = await addOwnWorktree(here.main, here.lab.managedRoot, 'topic', 'title');
    const plugin = await addPluginWorktree(here.main, here.lab.pluginRoot, 'topic-2', {
      baseRefName: 'develop',
    });
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@e'];
    await git(here.main, 'checkout', '-q', 'develop');
    await git(here.main, ...identity, 'commit', '-q', '--allow-empty', '-m', 'x');
    const develop = (await git(here.main, 'rev-parse', 'develop')).trim();
    expect(await batch(own, plugin)).toMatchObject({
      [own]: { managed: true, baseRefName: 'main', aheadBehind: { ahead: 0, behind: 0 } },
      [plugin]: {
        managed: true,
        baseRefName: 'develop',
        baseRef: develop,
        aheadBehind: { ahead: 0, behind: 1 },
      },
    });
  });

  it('R26: a managed worktree whose base is gone is compared with the commit it was made from', async () => {
    const plugin = await addPluginWorktree(here.main, here.lab.pluginRoot, `gone-${here.place.length}`, {
      baseRefName: 'was-deleted',
    });
    const main = (await git(here.main, 'rev-parse', 'main')).trim();
    expect(await snapshotOf(plugin)).toMatchObject({
      baseRefName: 'was-deleted',
      baseRef: main,
      aheadBehind: { ahead: 0, behind: 0 },
    });
  });

  it('W26: many selectors are authorised and read side by side, each with its own answer', async () => {
    const worktrees = Array.from({ length: 12 }, (_, index) => join(here.place, `w-${index}`));
    for (const [index, path] of worktrees.entries()) {
      await addWorktree(here.main, path, `b-${index}`);
      for (let file = 0; file < index; file += 1) await writeFile(join(path, `f-${file}`), '');
    }
    const found = await batch(...worktrees);
    for (const [index, path] of worktrees.entries()) {
      expect(found[path]).toMatchObject({ branch: `b-${index}`, untrackedCount: index });
    }
  });

  it('R04: a repository that authorises no more is no clean one', async () => {
    const path = join(here.place, 'other');
    await makeRepository(path);
    await here.lab.service.workspaces?.add(path);
    expect((await batch(path))[path]).toMatchObject({ dirty: false });
    await rename(join(path, '.git'), join(path, 'git-away'));
    const { body } = await post({ cwds: [path] });
    expect((body?.['byCwd'] as Body | undefined)?.[path] ?? body).not.toMatchObject({ isGit: true });
  });
});
