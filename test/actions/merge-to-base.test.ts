import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { addManagedWorktree, managedRoots, writeMetadata } from '../support/managed-worktrees.ts';
import { type ActionLab, createActionLab, filesOf, headOf, outcomeOf } from './action-lab.ts';
import { commitFiles, contentOf, put, refusalOf, stateOf } from './merge-lab.ts';

let lab: ActionLab;
let repo: string;
let tree: string;
let count = 0;
beforeAll(async () => {
  lab = await createActionLab();
});
afterAll(() => lab[Symbol.asyncDispose]());
/** A main checkout on `main`, and a linked worktree on `topic`. */
beforeEach(async () => {
  count += 1;
  repo = await lab.repository(`repo ${count}`);
  await commitFiles(repo, 'base', { f: 'one\n', k: 'kept\n' });
  tree = await addTree('tree', 'topic');
});

const mergeToBase = (cwd = tree) => lab.service.actions.mergeToBase(cwd);

async function addTree(name: string, branch: string, ...words: readonly string[]): Promise<string> {
  const path = join(lab.place, `${name} ${count}`);
  await git(
    repo,
    'worktree',
    'add',
    '-q',
    ...(words.length > 0 ? words : ['-b', branch]),
    path,
    ...(words.length > 0 ? [branch] : []),
  );
  return path;
}

