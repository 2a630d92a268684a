import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { diffLimits } from '../../src/git/diff-file.ts';
import type { DiffQuery } from '../../src/git/diff-query.ts';
import { applied, treeOfFiles } from '../support/apply-diff.ts';
import { git, makeRepository } from '../support/git.ts';
import { createDiffLab, type DiffLab, linesOf, onlyFile } from './diff-lab.ts';
import { setAttributes } from './git-lab.ts';

let lab: DiffLab;
let path: string;
let count = 0;

beforeAll(async () => {
  lab = await createDiffLab();
});

beforeEach(async () => {
  count += 1;
  path = await lab.make(`repository-${count}`);
});

afterAll(() => lab[Symbol.asyncDispose]());

const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('');

async function put(name: string, content: string | Buffer): Promise<void> {
  await mkdir(join(path, name, '..'), { recursive: true });
  await writeFile(join(path, name), content);
}

async function commitAll(message = 'all'): Promise<string> {
  await git(path, 'add', '-A');
  await git(path, 'commit', '-q', '--allow-empty', '-m', message);
  return oidOf('HEAD');
}

async function oidOf(revision: string): Promise<string> {
  return (await git(path, 'rev-parse', revision)).trimEnd();
}

const refusal = (query: DiffQuery, context = {}) =>
  lab.diff(path, query, context).then(
    () => 'an answer',
    (error) => `${error.code} ${error.details.reason ?? ''}`.trimEnd(),
  );

