import { execFileSync } from 'node:child_process';
import { chmod, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diffLimits } from '../../src/git/diff-file.ts';
import { applied, treeOfChanges } from '../support/apply-diff.ts';
import { git, makeRepository } from '../support/git.ts';
import { emptyTree, linesOf, numbers, onlyFile, useDiffLab } from './diff-lab.ts';

const here = useDiffLab();
const { put, commitAll, oidOf, refusal } = here;

describe('the files as they are', () => {
  it('W28, W29: each kind of change is told, and nothing else', async () => {
    const { path } = here;
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
    const answer = await here.lab.diff(path);
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
    const now = await treeOfChanges(path);
    expect(await applied(path, 'HEAD', answer.files, now)).toBe(now);
  });

  it('W32: untracked files are additions as they lie there, also below a path', async () => {
    const { path } = here;
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
    const { files } = await here.lab.diff(path);
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
    const now = await treeOfChanges(path);
    expect(await applied(path, 'HEAD', files, now)).toBe(now);
    const below = await here.lab.diff(path, { path: 'dir' });
    expect(below.files.map((file) => file.path)).toEqual(files.slice(0, 5).map((file) => file.path));
  });

  it('W31: an untracked repository is named as one and is no file', async () => {
    const { path } = here;
    await makeRepository(join(path, 'sub dir/nest'));
    await put('sub dir/nest/file', '1\n');
    await put('file', '1\n');
    const { files, nestedRepositories } = await here.lab.diff(path);
    expect([files.map((file) => file.path), nestedRepositories]).toEqual([['file'], ['sub dir/nest']]);
  });

  it('R12: what looks like a Git directory is listed and not read', async () => {
    const { path } = here;
    await git(path, 'init', '-q', '--bare', 'bare');
    const { files } = await here.lab.diff(path);
    const head = onlyFile({ files: files.filter((file) => file.path === 'bare/HEAD') });
    expect(head).toMatchObject({ status: 'added', unreadable: true, hunks: [] });
  });

  it('W32: more untracked files than are shown are counted', async () => {
    const { path } = here;
    for (let index = 0; index < 203; index += 1) await put(`new/${index}`, '1\n');
    const { files, untrackedOmitted, tooLarge } = await here.lab.diff(path);
    expect([files.length, untrackedOmitted, tooLarge]).toEqual([200, 3, false]);
  });

  it('W32: large files are marked one by one, and all the others keep their lines', async () => {
    const { path } = here;
    const megabyte = numbers(1, 150_000);
    for (const name of ['a', 'b', 'c', 'd', 'huge']) await put(name, '');
    await commitAll();
    for (const name of ['a', 'b', 'c']) await put(name, megabyte);
    await put('huge', megabyte + megabyte);
    await put('d', '1\n');
    await put('untracked', 'x'.repeat(diffLimits.fileBytes + 1));
    await put('z', '1\n');
    const { files, tooLarge } = await here.lab.diff(path);
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
    const over = await here.lab.diff(path);
    expect(over.files.map((file) => [file.path, file.status]).slice(0, 4)).toEqual([
      ['a', 'modified'],
      ['b', 'modified'],
      ['c', 'modified'],
      ['d', 'too_large'],
    ]);
    expect([over.tooLarge, over.files.at(-1)?.status]).toEqual([true, 'added']);
  });

  it('an unborn branch is compared with nothing, also beside a file called HEAD', async () => {
    const { path } = here;
    await git(path, 'checkout', '-q', '--orphan', 'new');
    await put('HEAD', '1\n');
    await git(path, 'add', 'HEAD');
    await put('--output=x', '2\n');
    const answer = await here.lab.diff(path);
    expect(answer.refs).toEqual({ baseRef: emptyTree, targetRef: null, label: 'uncommitted' });
    expect(answer.files.map((file) => [file.path, file.status])).toEqual([
      ['--output=x', 'added'],
      ['HEAD', 'added'],
    ]);
    const base = await here.lab.diff(path, { mode: 'base', base: 'main' });
    expect(base).toMatchObject({ refs: { targetRef: null, label: 'base:main' }, files: [] });
    expect(
      await refusal({ mode: 'task' }, { origin: { baseOid: await oidOf('main'), baseName: null } }),
    ).toBe('task_base_missing no-common-ancestor');
  });

  it('a HEAD that leads nowhere is no unborn branch', async () => {
    const { path } = here;
    await writeFile(join(path, '.git/refs/heads/broken'), `${'1'.repeat(40)}\n`);
    await git(path, 'symbolic-ref', 'HEAD', 'refs/heads/broken');
    expect(await refusal({})).toBe('git_failed broken-head');
  });

  it('submodules are compared by their commits alone', async () => {
    const { path } = here;
    const inner = `${path}-inner`;
    await makeRepository(inner);
    await git(path, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub');
    await commitAll();
    await writeFile(join(path, 'sub/dirty'), '1\n');
    expect((await here.lab.diff(path)).files).toEqual([]);
    await git(join(path, 'sub'), 'commit', '-q', '--allow-empty', '-m', 'more');
    const { files } = await here.lab.diff(path);
    expect(onlyFile({ files })).toMatchObject({ path: 'sub', status: 'modified', newMode: '160000' });
    expect(linesOf(onlyFile({ files }))).toEqual([
      expect.stringMatching(/^-Subproject commit [0-9a-f]{40}$/),
      expect.stringMatching(/^\+Subproject commit [0-9a-f]{40}$/),
    ]);
  });

  it('a conflict is shown as the file is', async () => {
    const { path } = here;
    await put('f', 'base\n');
    await commitAll();
    await git(path, 'checkout', '-q', '-b', 'other');
    await put('f', 'other\n');
    await commitAll();
    await git(path, 'checkout', '-q', 'main');
    await put('f', 'main\n');
    await commitAll();
    await git(path, 'merge', 'other').catch(() => {});
    expect(linesOf(onlyFile(await here.lab.diff(path)))).toEqual([
      '+<<<<<<< HEAD',
      ' main',
      '+=======',
      '+other',
      '+>>>>>>> other',
    ]);
  });

  it('R20: names are taken letter by letter, whatever they look like', async () => {
    const { path } = here;
    const names = ['--output=x', ':(top)y', '*', 'x b/y', 'a\nb', 'q"\t\\', '한글 a.md', ' '];
    for (const name of names) await put(name, '1\n');
    const bytes = Buffer.from('caf\xe9', 'latin1');
    const undecodable = Buffer.concat([Buffer.from(`${path}/`), bytes]);
    await writeFile(undecodable, '1\n');
    await commitAll();
    for (const name of names) await put(name, '2\n');
    await writeFile(undecodable, '2\n');
    const { files } = await here.lab.diff(path);
    const caf = onlyFile({ files: files.filter((file) => file.undecodable) });
    expect(caf).toMatchObject({ path: 'caf\ufffd', pathBase64: bytes.toString('base64'), additions: 1 });
    expect(files.map((file) => file.path).sort()).toEqual([...names, caf.path].sort());
    for (const name of names) {
      expect(onlyFile(await here.lab.diff(path, { path: name }))).toMatchObject({ path: name, additions: 1 });
    }
    const now = await treeOfChanges(path);
    expect(await applied(path, 'HEAD', files, now)).toBe(now);
  });
});
