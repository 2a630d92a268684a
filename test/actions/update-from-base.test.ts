import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { type ActionLab, createActionLab, filesOf, headOf, outcomeOf } from './action-lab.ts';
import { commitFiles, contentOf, type Files, put, refusalOf, stateOf } from './merge-lab.ts';

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
  tree = join(lab.place, `tree ${count}`);
  await git(repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
});

const update = (cwd = tree) => lab.service.actions.updateFromBase(cwd);

describe('an update from the base', () => {
  it('R22: moves the branch forward where it can, with index and files', async () => {
    const theirs = await commitFiles(repo, 'more', { f: 'two\n', 'd/new': 'x\n', k: null });
    const previous = await headOf(tree);
    expect(await update()).toEqual({ kind: 'forward', oid: theirs, previous, mergedOid: theirs });
    expect(await headOf(tree)).toBe(theirs);
    expect(await git(tree, 'status', '--porcelain')).toBe('');
    expect(await contentOf(tree, 'd/new')).toBe('x\n');
    expect(await git(tree, 'rev-parse', '--symbolic-full-name', 'HEAD')).toBe('refs/heads/topic\n');
    expect(await git(tree, 'reflog', '-1', '--format=%gs')).toBe('merge\n');
  });

  it('R22: else makes a commit of two parents by the author of the server', async () => {
    const theirs = await commitFiles(repo, 'theirs', { f: 'two\n' });
    const ours = await commitFiles(tree, 'ours', { own: 'x\n' });
    const { kind, oid } = await update();
    expect([kind, await headOf(tree)]).toEqual(['merge', oid]);
    const said = await git(tree, 'log', '-1', '--format=%P|%an <%ae>|%cn|%s');
    expect(said).toBe(
      `${ours} ${theirs}|A Person <person@example.invalid>|A Person|Merge branch 'main' into topic\n`,
    );
    expect(await filesOf(tree)).toEqual({ f: 'two\n', k: 'kept\n', own: 'x\n' });
    expect(await git(tree, 'status', '--porcelain')).toBe('');
    await git(tree, 'fsck', '--strict');
  });

  it('R22: is what `git merge` makes of it: renames, modes, links, removed directories', async () => {
    const lines = Array.from({ length: 40 }, (_, line) => `line ${line}\n`);
    await commitFiles(repo, 'long', { long: lines.join(''), 'd/a': 'a\n', 'd/b': 'b\n' });
    await git(tree, 'merge', '-q', '--ff-only', 'main');
    await git(repo, 'mv', 'long', 'moved');
    await commitFiles(repo, 'theirs', { 'd/a': null, 'd/b': null, link: '-> moved' });
    await git(repo, 'update-index', '--chmod=+x', 'k');
    await git(repo, 'commit', '-q', '-m', 'mode');
    await git(repo, 'checkout', '-q', '--', 'k');
    await commitFiles(tree, 'ours', { long: ['first\n', ...lines].join('') });
    await git(repo, 'branch', 'expected', 'topic');
    const other = join(lab.place, `other ${count}`);
    await git(repo, 'worktree', 'add', '-q', other, 'expected');
    await git(other, 'merge', '-q', '--no-edit', 'main');
    await update();
    expect(await git(tree, 'ls-files', '-s')).toBe(await git(other, 'ls-files', '-s'));
    expect(await headOf(tree, 'HEAD^{tree}')).toBe(await headOf(other, 'HEAD^{tree}'));
    expect(await git(tree, 'status', '--porcelain')).toBe('');
  });

  it('R22: is refused where all of the base is there already, and on an unknown base', async () => {
    expect(await outcomeOf(update())).toBe('action_refused: actions.updateFromBase.upToDate');
    await commitFiles(tree, 'ahead', { own: 'x\n' });
    expect(await outcomeOf(update())).toBe('action_refused: actions.updateFromBase.upToDate');
  });

  it('R22: takes the copy of the base that was fetched before the local one (W40), and no tag of its name (W39)', async () => {
    const local = await commitFiles(repo, 'local', { f: 'local\n' });
    await git(repo, 'checkout', '-q', '--detach', 'HEAD~1');
    const fetched = await commitFiles(repo, 'fetched', { f: 'fetched\n' });
    await git(repo, 'checkout', '-q', 'main');
    await git(repo, 'update-ref', 'refs/remotes/origin/main', fetched);
    await git(repo, 'tag', 'main', local);
    await git(repo, 'tag', 'origin/main', local);
    expect((await update()).oid).toBe(fetched);
  });

  it('run-update-conflict, R22: conflicts are left in the files with the way out, and nothing ends the merge', async () => {
    const theirs = await commitFiles(repo, 'theirs', { f: 'theirs\n', ä: '1\n', free: 'x\n' });
    const ours = await commitFiles(tree, 'ours', { f: 'ours\n', ä: '2\n' });
    const refusal = await refusalOf(update());
    expect(refusal).toEqual({
      code: 'merge_conflict',
      details: {
        reasonKey: 'actions.merge.conflict',
        conflictFiles: ['f', 'ä'],
        conflictCount: 2,
        partial: true,
        stage: 'merge-conflict-preserved',
        recoveryCwd: tree,
        recovery: {
          inProgress: 'merge',
          branch: 'refs/heads/topic',
          head: ours,
          merging: theirs,
          conclude: 'commit',
          undo: 'git merge --abort',
        },
      },
    });
    expect(await headOf(tree)).toBe(ours);
    expect(await headOf(tree, 'MERGE_HEAD')).toBe(theirs);
    expect(await contentOf(tree, 'f')).toContain('<<<<<<<');
    expect(await contentOf(tree, 'free')).toBe('x\n');
    const before = await stateOf(tree);
    expect(await outcomeOf(update())).toBe('action_refused: actions.merge.inProgress');
    expect(await stateOf(tree)).toEqual(before);
    // The way out that the refusal names.
    await put(tree, { f: 'resolved\n', ä: '3\n' });
    await git(tree, 'add', '-A');
    const { oid } = await lab.service.actions.commit(tree, { message: 'resolved' });
    expect(await git(tree, 'log', '-1', '--format=%P', oid)).toBe(`${ours} ${theirs}\n`);
    await git(tree, 'fsck', '--strict');
  });

  it('R22: the other way out brings back what was', async () => {
    await commitFiles(repo, 'theirs', { f: 'theirs\n' });
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    const before = await stateOf(tree);
    expect((await refusalOf(update())).code).toBe('merge_conflict');
    await git(tree, 'merge', '--abort');
    expect(await stateOf(tree)).toEqual(before);
  });
});

