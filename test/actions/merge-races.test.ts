import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGitRunner } from '../../src/git/run-git.ts';
import { deathGuardPath } from '../../src/native/index.ts';
import { git } from '../support/git.ts';
import { type ActionLab, createActionLab, headOf, outcomeOf } from './action-lab.ts';
import { commitFiles, contentOf, put, type Refused, refusalOf, stateOf } from './merge-lab.ts';
import { actionsWith, type Moment } from './raced-actions.ts';

let lab: ActionLab;
let repo: string;
let tree: string;
let count = 0;
const runner = createGitRunner({ deathGuard: deathGuardPath() });
beforeAll(async () => {
  lab = await createActionLab();
});
afterAll(async () => {
  await runner.close();
  await lab[Symbol.asyncDispose]();
});
/** A main checkout on `main` and a worktree on `topic`; each has a commit that the other has not. */
beforeEach(async () => {
  count += 1;
  repo = await lab.repository(`repo ${count}`);
  await commitFiles(repo, 'base', { f: 'one\n', k: 'one\n' });
  tree = join(lab.place, `tree ${count}`);
  await git(repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
  await commitFiles(tree, 'ours', { f: 'ours\n' });
  await commitFiles(repo, 'theirs', { k: 'theirs\n' });
});

const meddled = (step: string, moment: Moment, happen: () => Promise<unknown>) =>
  actionsWith(lab, runner, { step, moment, happen });

const raced = (step: string, moment: Moment, happen: () => Promise<unknown>): Promise<Refused> =>
  refusalOf(meddled(step, moment, happen).mergeToBase(tree));

describe('somebody is faster', () => {
  it.each<[string, string, Moment]>([
    ['once it is captured', 'merge-tree', 'before'],
    ['once the merge is known', 'merge-tree', 'after'],
    ['once the commit is made', 'commit-tree', 'after'],
  ])('R22: a base that moves %s keeps their commit, and nothing of ours is done', async (_, step, moment) => {
    let theirs = '';
    const { code, details } = await raced(step, moment, async () => {
      theirs = await commitFiles(repo, 'faster', { n: 'x\n' });
    });
    expect([code, details['reasonKey'], details['partial']]).toEqual([
      'ref_moved',
      'actions.merge.staleTarget',
      undefined,
    ]);
    expect(await headOf(repo)).toBe(theirs);
    expect([await git(repo, 'status', '--porcelain'), await contentOf(repo, 'f')]).toEqual(['', 'one\n']);
  });

  it('R22: a base that moves after the files were written keeps their commit, and what was written is named', async () => {
    let theirs = '';
    const { code, details } = await raced('check-out', 'after', async () => {
      await git(repo, 'commit', '-q', '--allow-empty', '--only', '-m', 'faster');
      theirs = await headOf(repo);
    });
    expect([code, details]).toMatchObject([
      'ref_moved',
      { reasonKey: 'actions.merge.staleTarget', partial: true, stage: 'merge', staged: true },
    ]);
    expect(await headOf(repo)).toBe(theirs);
    expect(await git(repo, 'status', '--porcelain')).toBe('M  f\n');
    // The same again finds the files done, and only the branch moves.
    expect((await lab.service.actions.mergeToBase(tree)).kind).toBe('merge');
    expect(await git(repo, 'status', '--porcelain')).toBe('');
  });

  it('R22: in the last moment the compare-and-swap decides', async () => {
    let theirs = '';
    const { code, details } = await raced('update-ref', 'before', async () => {
      theirs = (await git(repo, 'commit-tree', '-m', 'faster', '-p', 'HEAD', 'HEAD^{tree}')).trimEnd();
      await git(repo, 'update-ref', 'refs/heads/main', theirs);
    });
    expect([code, details['partial']]).toEqual(['ref_moved', true]);
    expect(await headOf(repo)).toBe(theirs);
  });

  it.each<[string, string, string[]]>([
    ['switches HEAD', 'refs/heads/other', ['checkout', '-q', '-b', 'other']],
    ['detaches HEAD', 'HEAD', ['checkout', '-q', '--detach']],
    ['begins a merge', 'refs/heads/main', ['merge', '-q', '--no-commit', '--no-ff', 'side']],
    ['begins a bisect', 'refs/heads/main', ['bisect', 'start']],
  ])('R22: who %s in the checkout of the base meanwhile is not merged over', async (_, head, words) => {
    await git(repo, 'branch', 'side', 'HEAD~1');
    await git(repo, 'checkout', '-q', 'side');
    await commitFiles(repo, 'side', { n: 'x\n' });
    await git(repo, 'checkout', '-q', 'main');
    const base = await headOf(repo);
    let before = {};
    const { code } = await raced('commit-tree', 'after', async () => {
      await git(repo, ...words);
      before = await stateOf(repo);
    });
    expect(code).toBe('ref_moved');
    expect(await stateOf(repo)).toEqual(before);
    expect([await headOf(repo, 'refs/heads/main'), (await stateOf(repo))['head']]).toEqual([
      base,
      `${head}\n`,
    ]);
  });

  it('R22: HEAD that is switched after the files were written is found out, and no branch moves', async () => {
    const base = await headOf(repo);
    const { code, details } = await raced('check-out', 'after', () =>
      git(repo, 'checkout', '-q', '-b', 'other'),
    );
    expect([code, details['partial'], details['stage']]).toEqual(['ref_moved', true, 'merge']);
    expect([await headOf(repo, 'main'), await headOf(repo, 'other')]).toEqual([base, base]);
  });

  it('R22: HEAD that is switched while the branch moves is told, with the commit that stands', async () => {
    const { code, details } = await raced('update-ref', 'after', () =>
      git(repo, 'checkout', '-q', '-b', 'other'),
    );
    expect([code, details['stage'], details['committed']]).toEqual([
      'ref_moved',
      'merge-ownership-changed',
      await headOf(repo, 'main'),
    ]);
  });

  it('R22: a branch that is taken back after it moved is told, and what is built upon it is not', async () => {
    const base = await headOf(repo);
    const { code, details } = await raced('update-ref', 'after', () =>
      git(repo, 'update-ref', 'refs/heads/main', base),
    );
    expect([code, details['stage'], details['partial']]).toEqual(['ref_moved', 'postcondition', true]);
    expect(details['committed']).toMatch(/^[0-9a-f]{40}$/);
    await git(repo, 'reset', '-q', '--hard');
    const again = meddled('update-ref', 'after', () => commitFiles(repo, 'upon it', { n: 'x\n' }));
    expect((await again.mergeToBase(tree)).kind).toBe('merge');
  });

  it('R22: a merge that somebody else began in the last moment is theirs', async () => {
    await commitFiles(tree, 'ours', { k: 'ours\n' });
    await git(repo, 'branch', 'side', 'HEAD~1');
    const { code, details } = await raced('merge', 'before', () =>
      git(repo, 'merge', '-q', '--no-commit', '--no-ff', '-s', 'ours', 'topic~1'),
    );
    expect([code, details['stage'], details['partial']]).toEqual(['ref_moved', 'foreign-merge', undefined]);
    expect(await headOf(repo, 'MERGE_HEAD')).toBe(await headOf(tree, 'HEAD~1'));
  });

  it('R22: conflicts that a faster commit has ended leave a merge that says how to go on', async () => {
    const ours = await commitFiles(tree, 'ours', { k: 'ours\n' });
    const { code, details } = await raced('merge', 'before', () =>
      commitFiles(repo, 'agrees', { k: 'one\n' }),
    );
    expect([code, details]).toMatchObject([
      'ref_moved',
      { partial: true, stage: 'merge', recovery: { inProgress: 'merge' }, recoveryCwd: repo },
    ]);
    expect(await headOf(repo, 'MERGE_HEAD')).toBe(ours);
    await lab.service.actions.commit(repo, { message: 'concluded' });
    expect(await contentOf(repo, 'k')).toBe('ours\n');
  });

  it('R22: conflicts that somebody has merged meanwhile are theirs', async () => {
    await commitFiles(tree, 'ours', { k: 'ours\n' });
    const { code, details } = await raced('merge', 'before', () =>
      git(repo, 'merge', '-q', '-s', 'ours', '--no-edit', 'topic'),
    );
    expect([code, details['partial']]).toEqual(['ref_moved', undefined]);
    expect(await git(repo, 'status', '--porcelain')).toBe('');
  });

  it('R22: a file that is changed in the last moment stays, and nothing else is written', async () => {
    const { code, details } = await raced('check-out', 'before', () => put(repo, { f: 'mine\n' }));
    expect([code, details['reason'], details['reasonKey']]).toEqual([
      'action_refused',
      'files-in-the-way',
      'actions.merge.dirtyOwner',
    ]);
    expect([await contentOf(repo, 'f'), await git(repo, 'diff', '--cached')]).toEqual(['mine\n', '']);
  });

  it.each([
    ['the main checkout is moved away', () => rename(repo, `${repo} moved`)],
    ['the row is gone', () => lab.service.workspaces?.remove(repo)],
    ['the worktree is another directory', () => rename(tree, `${tree} moved`)],
    ['the worktree has no administration', () => rm(join(tree, '.git'))],
  ])('R06, R22: nothing is written when %s meanwhile', async (_, change) => {
    const base = await headOf(repo);
    const before = await contentOf(repo, 'f');
    await raced('commit-tree', 'after', async () => change());
    const place = existsSync(repo) ? repo : `${repo} moved`;
    expect([await headOf(place, 'main'), await contentOf(place, 'f')]).toEqual([base, before]);
  });

  it('R22: an upstream that moves after it was captured is pulled the next time', async () => {
    const remote = join(lab.place, `remote ${count}.git`);
    await git(lab.place, 'clone', '-q', '--bare', repo, remote);
    await git(repo, 'remote', 'add', 'origin', remote);
    const first = await commitFiles(tree, 'first', { n: '1\n' });
    await git(repo, 'merge', '-q', '--no-edit', 'topic');
    await git(repo, 'push', '-q', 'origin', 'main');
    const pushed = await headOf(repo);
    await git(repo, 'reset', '-q', '--hard', 'HEAD~1');
    const second = (await git(repo, 'commit-tree', '-m', '2', '-p', pushed, `${pushed}^{tree}`)).trimEnd();
    const actions = meddled('check-out', 'before', async () => {
      await git(repo, 'update-ref', 'refs/remotes/origin/main', second);
    });
    expect(await actions.pull(repo)).toMatchObject({ kind: 'forward', oid: pushed, mergedOid: pushed });
    expect(first).not.toBe(pushed);
  });

  it('R22: a branch that is switched while the pull fetches is not merged into', async () => {
    const remote = join(lab.place, `remote ${count}.git`);
    await git(lab.place, 'clone', '-q', '--bare', repo, remote);
    await git(repo, 'remote', 'add', 'origin', remote);
    await git(repo, 'reset', '-q', '--hard', 'HEAD~1');
    const head = await headOf(repo);
    const actions = meddled('fetch', 'after', () => git(repo, 'checkout', '-q', '-b', 'other'));
    expect(await outcomeOf(actions.pull(repo))).toBe('ref_moved: actions.merge.staleTarget');
    expect([await headOf(repo), await headOf(repo, 'main')]).toEqual([head, head]);
  });
});

it('R22: an abort ends a merge before its first change only', async () => {
  const base = await headOf(repo);
  const early = new AbortController();
  const before = meddled('merge-tree', 'after', async () => early.abort());
  expect(await outcomeOf(before.mergeToBase(tree, early.signal))).toBe('aborted');
  expect([await headOf(repo), await git(repo, 'status', '--porcelain')]).toEqual([base, '']);
  const late = new AbortController();
  const after = meddled('check-out', 'before', async () => late.abort());
  expect((await after.mergeToBase(tree, late.signal)).kind).toBe('merge');
});

it('R22: merges of a whole family at one time, in two servers, beside a person: none is lost', async () => {
  const other = await lab.another();
  const trees: string[] = [];
  for (let index = 0; index < 6; index += 1) {
    const path = join(lab.place, `many ${count} ${index}`);
    await git(repo, 'worktree', 'add', '-q', '-b', `many${index}`, path);
    await commitFiles(path, `many${index}`, { [`many${index}`]: 'x\n' });
    trees.push(path);
  }
  const services = [lab.service, other];
  const outcomes = await Promise.all(
    trees.map((path, index) => services[index % 2]?.actions.mergeToBase(path)),
  );
  await writeFile(join(repo, 'untracked'), 'mine\n');
  const reached = new Set((await git(repo, 'rev-list', 'main')).trim().split('\n'));
  for (const [index, path] of trees.entries()) {
    expect(reached.has(await headOf(path))).toBe(true);
    expect(reached.has(outcomes[index]?.oid ?? '')).toBe(true);
  }
  expect(await git(repo, 'status', '--porcelain')).toBe('?? untracked\n');
  await git(repo, 'fsck', '--strict');
}, 60_000);
