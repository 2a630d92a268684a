import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { commitFiles, contentOf, put, stateOf } from '../actions/merge-lab.ts';
import { git } from '../support/git.ts';
import type { TestAnswer } from '../support/http-server.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { addPluginWorktree } from '../support/http-worktrees.ts';
import { expectNoLeak } from './public-bugs/bug-table.ts';

const here = useWorktreeLab();
let tree: string;
beforeEach(async () => {
  await commitFiles(here.main, 'base', { f: 'one\n' });
  tree = join(here.place, 'tree');
  await git(here.main, 'worktree', 'add', '-q', '-b', 'topic', tree);
});

function act(name: string, cwd = tree, params?: unknown): Promise<TestAnswer> {
  const json = { cwd, name, ...(params === undefined ? {} : { params }) };
  return here.lab.server.send({ method: 'POST', path: '/action', json });
}

async function addRemote(): Promise<string> {
  const other = join(here.place, 'other');
  await git(here.place, 'clone', '-q', '--bare', here.main, 'remote.git');
  await git(here.place, 'clone', '-q', 'remote.git', other);
  await git(here.main, 'remote', 'add', 'origin', join(here.place, 'remote.git'));
  return other;
}

describe('POST /action', () => {
  it('R41: pulls, and says it as people know it', async () => {
    const other = await addRemote();
    const theirs = await commitFiles(other, 'theirs', { f: 'two\n' });
    await git(other, 'push', '-q');
    const from = (await git(here.main, 'rev-parse', '--short=7', 'HEAD')).trimEnd();
    const { status, body } = await act('pull', here.main);
    expect([status, body]).toEqual([
      200,
      {
        ok: true,
        oid: theirs,
        mergedOid: theirs,
        merge: 'forward',
        output: `Updating ${from}..${theirs.slice(0, 7)}\nFast-forward`,
      },
    ]);
    expect((await act('pull', here.main, {})).body?.['output']).toBe('Already up to date.');
  });

  it('run-pull-conflict, R41: a pull that ends in conflicts is a conflict, whoever made the other commit', async () => {
    const other = await addRemote();
    await commitFiles(other, 'theirs', { f: 'theirs\n' });
    await git(other, 'push', '-q');
    await commitFiles(here.main, 'ours', { f: 'ours\n' });
    const answer = await act('pull', here.main);
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      ok: false,
      reasonKey: 'actions.merge.conflict',
      partial: true,
      stage: 'merge-conflict-preserved',
      conflictFiles: ['f'],
      recovery: { inProgress: 'merge', undo: 'git merge --abort' },
      recoveryCwd: here.main,
    });
  });

  it('run-pull-premerge, R41: a pull into a merge in progress says so by its reason', async () => {
    await commitFiles(here.main, 'theirs', { f: 'theirs\n' });
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    await git(tree, 'merge', 'main').catch(() => undefined);
    const answer = await act('pull');
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      ok: false,
      reason: 'merge-in-progress',
      reasonKey: 'actions.merge.inProgress',
    });
    expect(await contentOf(tree, 'f')).toContain('<<<<<<<');
  });

  it('R41: updates from the base, and refuses when there is nothing to take', async () => {
    const theirs = await commitFiles(here.main, 'theirs', { f: 'two\n' });
    const { status, body } = await act('updateFromBase');
    expect([status, body]).toEqual([200, { ok: true, oid: theirs, mergedOid: theirs, merge: 'forward' }]);
    const again = await act('updateFromBase');
    expect([again.status, again.body?.['reasonKey']]).toEqual([409, 'actions.updateFromBase.upToDate']);
  });

  it('sec-poison-update: metadata that names an option as the base writes no file', async () => {
    const names = ['--output=sentinel', `--output=${join(here.place, 'sentinel')}`];
    for (const [index, baseRefName] of names.entries()) {
      const fields = { baseRef: baseRefName, baseRefName };
      const path = await addPluginWorktree(here.main, here.lab.pluginRoot, `poison${index}`, fields);
      const answer = await act('updateFromBase', path);
      expect(answer.status).toBe(409);
      for (const place of [path, here.place, here.main]) {
        await expect(contentOf(place, 'sentinel')).rejects.toThrow('ENOENT');
      }
    }
  });

  it('R22, R41: merges to the base, and says where', async () => {
    const ours = await commitFiles(tree, 'ours', { f: 'two\n' });
    const { status, body } = await act('mergeToBase');
    expect([status, body]).toEqual([
      200,
      { ok: true, oid: ours, mergedOid: ours, merge: 'forward', mergedInto: here.main },
    ]);
    await git(here.main, 'checkout', '-q', '--detach');
    await commitFiles(tree, 'more', { f: 'three\n' });
    const nowhere = await act('mergeToBase');
    expect([nowhere.status, nowhere.body?.['reasonKey']]).toEqual([409, 'actions.mergeToBase.noOwner']);
  });

  it('run-update-conflict, R22, R41: conflicts name the files, the place and the way out, beside the code', async () => {
    await commitFiles(here.main, 'theirs', { f: 'theirs\n' });
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    for (const [name, place] of [
      ['mergeToBase', here.main],
      ['updateFromBase', tree],
    ] as const) {
      const answer = await act(name);
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({
        ok: false,
        code: 'merge_conflict',
        reasonKey: 'actions.merge.conflict',
        conflictFiles: ['f'],
        partial: true,
        stage: 'merge-conflict-preserved',
        recovery: { inProgress: 'merge', conclude: 'commit' },
        recoveryCwd: place,
      });
      // The main checkout is named in one field and nowhere else.
      const { recoveryCwd: _, details, ...rest } = answer.body ?? {};
      expect(JSON.stringify(rest)).not.toContain(here.main);
      expect(JSON.stringify(details).includes(here.main)).toBe(false);
    }
  });

  it('R22, R41: a worktree that has the base and is not authorised is 403, and is not named', async () => {
    await here.lab.service.workspaces?.add(tree);
    await git(here.main, 'checkout', '-q', '--detach');
    await git(here.main, 'worktree', 'add', '-q', join(here.place, 'owner'), 'main');
    await here.lab.service.workspaces?.remove(here.main);
    const answer = await act('mergeToBase');
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({
      reason: 'target-unauthorized',
      reasonKey: 'actions.mergeToBase.targetUnauthorized',
    });
    expectNoLeak(here.lab, answer);
  });

  it.each([
    ['pull', { rebase: true }],
    ['pull', { remote: 'ext::sh -c x' }],
    ['pull', { args: ['--force'] }],
    ['updateFromBase', { base: '--output=x' }],
    ['updateFromBase', { base: 'HEAD~1' }],
    ['mergeToBase', { base: 'main' }],
    ['mergeToBase', { target: '/somewhere' }],
    ['mergeToBase', { strategy: 'ours' }],
  ])('R20, W22: %s takes no %j', async (name, params) => {
    const before = await stateOf(tree);
    const answer = await act(name, tree, params);
    expect([answer.status, answer.body?.['code']]).toEqual([400, 'invalid_request']);
    expect(await stateOf(tree)).toEqual(before);
  });

  it('W21, R41: refusals have their own status: changes 409, no remote 502, a nested directory 403', async () => {
    await put(tree, { f: 'mine\n' });
    const statuses = [];
    for (const name of ['pull', 'updateFromBase', 'mergeToBase']) statuses.push((await act(name)).status);
    expect(statuses).toEqual([409, 409, 409]);
    await git(tree, 'checkout', '-q', '--', 'f');
    expect((await act('pull')).status).toBe(502);
    for (const name of ['pull', 'updateFromBase', 'mergeToBase']) {
      expect((await act(name, join(here.main, 'f'))).status).toBe(403);
    }
  });
});