describe('a checkout that cannot take it', () => {
  it.each<[string, Files, Files, string, unknown]>([
    [
      'a change of a file that the merge has too',
      { f: 'theirs\n' },
      { f: 'mine\n' },
      'actions.merge.dirtyCurrent',
      ['f'],
    ],
    ['a change of another file', { f: 'theirs\n' }, { k: 'mine\n' }, 'actions.merge.dirtyCurrent', ['k']],
    [
      'a file that was taken out of the index',
      { f: 'theirs\n' },
      { k: null },
      'actions.merge.dirtyCurrent',
      ['k'],
    ],
    [
      'an untracked file in the way',
      { 'd/n': 'x\n' },
      { 'd/n': 'mine\n' },
      'actions.merge.dirtyCurrent',
      ['d/n'],
    ],
    [
      'an ignored file in the way',
      { 'secret.env': 'x\n' },
      { 'secret.env': 'mine\n' },
      'actions.merge.dirtyCurrent',
      ['secret.env'],
    ],
    [
      'an untracked file where a directory is to be',
      { 'd/n': 'x\n' },
      { d: 'mine\n' },
      'actions.merge.dirtyCurrent',
      ['d'],
    ],
    [
      'an ignored file where a directory is to be',
      { 'a.env/n': 'x\n' },
      { 'a.env': 'mine\n' },
      'actions.merge.dirtyCurrent',
      ['a.env'],
    ],
    [
      'an untracked directory where a file is to be',
      { n: 'x\n' },
      { 'n/a': 'mine\n' },
      'actions.merge.dirtyCurrent',
      ['n/a'],
    ],
    [
      'an ignored directory where a file is to be',
      { 'b.env': 'x\n' },
      { 'b.env/a': 'mine\n' },
      'actions.merge.dirtyCurrent',
      ['b.env/a'],
    ],
    [
      'a link that leads elsewhere where a directory is to be',
      { 'd/n': 'x\n' },
      { d: '-> /' },
      'actions.merge.dirtyCurrent',
      ['d'],
    ],
  ])('R22, W8: %s is refused by name, and nothing is changed', async (_, theirs, mine, key, paths) => {
    await writeFile(join(repo, '.git/info/exclude'), '*.env\n');
    await commitFiles(repo, 'theirs', theirs);
    // Forward and as a merge of its own, and with conflicts beside it.
    for (const round of ['forward', 'merge', 'conflict']) {
      if (round === 'merge') await commitFiles(tree, 'ours', { own: 'x\n' });
      if (round === 'conflict') {
        await commitFiles(repo, 'theirs', { k: 'theirs\n' });
        await commitFiles(tree, 'ours', { k: 'ours\n' });
      }
      await put(tree, mine);
      const before = await stateOf(tree);
      const { code, details } = await refusalOf(update());
      expect([round, code, details['reasonKey'], details['paths']]).toEqual([
        round,
        'action_refused',
        key,
        paths,
      ]);
      expect(await stateOf(tree)).toEqual(before);
      for (const [name, content] of Object.entries(mine)) {
        if (content !== null && !content.startsWith('->')) expect(await contentOf(tree, name)).toBe(content);
        await rm(join(tree, name.split('/')[0] ?? ''), { recursive: true, force: true });
      }
      await git(tree, 'reset', '-q', '--hard');
    }
  });

  it('R22: what is in nobody’s way stays: untracked files, empty directories, files with another time', async () => {
    await commitFiles(repo, 'theirs', { f: 'two\n', n: 'x\n', 'd/a': 'x\n' });
    await put(tree, { untracked: 'mine\n', 'd/b': 'mine\n' });
    await mkdir(join(tree, 'n'));
    await writeFile(join(tree, 'f'), 'one\n');
    await update();
    expect(await git(tree, 'status', '--porcelain', '--untracked-files=all')).toBe('?? d/b\n?? untracked\n');
    expect(await contentOf(tree, 'n')).toBe('x\n');
  });

  it.each([
    ['a rebase', ['rebase', 'main'], 'rebase'],
    ['a cherry-pick', ['cherry-pick', 'main'], 'cherry-pick'],
    ['a merge', ['merge', 'main'], 'merge'],
  ])('R22: %s that stands in the middle is not touched', async (_, words, operation) => {
    await commitFiles(repo, 'theirs', { f: 'theirs\n' });
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    await git(tree, ...words).catch(() => undefined);
    const before = await stateOf(tree);
    const { details } = await refusalOf(update());
    expect([details['reasonKey'], details['operation']]).toEqual(['actions.merge.inProgress', operation]);
    expect(await stateOf(tree)).toEqual(before);
  });

  it('R22: nor is a bisect, and neither a detached HEAD nor an unborn branch is merged into', async () => {
    await commitFiles(repo, 'theirs', { f: 'theirs\n' });
    await git(tree, 'bisect', 'start');
    expect(await outcomeOf(update())).toBe('action_refused: actions.merge.inProgress');
    await git(tree, 'bisect', 'reset');
    await git(tree, 'checkout', '-q', '--detach');
    expect(await outcomeOf(update())).toBe('action_refused: actions.merge.detached');
    await git(tree, 'checkout', '-q', '--orphan', 'unborn');
    expect((await refusalOf(update())).details).toEqual({
      reasonKey: 'actions.merge.detached',
      reason: 'unborn',
    });
  });

  it('R22: conflicts without a merge are named, and left', async () => {
    await commitFiles(repo, 'theirs', { f: 'theirs\n' });
    await put(tree, { f: 'stashed\n' });
    await git(tree, 'stash', '-q');
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    await git(tree, 'stash', 'pop').catch(() => undefined);
    const { code, details } = await refusalOf(update());
    expect([code, details['paths']]).toEqual(['unmerged_index', ['f']]);
  });

  it('R22: a locked index is waited for, and then refused with nothing done', async () => {
    await commitFiles(repo, 'theirs', { f: 'theirs\n' });
    const lock = (await git(tree, 'rev-parse', '--absolute-git-dir')).trimEnd();
    await writeFile(join(lock, 'index.lock'), '');
    const before = await headOf(tree);
    const { code, details } = await refusalOf(update());
    expect([code, details['recovery']]).toMatchObject([
      'repository_locked',
      { remove: 'index.lock', below: 'git dir' },
    ]);
    expect([await headOf(tree), await contentOf(tree, 'f')]).toEqual([before, 'one\n']);
    await rm(join(lock, 'index.lock'));
    await update();
  });

  it('R22: a branch that is locked leaves the files done, says so, and the next one only moves it', async () => {
    const theirs = await commitFiles(repo, 'theirs', { f: 'theirs\n' });
    const lock = join(repo, '.git/refs/heads/topic.lock');
    await writeFile(lock, '');
    const { code, details } = await refusalOf(update());
    expect([code, details['partial'], details['stage']]).toEqual(['repository_locked', true, 'merge']);
    // Refs are of the repository, whose directory is not that of this worktree.
    expect(details['recovery']).toMatchObject({ remove: 'refs/heads/topic.lock', below: 'common dir' });
    await rm(lock);
    expect((await update()).oid).toBe(theirs);
    expect(await git(tree, 'status', '--porcelain')).toBe('');
  });

  it('R22: histories without a common commit are not merged', async () => {
    await git(repo, 'checkout', '-q', '--orphan', 'other');
    await git(repo, 'commit', '-q', '-m', 'another beginning');
    await git(repo, 'branch', '-f', 'main', 'other');
    const before = await stateOf(tree);
    expect(await outcomeOf(update())).toBe('action_refused: unrelated-histories');
    expect(await stateOf(tree)).toEqual(before);
  });
});