describe('the files as they are', () => {
  it('W28, W29: each kind of change is told, and nothing else', async () => {
    await put('changed', 'a\nb\nc');
    await put('copied', numbers(1, 30));
    await put('moved', numbers(100, 130));
    await put('gone', 'x\n');
    await put('link', 'was a file\n');
    await put('mode', 'm\n');
    await put('binary', 'a\0b');
    await put('empty', '');
    await put('touched', 'same\n');
    await put('sql', '-- one\n-- two\n');
    const head = await commitAll();
    await put('changed', 'a\nB\nc\n');
    await put('copied', numbers(0, 30));
    await put('copy', numbers(1, 31));
    await rename(join(path, 'moved'), join(path, 'moved here'));
    await rm(join(path, 'gone'));
    await rm(join(path, 'link'));
    await symlink('copied', join(path, 'link'));
    await chmod(join(path, 'mode'), 0o755);
    await put('binary', 'a\0c');
    await rm(join(path, 'empty'));
    await utimes(join(path, 'touched'), 1, 1);
    await put('sql', '++ one\n-- two\n');
    await git(path, 'add', '--intent-to-add', 'copy', 'moved here');
    const answer = await lab.diff(path);
    expect(answer).toMatchObject({
      mode: 'uncommitted',
      refs: { baseRef: head, targetRef: null, label: 'uncommitted' },
      tooLarge: false,
      untrackedOmitted: 0,
      nestedRepositories: [],
    });
    expect(
      answer.files.map((file) => [file.path, file.status, file.oldPath, file.additions, file.deletions]),
    ).toEqual([
      ['binary', 'binary', null, 0, 0],
      ['changed', 'modified', null, 2, 2],
      ['copied', 'modified', null, 1, 0],
      ['copy', 'copied', 'copied', 1, 0],
      ['empty', 'deleted', null, 0, 0],
      ['gone', 'deleted', null, 0, 1],
      ['link', 'type-changed', null, 1, 1],
      ['mode', 'modified', null, 0, 0],
      ['moved here', 'renamed', 'moved', 0, 0],
      ['sql', 'modified', null, 1, 1],
    ]);
    const named = (name: string) => onlyFile({ files: answer.files.filter((file) => file.path === name) });
    expect(linesOf(named('changed'))).toEqual([' a', '-b', '-c', '\\ No newline at end of file', '+B', '+c']);
    expect(linesOf(named('sql'))).toEqual(['--- one', '+++ one', ' -- two']);
    expect(named('mode')).toMatchObject({ oldMode: '100644', newMode: '100755' });
    expect(named('link')).toMatchObject({ oldMode: '100644', newMode: '120000' });
    expect(await applied(path, 'HEAD', answer.files)).toBe(await treeOfFiles(path));
  });

  it('W32: untracked files are additions as they lie there, also below a path', async () => {
    await put('.gitignore', 'ignored\n');
    await put('dir/tracked', '1\n');
    await commitAll();
    await put('ignored', 'secret\n');
    await put('dir/new', 'one\r\ntwo');
    await put('dir/binary', Buffer.from([0, 1]));
    await put('dir/empty', '');
    await put('dir/latin', Buffer.from([0xe9, 0x0a]));
    await symlink('../x', join(path, 'dir/link'));
    await put('elsewhere', '1\n');
    await chmod(join(path, 'elsewhere'), 0o755);
    execFileSync('mkfifo', [join(path, 'fifo')]);
    const { files } = await lab.diff(path);
    const shown = files.map((file) => [file.path, file.status, file.additions, file.newMode, file.untracked]);
    expect(shown).toEqual([
      ['dir/binary', 'binary', 0, '100644', true],
      ['dir/empty', 'added', 0, '100644', true],
      ['dir/latin', 'added', 1, '100644', true],
      ['dir/link', 'added', 1, '120000', true],
      ['dir/new', 'added', 2, '100644', true],
      ['elsewhere', 'added', 1, '100755', true],
    ]);
    expect(linesOf(files[4] as (typeof files)[0])).toEqual([
      '+one\r',
      '+two',
      '\\ No newline at end of file',
    ]);
    expect(files[2]).toMatchObject({ undecodable: true, hunks: [{ lines: [{ base64: '6Q==' }] }] });
    await rm(join(path, 'fifo'));
    expect(await applied(path, 'HEAD', files)).toBe(await treeOfFiles(path));
    const below = await lab.diff(path, { path: 'dir' });
    expect(below.files.map((file) => file.path)).toEqual(files.slice(0, 5).map((file) => file.path));
  });

  it('W31: an untracked repository is named as one and is no file', async () => {
    await makeRepository(join(path, 'sub dir/nest'));
    await put('sub dir/nest/file', '1\n');
    await put('file', '1\n');
    const { files, nestedRepositories } = await lab.diff(path);
    expect([files.map((file) => file.path), nestedRepositories]).toEqual([['file'], ['sub dir/nest']]);
  });

  it('R12: what looks like a Git directory is listed and not read', async () => {
    await git(path, 'init', '-q', '--bare', 'bare');
    const { files } = await lab.diff(path);
    const head = onlyFile({ files: files.filter((file) => file.path === 'bare/HEAD') });
    expect(head).toMatchObject({ status: 'added', unreadable: true, hunks: [] });
  });

  it('W32: more untracked files than are shown are counted', async () => {
    for (let index = 0; index < 203; index += 1) await put(`new/${index}`, '1\n');
    const { files, untrackedOmitted, tooLarge } = await lab.diff(path);
    expect([files.length, untrackedOmitted, tooLarge]).toEqual([200, 3, false]);
  });

  it('W32: large files are marked one by one, and all the others keep their lines', async () => {
    const megabyte = numbers(1, 150_000);
    for (const name of ['a', 'b', 'c', 'd', 'huge']) await put(name, '');
    await commitAll();
    for (const name of ['a', 'b', 'c']) await put(name, megabyte);
    await put('huge', megabyte + megabyte);
    await put('d', '1\n');
    await put('untracked', 'x'.repeat(diffLimits.fileBytes + 1));
    await put('z', '1\n');
    const { files, tooLarge } = await lab.diff(path);
    expect(files.map((file) => [file.path, file.status, file.additions, file.hunks.length])).toEqual([
      ['a', 'too_large', 150_000, 0],
      ['b', 'too_large', 150_000, 0],
      ['c', 'too_large', 150_000, 0],
      ['d', 'modified', 1, 1],
      ['huge', 'too_large', 300_000, 0],
      ['untracked', 'too_large', 0, 0],
      ['z', 'added', 1, 1],
    ]);
    expect(tooLarge).toBe(false);
    const half = numbers(1, 90_000);
    for (const name of ['a', 'b', 'c', 'd']) await put(name, half);
    const over = await lab.diff(path);
    expect(over.files.map((file) => [file.path, file.status]).slice(0, 4)).toEqual([
      ['a', 'modified'],
      ['b', 'modified'],
      ['c', 'modified'],
      ['d', 'too_large'],
    ]);
    expect([over.tooLarge, over.files.at(-1)?.status]).toEqual([true, 'added']);
  });

  it('an unborn branch is compared with nothing, also beside a file called HEAD', async () => {
    await git(path, 'checkout', '-q', '--orphan', 'new');
    await put('HEAD', '1\n');
    await git(path, 'add', 'HEAD');
    await put('--output=x', '2\n');
    const answer = await lab.diff(path);
    expect(answer.refs).toEqual({ baseRef: emptyTree, targetRef: null, label: 'uncommitted' });
    expect(answer.files.map((file) => [file.path, file.status])).toEqual([
      ['--output=x', 'added'],
      ['HEAD', 'added'],
    ]);
    const base = await lab.diff(path, { mode: 'base', base: 'main' });
    expect(base).toMatchObject({ refs: { targetRef: null, label: 'base:main' }, files: [] });
    expect(
      await refusal({ mode: 'task' }, { origin: { baseOid: await oidOf('main'), baseName: null } }),
    ).toBe('task_base_missing no-common-ancestor');
  });

  it('a HEAD that leads nowhere is no unborn branch', async () => {
    await writeFile(join(path, '.git/refs/heads/broken'), `${'1'.repeat(40)}\n`);
    await git(path, 'symbolic-ref', 'HEAD', 'refs/heads/broken');
    expect(await refusal({})).toBe('git_failed broken-head');
  });

  it('submodules are compared by their commits alone', async () => {
    const inner = join(lab.lab.place, `inner-${count}`);
    await makeRepository(inner);
    await git(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub');
    await commitAll();
    await writeFile(join(path, 'sub/dirty'), '1\n');
    expect((await lab.diff(path)).files).toEqual([]);
    await git(join(path, 'sub'), 'commit', '-q', '--allow-empty', '-m', 'more');
    const { files } = await lab.diff(path);
    expect(onlyFile({ files })).toMatchObject({ path: 'sub', status: 'modified', newMode: '160000' });
    expect(linesOf(onlyFile({ files }))).toEqual([
      expect.stringMatching(/^-Subproject commit [0-9a-f]{40}$/),
      expect.stringMatching(/^\+Subproject commit [0-9a-f]{40}$/),
    ]);
  });

  it('a conflict is shown as the file is', async () => {
    await put('f', 'base\n');
    await commitAll();
    await git(path, 'checkout', '-q', '-b', 'other');
    await put('f', 'other\n');
    await commitAll();
    await git(path, 'checkout', '-q', 'main');
    await put('f', 'main\n');
    await commitAll();
    await git(path, 'merge', 'other').catch(() => {});
    expect(linesOf(onlyFile(await lab.diff(path)))).toEqual([
      '+<<<<<<< HEAD',
      ' main',
      '+=======',
      '+other',
      '+>>>>>>> other',
    ]);
  });

  it('R20: names are taken letter by letter, whatever they look like', async () => {
    const names = ['--output=x', ':(top)y', '*', 'x b/y', 'a\nb', 'q"\t\\', '한글 a.md', ' '];
    for (const name of names) await put(name, '1\n');
    const bytes = Buffer.from('caf\xe9', 'latin1');
    const undecodable = Buffer.concat([Buffer.from(`${path}/`), bytes]);
    await writeFile(undecodable, '1\n');
    await commitAll();
    for (const name of names) await put(name, '2\n');
    await writeFile(undecodable, '2\n');
    const { files } = await lab.diff(path);
    const caf = onlyFile({ files: files.filter((file) => file.undecodable) });
    expect(caf).toMatchObject({ path: 'caf\ufffd', pathBase64: bytes.toString('base64'), additions: 1 });
    expect(files.map((file) => file.path).sort()).toEqual([...names, caf.path].sort());
    for (const name of names) {
      expect(onlyFile(await lab.diff(path, { path: name }))).toMatchObject({ path: name, additions: 1 });
    }
    expect(await applied(path, 'HEAD', files)).toBe(await treeOfFiles(path));
  });
});

describe('W15, W18, W30: configuration', () => {
  const tastes = [
    'diff.mnemonicPrefix=true',
    'diff.noprefix=true',
    'diff.context=0',
    'diff.interHunkContext=9',
    'diff.algorithm=patience',
    'diff.renames=false',
    'diff.renameLimit=1',
    'diff.orderFile=.git/order',
    'diff.relative=true',
    'diff.submodule=log',
    'diff.suppressBlankEmpty=true',
    'diff.wordRegex=.',
    'diff.colorMoved=zebra',
    'diff.ignoreSubmodules=all',
    'diff.statGraphWidth=3',
    'core.quotePath=true',
    'core.abbrev=5',
    'color.ui=always',
    'status.showUntrackedFiles=no',
  ];

  it('no taste and no program of a repository changes a diff', async () => {
    await put('b/changed', numbers(1, 20));
    await put('moved', numbers(100, 140));
    await put('é', '1\n\n2\n');
    await commitAll();
    await put('b/changed', numbers(1, 20).replace('4\n', '').replace('15\n', 'x\n'));
    await rename(join(path, 'moved'), join(path, 'z'));
    await git(path, 'add', '-A');
    await put('é', '1\n\n3\n');
    await put('new', '1\n');
    const before = await lab.diff(path);
    expect(before.files).toHaveLength(4);
    const marker = join(lab.lab.place, `marker-${count}`);
    const program = join(lab.lab.place, `program-${count}`);
    await writeFile(program, `#!/bin/sh\n: > '${marker}'\necho run\n`, { mode: 0o755 });
    await put('.git/order', '*z\n');
    for (const taste of tastes) await git(path, 'config', ...(taste.split('=') as [string, string]));
    await git(path, 'config', 'diff.external', program);
    await git(path, 'config', 'diff.q.textconv', program);
    await git(path, 'config', 'diff.q.command', program);
    await git(path, 'config', 'core.fsmonitor', program);
    await setAttributes(path, 'changed diff=q\n');
    expect(await lab.diff(path)).toEqual(before);
    await expect(copyFile(marker, `${marker}-1`)).rejects.toThrow('ENOENT');
    // By itself Git runs them.
    await git(path, 'diff', 'HEAD');
    await copyFile(marker, `${marker}-2`);
  });

  it('W18: a filter that the repository names is refused with its key, and not run', async () => {
    await put('k', '1\n');
    await commitAll();
    await git(path, 'config', 'filter.z.clean', '/bin/false');
    await put('k', '2\n');
    const refused = lab.diff(path);
    await expect(refused).rejects.toMatchObject({
      code: 'untrusted_repository_config',
      details: { use: 'work-tree', keys: ['filter.z.clean'] },
    });
    // Stored trees pass through no filter.
    expect((await lab.diff(path, { mode: 'base', base: 'main' })).files).toEqual([]);
  });

  it('W15: a blob that is not there is a failure, and nothing is fetched for it', async () => {
    await put('k', 'one\n');
    await commitAll();
    const blob = await oidOf('HEAD:k');
    await put('k', 'two\n');
    const second = await commitAll();
    const marker = join(lab.lab.place, `fetched-${count}`);
    await writeFile(join(lab.lab.place, `pack-${count}`), `#!/bin/sh\n: > '${marker}'\n`, { mode: 0o755 });
    await git(path, 'config', 'extensions.partialClone', 'far');
    await git(path, 'config', 'core.repositoryFormatVersion', '1');
    await git(path, 'config', 'remote.far.url', `file://${path}`);
    await git(path, 'config', 'remote.far.promisor', 'true');
    await git(path, 'config', 'remote.far.uploadpack', join(lab.lab.place, `pack-${count}`));
    await rm(join(path, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    await expect(lab.commit(path, second)).rejects.toMatchObject({ code: 'git_failed' });
    await expect(copyFile(marker, `${marker}-2`)).rejects.toThrow('ENOENT');
  });
});

describe('commits', () => {
  it('a root is compared with nothing, a merge with its first parent', async () => {
    const root = await oidOf('HEAD');
    expect(await lab.commit(path, root)).toEqual({
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
    const answer = await lab.commit(path, merge.toUpperCase());
    expect(answer).toMatchObject({ sha: merge, isMerge: true, isRoot: false });
    expect(onlyFile(answer)).toMatchObject({ path: 'theirs', status: 'added' });
    const base = await lab.diff(path, { mode: 'base', base: other });
    expect(base.refs).toEqual({ baseRef: other, targetRef: merge, label: `base:${other}` });
    expect(onlyFile(base).path).toBe('ours');
    await put('ours', '2\n');
    await put('new', '1\n');
    const task = await lab.diff(path, { mode: 'task' }, { origin: { baseOid: ours, baseName: 'main' } });
    expect(task.refs).toEqual({ baseRef: ours, targetRef: null, label: 'task:main' });
    expect(task.files.map((file) => file.path)).toEqual(['new', 'ours', 'theirs']);
    const session = await lab.diff(path, { mode: 'session' });
    expect(session).toEqual({ ...(await lab.diff(path)), mode: 'session' });
  });

  it('R20: only the full name of a commit is one', async () => {
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
    const first = await oidOf('HEAD');
    await put('f', '1\n');
    await commitAll();
    await git(path, 'update-ref', 'refs/remotes/origin/main', first);
    for (const [base, label] of [
      ['origin/main', 'origin/main'],
      ['refs/remotes/origin/main', 'origin/main'],
      ['main', 'main'],
    ]) {
      const answer = await lab.diff(path, { mode: 'base', base });
      expect([answer.refs.baseRef, answer.refs.label]).toEqual([first, `base:${label}`]);
    }
    expect((await lab.diff(path, { mode: 'base', base: 'refs/heads/main' })).files).toEqual([]);
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
    const first = await oidOf('HEAD');
    await git(path, 'checkout', '-q', '-b', 'work');
    await put('f', '1\n');
    const second = await commitAll();
    expect((await lab.diff(path, { mode: 'base' })).refs).toEqual({
      baseRef: first,
      targetRef: second,
      label: 'base:main',
    });
    const origin = { baseOid: first, baseName: 'work' };
    expect((await lab.diff(path, { mode: 'base' }, { origin })).refs.label).toBe('base:work');
    await git(path, 'branch', '-q', '-D', 'main');
    await git(path, 'checkout', '-q', '--detach');
    const answer = await lab.diff(path, { mode: 'base' });
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
    await put('f', 'a b\nc\n');
    await put('g', 'x\n');
    await commitAll();
    await put('f', 'a  b\nd\n');
    await put('g', '\tx\n');
    expect(linesOf(onlyFile(await lab.diff(path, { ignoreWhitespace: true })))).toEqual([
      ' a  b',
      '-c',
      '+d',
    ]);
    const third = await commitAll();
    expect(onlyFile(await lab.commit(path, third, { ignoreWhitespace: true })).path).toBe('f');
  });

  it('a repository of SHA-256 names is compared like any other', async () => {
    const other = join(lab.lab.place, `sha256-${count}`);
    execFileSync('git', ['init', '-q', '--object-format=sha256', '-b', 'main', other]);
    await lab.lab.register(`sha256-${count}`);
    await writeFile(join(other, 'f'), '1\n');
    const unborn = await lab.diff(other);
    expect([unborn.refs.baseRef.length, onlyFile(unborn).untracked]).toEqual([64, true]);
    await git(other, 'add', '-A');
    await git(other, 'commit', '-q', '-m', 'first');
    const head = (await git(other, 'rev-parse', 'HEAD')).trimEnd();
    expect(onlyFile(await lab.commit(other, head))).toMatchObject({ path: 'f', additions: 1 });
  });
});

describe('W32: memory', () => {
  it('a diff of 140 MB is read without being kept', async () => {
    const line = `${'x'.repeat(99)}\n`;
    for (const name of ['a', 'b']) await put(name, line.repeat(700_000));
    const big = await commitAll();
    const started = process.memoryUsage().rss;
    let peak = started;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    const answer = await lab.commit(path, big);
    clearInterval(watch);
    expect(answer.files.map((file) => [file.status, file.additions])).toEqual([
      ['too_large', 700_000],
      ['too_large', 700_000],
    ]);
    expect(peak - started).toBeLessThan(90 * 1024 * 1024);
  }, 60_000);
});
