import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { emptyTree, linesOf, onlyFile, useDiffLab } from './diff-lab.ts';

const here = useDiffLab();
const { put, commitAll, oidOf, refusal } = here;

describe('commits', () => {
  it('a root is compared with nothing, a merge with its first parent', async () => {
    const { path } = here;
    const root = await oidOf('HEAD');
    expect(await here.lab.commit(path, root)).toEqual({
      sha: root,
      isMerge: false,
      isRoot: true,
      files: [],
      tooLarge: false,
    });
    await git(path, 'checkout', '-q', '-b', 'other');
    await put('theirs', '1\n');
    const other = await commitAll();
    await git(path, 'checkout', '-q', 'main');
    await put('ours', '1\n');
    const ours = await commitAll();
    await git(path, 'merge', '-q', '--no-edit', 'other');
    const merge = await oidOf('HEAD');
    const answer = await here.lab.commit(path, merge.toUpperCase());
    expect(answer).toMatchObject({ sha: merge, isMerge: true, isRoot: false });
    expect(onlyFile(answer)).toMatchObject({ path: 'theirs', status: 'added' });
    const base = await here.lab.diff(path, { mode: 'base', base: other });
    expect(base.refs).toEqual({ baseRef: other, targetRef: merge, label: `base:${other}` });
    expect(onlyFile(base).path).toBe('ours');
    await put('ours', '2\n');
    await put('new', '1\n');
    const task = await here.lab.diff(path, { mode: 'task' }, { origin: { baseOid: ours, baseName: 'main' } });
    expect(task.refs).toEqual({ baseRef: ours, targetRef: null, label: 'task:main' });
    expect(task.files.map((file) => file.path)).toEqual(['new', 'ours', 'theirs']);
    const session = await here.lab.diff(path, { mode: 'session' });
    expect(session).toEqual({ ...(await here.lab.diff(path)), mode: 'session' });
  });

  it('R20: only the full name of a commit is one', async () => {
    const { path } = here;
    await git(path, 'tag', '-a', '-m', 'tag', 'tag');
    const [tag, tree] = [await oidOf('tag'), await oidOf('HEAD^{tree}')];
    for (const commit of [tag, tree, '0'.repeat(40), 'a'.repeat(64)]) {
      expect(await refusal({ commit })).toBe('commit_not_found');
    }
    for (const commit of ['HEAD', '--all', tag.slice(0, 12), `${tag}^`, '', 'refs/heads/main']) {
      expect(await refusal({ commit })).toBe('invalid_commit_oid');
    }
    await git(path, 'branch', 'a'.repeat(64));
    expect(await refusal({ commit: 'a'.repeat(64) })).toBe('commit_not_found');
  });

  it('R20, W40: a base is a commit or a branch, checked in every mode', async () => {
    const { path } = here;
    const first = await oidOf('HEAD');
    await put('f', '1\n');
    await commitAll();
    await git(path, 'update-ref', 'refs/remotes/origin/main', first);
    for (const [base, label] of [
      ['origin/main', 'origin/main'],
      ['refs/remotes/origin/main', 'origin/main'],
      ['main', 'main'],
    ]) {
      const answer = await here.lab.diff(path, { mode: 'base', base });
      expect([answer.refs.baseRef, answer.refs.label]).toEqual([first, `base:${label}`]);
    }
    expect((await here.lab.diff(path, { mode: 'base', base: 'refs/heads/main' })).files).toEqual([]);
    for (const base of ['HEAD~1', '--output=x', 'main^', 'main..other', ':/x', '@{-1}', 'refs/tags/x', '']) {
      for (const mode of ['base', 'uncommitted', 'task']) {
        expect(await refusal({ mode, base })).toBe('invalid_base_revision malformed');
      }
    }
    expect(await refusal({ mode: 'base', base: 'missing' })).toBe('invalid_base_revision not-found');
    await git(path, 'checkout', '-q', '--orphan', 'apart');
    await git(path, 'commit', '-q', '-m', 'apart');
    expect(await refusal({ mode: 'base', base: 'main' })).toBe('invalid_base_revision no-common-ancestor');
  });

  it('without a base, that of the worktree or the default branch is taken; without any, nothing', async () => {
    const { path } = here;
    const first = await oidOf('HEAD');
    await git(path, 'checkout', '-q', '-b', 'work');
    await put('f', '1\n');
    const second = await commitAll();
    expect((await here.lab.diff(path, { mode: 'base' })).refs).toEqual({
      baseRef: first,
      targetRef: second,
      label: 'base:main',
    });
    const origin = { baseOid: first, baseName: 'work' };
    expect((await here.lab.diff(path, { mode: 'base' }, { origin })).refs.label).toBe('base:work');
    await git(path, 'branch', '-q', '-D', 'main');
    await git(path, 'checkout', '-q', '--detach');
    const answer = await here.lab.diff(path, { mode: 'base' });
    expect(answer.refs).toEqual({ baseRef: emptyTree, targetRef: second, label: 'base:?' });
    expect(onlyFile(answer).path).toBe('f');
  });

  it('task needs the commit that the work began at', async () => {
    expect(await refusal({ mode: 'task' })).toBe('task_base_missing not-recorded');
    const origin = (baseOid: string | null) => ({ origin: { baseOid, baseName: 'main' } });
    expect(await refusal({ mode: 'task' }, origin(null))).toBe('task_base_missing not-recorded');
    expect(await refusal({ mode: 'task' }, origin('1'.repeat(40)))).toBe('task_base_missing not-found');
    expect(await refusal({ mode: 'task' }, origin('main'))).toBe('invalid_stored_base_revision');
    expect(await refusal({ mode: 'other' })).toBe('invalid_diff_mode');
    for (const bad of ['../x', '/x', 'a/../b', '', 'a\0b', 'a//b']) {
      expect(await refusal({ path: bad })).toMatch(/^invalid_diff_path/);
    }
  });

  it('white space can be left out of account', async () => {
    const { path } = here;
    await put('f', 'a b\nc\n');
    await put('g', 'x\n');
    await commitAll();
    await put('f', 'a  b\nd\n');
    await put('g', '\tx\n');
    expect(linesOf(onlyFile(await here.lab.diff(path, { ignoreWhitespace: true })))).toEqual([
      ' a  b',
      '-c',
      '+d',
    ]);
    const third = await commitAll();
    expect(onlyFile(await here.lab.commit(path, third, { ignoreWhitespace: true })).path).toBe('f');
  });

  it('a repository of SHA-256 names is compared like any other', async () => {
    const other = join(here.lab.lab.place, 'sha256');
    execFileSync('git', ['init', '-q', '--object-format=sha256', '-b', 'main', other]);
    await here.lab.lab.register('sha256');
    await writeFile(join(other, 'f'), '1\n');
    const unborn = await here.lab.diff(other);
    expect([unborn.refs.baseRef.length, onlyFile(unborn).untracked]).toEqual([64, true]);
    await git(other, 'add', '-A');
    await git(other, 'commit', '-q', '-m', 'first');
    const head = (await git(other, 'rev-parse', 'HEAD')).trimEnd();
    expect(onlyFile(await here.lab.commit(other, head))).toMatchObject({ path: 'f', additions: 1 });
  });
});
