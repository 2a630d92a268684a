import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { addManagedWorktree, managedRoots, writeMetadata } from '../support/managed-worktrees.ts';
import { mayMount, mountTmpfs } from '../support/mounts.ts';
import { type ActionLab, createActionLab, filesOf, headOf, outcomeOf } from './action-lab.ts';
import { refusalOf } from './merge-lab.ts';

let lab: ActionLab;
beforeAll(async () => {
  lab = await createActionLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

const commit = (cwd: string) => lab.service.actions.commit(cwd, { message: 'm' });

describe('a repository of an unusual kind', () => {
  it.skipIf(!mayMount)('R22: on a full disk nothing is staged, and no lock stays', async () => {
    const path = join(lab.place, 'full');
    await mountTmpfs(path, '6m');
    await lab.repository('full');
    const before = await headOf(path);
    await writeFile(join(path, 'first'), 'x\n');
    await writeFile(join(path, 'large'), randomBytes(3 * 1024 * 1024));
    await writeFile(join(path, 'rest'), randomBytes(2 * 1024 * 1024));
    expect(await outcomeOf(commit(path))).toBe('no_space: exit-status');
    expect(await headOf(path)).toBe(before);
    expect(await git(path, 'ls-files')).toBe('');
    expect((await readdir(join(path, '.git'))).filter((name) => name.endsWith('.lock'))).toEqual([]);
    await writeFile(join(path, 'large'), 'small\n');
    await writeFile(join(path, 'rest'), 'small\n');
    await commit(path);
    expect(await filesOf(path)).toEqual({ first: 'x\n', large: 'small\n', rest: 'small\n' });
  });

  it.skipIf(!mayMount)(
    'R22: on a full disk a merge says that files may be written, and the branch stays',
    async () => {
      const path = join(lab.place, 'full merge');
      await mountTmpfs(path, '6m');
      await lab.repository('full merge');
      const before = await headOf(path);
      const tree = join(lab.place, 'beside');
      await git(path, 'worktree', 'add', '-q', '-b', 'topic', tree);
      await writeFile(join(tree, 'large'), randomBytes(3 * 1024 * 1024));
      await commit(tree);
      const { code, details } = await refusalOf(lab.service.actions.mergeToBase(tree));
      expect([code, details]).toMatchObject([
        'git_failed',
        { reason: 'files-not-written', partial: true, stage: 'checkout' },
      ]);
      expect([await headOf(path), await git(path, 'ls-files')]).toEqual([before, '']);
      expect((await readdir(join(path, '.git'))).filter((name) => name.endsWith('.lock'))).toEqual([]);
    },
  );

  it('R22: what a sparse checkout leaves out stays in the commit', async () => {
    const path = await lab.repository('sparse');
    for (const name of ['in', 'out']) {
      await mkdir(join(path, name));
      await writeFile(join(path, name, 'f'), 'one\n');
    }
    await commit(path);
    await git(path, 'sparse-checkout', 'set', 'in');
    await expect(readFile(join(path, 'out/f'))).rejects.toThrow('ENOENT');
    await writeFile(join(path, 'in/f'), 'two\n');
    await commit(path);
    expect(await filesOf(path)).toEqual({ 'in/f': 'two\n', 'out/f': 'one\n' });
  });

  it('R22: a shallow clone commits, fetches and pushes', async () => {
    const source = await lab.repository('source');
    await writeFile(join(source, 'f'), 'one\n');
    await commit(source);
    const remote = join(lab.place, 'remote.git');
    await git(lab.place, 'clone', '-q', '--bare', source, remote);
    const path = join(lab.place, 'shallow');
    await git(lab.place, 'clone', '-q', '--depth=1', `file://${remote}`, path);
    await lab.service.workspaces?.add(path);
    await writeFile(join(path, 'f'), 'two\n');
    const { oid } = await commit(path);
    await lab.service.actions.fetch(path);
    await lab.service.actions.push(path);
    expect(await headOf(remote, 'refs/heads/main')).toBe(oid);
    await git(remote, 'fsck', '--strict');
  });

  it('R22: the checkout of a pull request is not pushed', async () => {
    const main = await lab.repository('reviewed');
    const service = await lab.another({ managedRoots: managedRoots(lab.place) });
    const worktree = await addManagedWorktree(lab.place, 2, main);
    const push = () => outcomeOf(service.actions.push(worktree.path));
    expect(await push()).toBe('remote_missing: actions.push.noRemote');
    await writeMetadata(worktree, { intent: 'pr-checkout' });
    expect(await push()).toBe('action_refused: actions.push.prCheckout');
  });
});