describe('what a repository says', () => {
  it.each([
    ['merge.ff', 'only'],
    ['merge.ff', 'false'],
    ['merge.autoStash', 'true'],
    ['merge.verifySignatures', 'true'],
    ['commit.gpgSign', 'true'],
    ['pull.rebase', 'true'],
    ['branch.topic.rebase', 'true'],
    ['rerere.enabled', 'true'],
    ['merge.log', 'true'],
    ['user.name', 'Somebody Else'],
  ])('W14, R22: %s = %s changes nothing of a merge', async (key, value) => {
    const theirs = await commitFiles(repo, 'theirs', { f: 'two\n' });
    const ours = await commitFiles(tree, 'ours', { own: 'x\n' });
    await git(repo, 'config', key, value);
    await update();
    const said = await git(tree, 'log', '-1', '--format=%P|%cn|%B');
    expect(said.trimEnd()).toBe(`${ours} ${theirs}|A Person|Merge branch 'main' into topic`);
  });

  it.each([
    ['merge.x.driver', 'touch %A.ran'],
    ['filter.x.smudge', 'touch ran'],
    ['filter.x.clean', 'touch ran'],
    ['branch.topic.mergeOptions', '--strategy=ours'],
    ['pull.twohead', 'ours'],
  ])('W14, R20: nothing is merged while %s is set', async (key, value) => {
    await commitFiles(repo, 'theirs', { f: 'theirs\n', '.gitattributes': '* merge=x filter=x\n' });
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    await git(repo, 'config', key, value);
    const before = await headOf(tree);
    expect(await outcomeOf(update())).toBe('untrusted_repository_config');
    expect(await headOf(tree)).toBe(before);
    await git(repo, 'config', '--unset', key);
    expect(await git(tree, 'status', '--porcelain')).toBe('');
  });

  it('W14, run-hooks-off: no hook runs for a forward, a merge or conflicts', async () => {
    const hooks = join(repo, '.git/hooks');
    await mkdir(hooks, { recursive: true });
    const names = ['pre-merge-commit', 'post-merge', 'post-checkout', 'commit-msg', 'prepare-commit-msg'];
    const more = [
      'post-index-change',
      'reference-transaction',
      'pre-commit',
      'post-commit',
      'fsmonitor-watchman',
    ];
    const ran = join(lab.place, `ran ${count}`);
    const [first] = [await commitFiles(repo, 'theirs', { f: 'two\n' })];
    for (const name of [...names, ...more]) {
      await writeFile(join(hooks, name), `#!/bin/sh\necho ${name} >> '${ran}'\n`, { mode: 0o755 });
    }
    const quiet = ['-c', 'core.hooksPath=/dev/null'];
    const commit = (root: string, words: readonly string[]) => git(root, ...quiet, 'commit', '-q', ...words);
    expect((await update()).oid).toBe(first);
    await writeFile(join(repo, 'f'), 'three\n');
    await commit(repo, ['-am', 'theirs']);
    await commit(tree, ['--allow-empty', '-m', 'ours']);
    expect((await update()).kind).toBe('merge');
    await writeFile(join(repo, 'f'), 'four\n');
    await commit(repo, ['-am', 'theirs']);
    await writeFile(join(tree, 'f'), 'five\n');
    await commit(tree, ['-am', 'ours']);
    expect((await refusalOf(update())).code).toBe('merge_conflict');
    await expect(contentOf(lab.place, `ran ${count}`)).rejects.toThrow('ENOENT');
    // They would have.
    await git(tree, 'merge', '--abort');
    expect(await contentOf(lab.place, `ran ${count}`)).toContain('post-index-change');
  });
});