describe('a merge to the base', () => {
  it('R22: moves the main checkout forward, with its index and files, by the authority of the worktree', async () => {
    const ours = await commitFiles(tree, 'ours', { f: 'two\n', 'd/n': 'x\n' });
    const previous = await headOf(repo);
    const outcome = await mergeToBase();
    expect(outcome).toEqual({
      kind: 'forward',
      oid: ours,
      previous,
      mergedOid: ours,
      mergedInto: repo,
    });
    expect([await headOf(repo), await contentOf(repo, 'd/n')]).toEqual([ours, 'x\n']);
    expect(await git(repo, 'status', '--porcelain')).toBe('');
    expect(await git(repo, 'rev-parse', '--symbolic-full-name', 'HEAD')).toBe('refs/heads/main\n');
  });

  it('R22: makes a commit whose first parent is the base, and leaves the worktree as it is', async () => {
    const base = await commitFiles(repo, 'theirs', { k: 'theirs\n' });
    const ours = await commitFiles(tree, 'ours', { f: 'ours\n' });
    const before = await stateOf(tree);
    const { kind, oid } = await mergeToBase();
    expect([kind, oid]).toEqual(['merge', await headOf(repo)]);
    expect(await git(repo, 'log', '-1', '--format=%P|%s')).toBe(
      `${base} ${ours}|Merge branch 'topic' into main\n`,
    );
    expect(await filesOf(repo)).toEqual({ f: 'ours\n', k: 'theirs\n' });
    expect(await git(repo, 'status', '--porcelain')).toBe('');
    const { refs: _, ...after } = await stateOf(tree);
    expect(before).toMatchObject(after);
    // The same again: all of it is there.
    expect(await mergeToBase()).toMatchObject({ kind: 'none', oid, mergedOid: ours });
    await git(repo, 'fsck', '--strict');
  });

  it('R22: a base that nobody has checked out has no owner, and stays', async () => {
    await git(repo, 'checkout', '-q', '--detach');
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    const before = [await stateOf(repo), await stateOf(tree)];
    expect((await refusalOf(mergeToBase())).details).toEqual({
      reasonKey: 'actions.mergeToBase.noOwner',
      reason: 'not-checked-out',
    });
    expect([await stateOf(repo), await stateOf(tree)]).toEqual(before);
  });

  it('R22: merges in the linked worktree that has the base, which is authorised by itself', async () => {
    await git(repo, 'checkout', '-q', '--detach');
    const owner = await addTree('owner', 'main', '--quiet');
    const ours = await commitFiles(tree, 'ours', { f: 'ours\n' });
    expect(await mergeToBase()).toMatchObject({ oid: ours, mergedInto: owner });
    expect([await headOf(owner), await contentOf(owner, 'f')]).toEqual([ours, 'ours\n']);
    expect(await git(owner, 'status', '--porcelain')).toBe('');
    expect(await contentOf(repo, 'f')).toBe('one\n');
  });

  it('R22: merges from the main checkout into a worktree that has the base', async () => {
    await git(repo, 'checkout', '-q', '-b', 'work');
    const owner = await addTree('owner', 'main', '--quiet');
    const ours = await commitFiles(repo, 'ours', { f: 'ours\n' });
    expect(await mergeToBase(repo)).toMatchObject({ oid: ours, mergedInto: owner });
    expect(await headOf(owner)).toBe(ours);
  });

  it('R22: a main checkout without a row of its own is proven and held like any, when the worktree has one', async () => {
    await lab.service.workspaces?.add(tree);
    await lab.service.workspaces?.remove(repo);
    const ours = await commitFiles(tree, 'ours', { f: 'ours\n' });
    expect(await mergeToBase()).toMatchObject({ oid: ours, mergedInto: repo });
    expect(await contentOf(repo, 'f')).toBe('ours\n');
    expect(await outcomeOf(lab.service.actions.updateFromBase(repo))).toBe('workspace_not_authorized');
  });

  it('R22: a worktree that has the base and no authority of its own is not written to, and is not named', async () => {
    await lab.service.workspaces?.add(tree);
    await git(repo, 'checkout', '-q', '--detach');
    const owner = await addTree('owner', 'main', '--quiet');
    await lab.service.workspaces?.remove(repo);
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    const before = await stateOf(owner);
    const { code, details } = await refusalOf(mergeToBase());
    expect([code, details]).toEqual([
      'merge_target_unauthorized',
      { reasonKey: 'actions.mergeToBase.targetUnauthorized', reason: 'target-unauthorized' },
    ]);
    expect(await stateOf(owner)).toEqual(before);
  });

  it.each([
    ['was removed by hand', (owner: string) => rm(owner, { recursive: true })],
    ['lies elsewhere now', (owner: string) => rename(owner, `${owner} moved`)],
    [
      'has a fabricated .git',
      (owner: string) => writeFile(join(owner, '.git'), `gitdir: ${repo}/.git/worktrees/tree ${count}\n`),
    ],
  ])('R22, R34: the base does not move behind a worktree that %s', async (_, change) => {
    await git(repo, 'checkout', '-q', '--detach');
    const owner = await addTree('owner', 'main', '--quiet');
    await change(owner);
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    const before = await headOf(repo, 'refs/heads/main');
    expect(await outcomeOf(mergeToBase())).toBe(
      'merge_target_unauthorized: actions.mergeToBase.targetUnauthorized',
    );
    expect(await headOf(repo, 'refs/heads/main')).toBe(before);
  });

  it('W41: a worktree whose path holds a newline is asked for nobody else', async () => {
    await git(repo, 'checkout', '-q', '--detach');
    const victim = await lab.repository(`victim ${count}`);
    await git(repo, 'worktree', 'add', '-q', join(lab.place, `x ${count}\nworktree ${victim}`), 'main');
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    const before = await stateOf(victim);
    expect(await outcomeOf(mergeToBase())).toContain('merge_target_unauthorized');
    expect(await stateOf(victim)).toEqual(before);
  });

  it('R22: two checkouts of the base are none', async () => {
    await addTree('owner', 'main', '--force');
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    expect((await refusalOf(mergeToBase())).details).toEqual({
      reasonKey: 'actions.mergeToBase.noOwner',
      reason: 'several-owners',
    });
  });

  it.each([
    ['a rebase', ['rebase', 'topic'], 'rebase'],
    ['a bisect', ['bisect', 'start', 'HEAD', 'HEAD~1'], 'bisect'],
  ])('R22: nor does it move behind %s of it', async (_, words, operation) => {
    await commitFiles(repo, 'theirs', { f: 'theirs\n' });
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    await git(repo, ...words).catch(() => undefined);
    await git(repo, 'checkout', '-q', '--detach').catch(() => undefined);
    const before = await stateOf(repo);
    const { details } = await refusalOf(mergeToBase());
    expect([details['reasonKey'], details['operation']]).toEqual(['actions.merge.inProgress', operation]);
    expect(await stateOf(repo)).toEqual(before);
  });

  it('R22: a stack of branches that is being rebased keeps each of them', async () => {
    await commitFiles(repo, 'theirs', { k: 'theirs\n' });
    await git(repo, 'checkout', '-q', '-b', 'stack');
    await commitFiles(repo, 'on top', { f: 'stack\n' });
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    await git(repo, 'rebase', '--update-refs', 'topic').catch(() => undefined);
    expect((await refusalOf(mergeToBase())).details).toMatchObject({ operation: 'rebase' });
  });

  it.each([
    ['HEAD is detached', ['checkout', '-q', '--detach'], { reasonKey: 'actions.merge.detached' }],
    [
      'its base is itself',
      ['symbolic-ref', 'HEAD', 'refs/heads/main'],
      { reasonKey: 'actions.mergeToBase.onBase' },
    ],
    [
      'there is no local base',
      ['branch', '-q', '-m', 'main', 'elsewhere'],
      { reasonKey: 'actions.mergeToBase.noOwner', reason: 'no-local-branch' },
    ],
  ])('R22: nothing is done when %s', async (_, words, details) => {
    await git(repo, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    await git(tree, ...words);
    await git(tree, 'reset', '-q', '--hard');
    expect((await refusalOf(mergeToBase())).details).toEqual(details);
  });

  it('R22: neither side may have changes, and each is told by its key', async () => {
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    await put(repo, { k: 'dirty\n' });
    expect((await refusalOf(mergeToBase())).details).toEqual({
      reasonKey: 'actions.merge.dirtyOwner',
      paths: ['k'],
    });
    await put(tree, { k: 'dirty\n' });
    expect((await refusalOf(mergeToBase())).details).toEqual({
      reasonKey: 'actions.merge.dirtyCurrent',
      paths: ['k'],
    });
    expect(await contentOf(repo, 'k')).toBe('dirty\n');
    await git(tree, 'reset', '-q', '--hard');
    await git(repo, 'reset', '-q', '--hard');
    await put(repo, { n: 'mine\n' });
    await commitFiles(tree, 'ours', { n: 'theirs\n' });
    expect((await refusalOf(mergeToBase())).details).toEqual({
      reasonKey: 'actions.merge.dirtyOwner',
      reason: 'files-in-the-way',
      paths: ['n'],
    });
    expect(await contentOf(repo, 'n')).toBe('mine\n');
  });

  it('R22: conflicts are left in the checkout of the base, and the worktree is not touched', async () => {
    const base = await commitFiles(repo, 'theirs', { f: 'theirs\n' });
    const ours = await commitFiles(tree, 'ours', { f: 'ours\n' });
    const { code, details } = await refusalOf(mergeToBase());
    expect([code, details]).toMatchObject([
      'merge_conflict',
      {
        conflictFiles: ['f'],
        partial: true,
        stage: 'merge-conflict-preserved',
        recoveryCwd: repo,
        recovery: { branch: 'refs/heads/main', head: base, merging: ours },
      },
    ]);
    expect([await headOf(repo), await headOf(repo, 'MERGE_HEAD')]).toEqual([base, ours]);
    expect(await git(tree, 'status', '--porcelain')).toBe('');
    // Whose merge it is now, nobody can tell: it is never ended by itself.
    expect(await outcomeOf(mergeToBase())).toBe('action_refused: actions.merge.inProgress');
    expect(await headOf(repo, 'MERGE_HEAD')).toBe(ours);
  });

  it('W39: a tag of the name of the base or of the branch is another ref', async () => {
    const base = await headOf(repo);
    await git(repo, 'tag', 'main', base);
    await git(repo, 'tag', 'topic', base);
    const ours = await commitFiles(tree, 'ours', { f: 'ours\n' });
    expect((await mergeToBase()).oid).toBe(ours);
    expect(await headOf(repo, 'refs/heads/main')).toBe(ours);
  });
});

describe('a managed worktree', () => {
  it.each([
    ['main', 'ok'],
    ['origin/main', 'ok'],
    ['refs/heads/main', 'ok'],
    ['release', 'action_refused: actions.mergeToBase.noOwner'],
    // Metadata that says such things makes no managed worktree (R26), and then the default branch is the base.
    ['--output=out', 'ok'],
    ['HEAD~1', 'ok'],
    ['main:f', 'ok'],
  ])(
    'W40, R20, sec-poison-update: %j as the base that it was made from is a name or nothing',
    async (baseName, outcome) => {
      const service = await lab.another({ managedRoots: managedRoots(lab.place) });
      const worktree = await addManagedWorktree(lab.place, 2, repo);
      await writeMetadata(worktree, { baseName });
      await git(repo, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
      const ours = await commitFiles(worktree.path, 'ours', { f: 'ours\n' });
      const before = await headOf(repo);
      expect(await outcomeOf(service.actions.mergeToBase(worktree.path))).toBe(outcome);
      expect(await headOf(repo)).toBe(outcome === 'ok' ? ours : before);
      const update = await outcomeOf(service.actions.updateFromBase(worktree.path));
      expect(update).toBe(
        `action_refused: actions.updateFromBase.${outcome === 'ok' ? 'upToDate' : 'noBase'}`,
      );
      await expect(contentOf(worktree.path, 'out')).rejects.toThrow('ENOENT');
    },
  );
});
