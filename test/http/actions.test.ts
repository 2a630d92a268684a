import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/http-lab.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { addOwnWorktree, addPluginWorktree } from '../support/http-worktrees.ts';
import { ask, get } from './public-bugs/bug-table.ts';

const here = useWorktreeLab();

type Entry = { readonly id: string; readonly reasonKey: string | null; readonly warn?: boolean };

const ladderOf = async (query: Record<string, string>) => {
  const { body } = await ask(here.lab, get('/actions', query), 200);
  return body as { readonly ladder: readonly Entry[]; readonly snapshot: Record<string, unknown> };
};

describe('GET /actions', () => {
  it('R41: has the ladder, and the snapshot that it was made from', async () => {
    await writeFile(join(here.main, 'new'), 'x\n');
    const { ladder, snapshot } = await ladderOf({ cwd: here.main });
    expect(snapshot).toMatchObject({ cwd: here.main, isGit: true, untrackedCount: 1 });
    expect(Object.fromEntries(ladder.map(({ id, reasonKey }) => [id, reasonKey]))).toEqual({
      commit: null,
      pull: 'actions.pull.noRemote',
      push: 'actions.push.noRemote',
      updateFromBase: 'actions.updateFromBase.upToDate',
      discard: null,
      fetch: 'actions.pull.noRemote',
      archive: 'actions.archive.notManaged',
    });
    const running = await ladderOf({ cwd: here.main, running: '1' });
    expect(running.ladder[0]).toEqual({
      id: 'commit',
      disabled: true,
      reasonKey: 'actions.disabled.agentRunning',
    });
    expect((await ladderOf({ cwd: here.main, running: '0' })).ladder).toEqual(ladder);
  });

  it('R02: tells the worktree of a pull request and a managed one from others', async () => {
    await git(here.main, 'remote', 'add', 'origin', 'https://example.invalid/x');
    const own = await addOwnWorktree(here.main, here.lab.managedRoot, 'topic', 'title');
    const review = await addPluginWorktree(here.main, here.lab.pluginRoot, 'review', {
      intent: 'pr-checkout',
      baseRefName: 'main',
    });
    const reasonOf = async (cwd: string, id: string) =>
      (await ladderOf({ cwd })).ladder.find((entry) => entry.id === id)?.reasonKey;
    expect(await reasonOf(review, 'push')).toBe('actions.push.prCheckout');
    expect(await reasonOf(own, 'push')).toBe(null);
    expect(await reasonOf(own, 'archive')).toBe(null);
    expect(await reasonOf(own, 'mergeToBase')).toBe('actions.mergeToBase.nothing');
  });

  it.each([
    ['/actions', 400, 'cwd required'],
    ['/actions?cwd=', 400, 'cwd required'],
    ['/actions?cwd=/nowhere', 403, 'workspace not authorized'],
    ['/actions?cwd=/nowhere&running=yes', 400, 'invalid_request'],
    ['/actions?cwd=/nowhere&more=1', 400, 'invalid_request'],
    ['/actions?cwd=/nowhere&cwd=/nowhere', 400, 'invalid_request'],
  ])('R41: GET %s is refused with %i %s', async (path, status, error) => {
    const answer = await here.lab.server.send({ path });
    expect([answer.status, answer.body?.['error']]).toEqual([status, error]);
  });

  it('R03: neither a nested nor a plain directory has actions', async () => {
    await ask(here.lab, get('/actions', { cwd: here.lab.nested }), 403, 'git_root_not_authorized');
    await ask(here.lab, get('/actions', { cwd: here.lab.plain }), 422, 'git_repository_required');
  });
});
