import { chmod, link, lstat, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { versionOf } from '../../src/files/content-version.ts';
import type { BaseVersion } from '../../src/files/workspace-files.ts';
import {
  beneath,
  openWorkspace,
  outcomeOf,
  refusalOf,
  text,
  type Workspace,
} from '../support/files-workspace.ts';

const tree = [
  'f: plain',
  'sub/g: nested',
  'empty/',
  'fifo |',
  'in -> f',
  'dir-in -> sub',
  'absolute-in -> $ROOT/f',
  'out -> $OUT/secret',
  'dir-out -> $OUT',
  'dangling-in -> nothing',
  'dangling-out -> $OUT/nothing',
  'loop -> loop',
  'git-link -> .git/config',
  'git-dir-link -> .git',
  'absolute-git-link -> $ROOT/.git/config',
  'chain -> git-link',
  '.git/config: [core]',
];
const outside = ['secret: SECRET'];
const current = { sha1: versionOf(text('plain')).sha1 };

const operations = {
  replace: ({ files, capability }: Workspace, path: string) =>
    files.replace(capability, beneath(path), text('new'), current),
  create: ({ files, capability }: Workspace, path: string) =>
    files.create(capability, beneath(path), text('new')),
  remove: ({ files, capability }: Workspace, path: string) =>
    files.remove(capability, beneath(path), current),
  'rename from': ({ files, capability }: Workspace, path: string) =>
    files.rename(capability, beneath(path), beneath('moved')),
  'rename to': ({ files, capability }: Workspace, path: string) =>
    files.rename(capability, beneath('sub/g'), beneath(path)),
  mkdir: ({ files, capability }: Workspace, path: string) => files.makeDirectory(capability, beneath(path)),
  rmdir: ({ files, capability }: Workspace, path: string) => files.removeDirectory(capability, beneath(path)),
} as const;
type Operation = keyof typeof operations;

const changesContent = ['replace', 'create', 'remove'] as const;
const takesName = ['create', 'rename to', 'mkdir'] as const;
const all = Object.keys(operations) as readonly Operation[];

type Row = readonly [what: string, path: string, operations: readonly Operation[], code: string];

const refused: readonly Row[] = [
  [
    'a link inside (write-link-inside)',
    'in',
    ['replace', 'create', 'remove', 'rename to', 'mkdir', 'rmdir'],
    'symlink_not_writable',
  ],
  ['an absolute link inside', 'absolute-in', changesContent, 'symlink_not_writable'],
  ['a path through a directory link inside', 'dir-in/g', all, 'symlink_not_writable'],
  ['a new name behind a directory link inside', 'dir-in/new', all, 'symlink_not_writable'],
  ['a dangling link inside', 'dangling-in', changesContent, 'symlink_not_writable'],
  ['a loop', 'loop', changesContent, 'symlink_not_writable'],
  [
    'a link outside (write-through-link-out)',
    'out',
    [...changesContent, 'rename to', 'mkdir', 'rmdir'],
    'path_outside_workspace',
  ],
  [
    'a path through a directory link outside (write-rename-out)',
    'dir-out/secret',
    all,
    'path_outside_workspace',
  ],
  ['a new name behind a directory link outside', 'dir-out/new', all, 'path_outside_workspace'],
  [
    'a dangling link outside (write-dangling-leaf)',
    'dangling-out',
    [...changesContent, 'rename to'],
    'path_outside_workspace',
  ],
  ['a link into .git', 'git-link', changesContent, 'administrative_path'],
  ['an absolute link into .git', 'absolute-git-link', changesContent, 'administrative_path'],
  ['a link to a link into .git', 'chain', changesContent, 'administrative_path'],
  ['a path through a link to .git', 'git-dir-link/config', all, 'administrative_path'],
  ['a new name behind a link to .git', 'git-dir-link/new', all, 'administrative_path'],
  ['.git/config (write-dotgit-config)', '.git/config', all, 'administrative_path'],
  ['.git itself (write-dotgit-pointer)', '.git', all, 'administrative_path'],
  ['a FIFO', 'fifo', ['replace', 'remove'], 'not_regular_file'],
  ['a directory as a file', 'sub', ['replace', 'remove'], 'not_regular_file'],
  ['nothing', 'nothing', ['replace', 'remove', 'rename from', 'rmdir'], 'not_found'],
  ['a missing parent', 'no/new', all, 'not_found'],
  ['a parent that is a file', 'f/new', all, 'not_found'],
  ['a name that is taken', 'f', takesName, 'already_exists'],
  ['a directory name that is taken', 'sub', takesName, 'already_exists'],
  ['a full directory', 'sub', ['rmdir'], 'directory_not_empty'],
  ['a file as a directory', 'f', ['rmdir'], 'not_directory'],
];

const cases = refused.flatMap(([what, path, which, code]) =>
  which.map((operation) => [operation, what, path, code] as const),
);

describe('what cannot be changed', () => {
  it.each(cases)('R10, R11, R12: %s: %s', async (operation, _, path, code) => {
    const workspace = await openWorkspace({ tree, outside });
    const before = await workspace.tree();
    expect(await outcomeOf(operations[operation](workspace, path))).toBe(code);
    expect(await workspace.tree()).toEqual(before);
    expect(await readFile(join(workspace.outside, 'secret'), 'utf8')).toBe('SECRET');
  });

  it('write-rename-over: a rename never replaces, not even by itself', async () => {
    const { files, capability, tree: now } = await openWorkspace({ tree: ['a: A', 'b: B'] });
    expect(await outcomeOf(files.rename(capability, beneath('a'), beneath('b')))).toBe('already_exists');
    expect(await outcomeOf(files.rename(capability, beneath('a'), beneath('a')))).toBe('already_exists');
    expect(await now()).toEqual(['a: A', 'b: B']);
  });

  it('a directory does not move into itself', async () => {
    const { files, capability, tree: now } = await openWorkspace({ tree: ['d/e/f: x'] });
    expect(await outcomeOf(files.rename(capability, beneath('d'), beneath('d/e/g')))).toBe('invalid_path');
    expect(await now()).toEqual(['d/', 'd/e/', 'd/e/f: x']);
  });
});

describe('what can be changed', () => {
  it.each([
    ['create', 'new', ['new: new']],
    ['create', 'sub/new', ['sub/new: new']],
    ['mkdir', 'sub/new', ['sub/new/']],
    ['rename to', 'sub/h', ['sub/h: nested']],
    ['rename to', 'h', ['h: nested']],
    ['replace', 'f', ['f: new']],
  ] as const)('R10: %s %s', async (operation, path, expected) => {
    const workspace = await openWorkspace({ tree, outside });
    expect(await outcomeOf(operations[operation](workspace, path))).toBe('ok');
    expect(await workspace.tree()).toEqual(expect.arrayContaining([...expected]));
  });

  it.each([
    ['remove', 'f', 'f: plain'],
    ['rmdir', 'empty', 'empty/'],
  ] as const)('R10: %s %s', async (operation, path, gone) => {
    const workspace = await openWorkspace({ tree, outside });
    expect(await outcomeOf(operations[operation](workspace, path))).toBe('ok');
    expect(await workspace.tree()).not.toContain(gone);
  });

  it('R11: a link moves as itself, wherever it leads', async () => {
    const workspace = await openWorkspace({ tree, outside });
    for (const link of ['in', 'out', 'dangling-out', 'loop', 'dir-out']) {
      await workspace.files.rename(workspace.capability, beneath(link), beneath(`empty/${link}`));
    }
    expect(await workspace.tree()).toEqual(
      expect.arrayContaining([
        'empty/in -> f',
        'empty/out -> $OUT/secret',
        'empty/dangling-out -> $OUT/nothing',
      ]),
    );
    expect(await readFile(join(workspace.outside, 'secret'), 'utf8')).toBe('SECRET');
  });

  it('a whole directory moves', async () => {
    const {
      files,
      capability,
      tree: now,
    } = await openWorkspace({ tree: ['d/e/f: x', 'd/l -> e', 'other/'] });
    await files.rename(capability, beneath('d'), beneath('other/d'));
    expect(await now()).toEqual(['other/', 'other/d/', 'other/d/e/', 'other/d/e/f: x', 'other/d/l -> e']);
  });

  it('new files and directories have the modes that the umask leaves', async () => {
    const { files, capability, root } = await openWorkspace();
    const before = process.umask();
    await files.create(capability, beneath('f'), text('x'));
    await files.makeDirectory(capability, beneath('d'));
    expect((await stat(join(root, 'f'))).mode & 0o7777).toBe(0o666 & ~before);
    expect((await stat(join(root, 'd'))).mode & 0o7777).toBe(0o777 & ~before);
  });

  it.each([0o644, 0o755, 0o600, 0o664, 0o400])('write-mode-preserved: mode %o stays', async (mode) => {
    const { files, capability, root } = await openWorkspace({ tree: ['f: plain'] });
    await chmod(join(root, 'f'), mode);
    await files.replace(capability, beneath('f'), text('new'), current);
    expect((await stat(join(root, 'f'))).mode & 0o7777).toBe(mode);
  });

  it('W11: set-id bits are never given to new content', async () => {
    const { files, capability, root } = await openWorkspace({ tree: ['f: plain'] });
    await chmod(join(root, 'f'), 0o6755);
    await files.replace(capability, beneath('f'), text('new'), current);
    expect((await stat(join(root, 'f'))).mode & 0o7777).toBe(0o755);
  });

  it('write-hardlinked: a hard link is broken, never written through to its other name', async () => {
    const { files, capability, outside: out, root } = await openWorkspace({ outside: ['shared: plain'] });
    await link(join(out, 'shared'), join(root, 'f'));
    await files.replace(capability, beneath('f'), text('new'), current);
    expect(await readFile(join(out, 'shared'), 'utf8')).toBe('plain');
    expect(await readFile(join(root, 'f'), 'utf8')).toBe('new');
    expect((await lstat(join(out, 'shared'))).nlink).toBe(1);
  });

  it('the largest content that may be written can be read again, one byte more is refused', async () => {
    const { files, capability, tree: now } = await openWorkspace({ files: { contentLimit: 10 } });
    await files.create(capability, beneath('f'), text('0123456789'));
    const base = { etag: (await files.read(capability, beneath('f'))).etag };
    const tooLarge = text('0123456789+');
    expect(await outcomeOf(files.create(capability, beneath('g'), tooLarge))).toBe('file_too_large');
    expect(await outcomeOf(files.replace(capability, beneath('f'), tooLarge, base))).toBe('file_too_large');
    expect(await now()).toEqual(['f: 0123456789']);
  });
});

describe('the version a change is based on', () => {
  const v1 = versionOf(text('plain'));
  const v2 = versionOf(text('new'));
  const bases: readonly (readonly [string, BaseVersion, string])[] = [
    ['the hash', { sha1: v1.sha1 }, 'ok'],
    ['the hash in upper case (W23)', { sha1: v1.sha1.toUpperCase() }, 'ok'],
    ['the tag', { etag: v1.etag }, 'ok'],
    ['both', v1, 'ok'],
    ['none', {}, 'precondition_required'],
    ['no hash', { sha1: 'nonsense' }, 'invalid_request'],
    ['a stale hash', { sha1: v2.sha1 }, 'conflict'],
    ['a stale tag', { etag: v2.etag }, 'precondition_failed'],
    ['a stale hash with a good tag', { sha1: v2.sha1, etag: v1.etag }, 'conflict'],
    ['a stale tag with a good hash', { sha1: v1.sha1, etag: v2.etag }, 'precondition_failed'],
  ];

  it.each(bases)('R13: replacing with %s', async (_, base, expected) => {
    const { files, capability, tree: now } = await openWorkspace({ tree: ['f: plain'] });
    const outcome = files.replace(capability, beneath('f'), text('new'), base);
    expect(await outcomeOf(outcome)).toBe(expected);
    expect(await now()).toEqual([expected === 'ok' ? 'f: new' : 'f: plain']);
    if (expected === 'ok') expect(await outcome).toEqual({ ...v2, kept: [] });
  });

  it.each(bases)('R13: removing with %s', async (_, base, expected) => {
    const { files, capability, tree: now } = await openWorkspace({ tree: ['f: plain'] });
    expect(await outcomeOf(files.remove(capability, beneath('f'), base))).toBe(expected);
    expect(await now()).toEqual(expected === 'ok' ? [] : ['f: plain']);
  });

  it.each([
    ['nothing', 'not_found'],
    ['.git/config', 'administrative_path'],
    ['out', 'path_outside_workspace'],
    ['in', 'symlink_not_writable'],
    ['sub', 'not_regular_file'],
  ])('R13: a bad path is told before a missing or malformed version: %s', async (path, code) => {
    const { files, capability } = await openWorkspace({ tree, outside });
    for (const base of [{}, { sha1: 'nonsense' }]) {
      expect(await outcomeOf(files.replace(capability, beneath(path), text('x'), base))).toBe(code);
      expect(await outcomeOf(files.remove(capability, beneath(path), base))).toBe(code);
    }
  });

  it('R13: a refusal tells what stands there now', async () => {
    const { files, capability } = await openWorkspace({ tree: ['f: plain'] });
    const details = { ...v1, kept: [] };
    const replace = (base: BaseVersion) => files.replace(capability, beneath('f'), text('x'), base);
    expect((await refusalOf(replace({ sha1: v2.sha1 }))).details).toEqual(details);
    expect((await refusalOf(replace({ etag: v2.etag }))).details).toEqual(details);
    expect((await refusalOf(files.remove(capability, beneath('f'), { sha1: v2.sha1 }))).details).toEqual(
      details,
    );
  });

  it('write-same-size-same-mtime, write-mtime-tolerance: only content decides', async () => {
    const { files, capability, root } = await openWorkspace({ tree: ['f: plain'] });
    await writeFile(join(root, 'f'), 'nialp');
    expect(await outcomeOf(files.replace(capability, beneath('f'), text('x'), { etag: v1.etag }))).toBe(
      'precondition_failed',
    );
    await writeFile(join(root, 'f'), 'plain');
    expect(await outcomeOf(files.replace(capability, beneath('f'), text('x'), { etag: v1.etag }))).toBe('ok');
  });

  it('write-force-needs-version: the version that a refusal told is good only while it stands', async () => {
    const { files, capability, root } = await openWorkspace({ tree: ['f: plain'] });
    await writeFile(join(root, 'f'), 'second');
    const refusal = await refusalOf(files.replace(capability, beneath('f'), text('x'), { etag: v1.etag }));
    await writeFile(join(root, 'f'), 'third');
    const retry = files.replace(capability, beneath('f'), text('x'), {
      etag: String(refusal.details['etag']),
    });
    expect((await refusalOf(retry)).details).toMatchObject(versionOf(text('third')));
    expect(await readFile(join(root, 'f'), 'utf8')).toBe('third');
  });

  it('R13: a file over the limit is refused, not compared', async () => {
    const { files, capability, root } = await openWorkspace({ files: { contentLimit: 4 } });
    await writeFile(join(root, 'f'), 'large');
    const refusal = await refusalOf(files.replace(capability, beneath('f'), text('x'), { sha1: v1.sha1 }));
    expect([refusal.code, refusal.details['size']]).toEqual(['file_too_large', 5]);
  });
});
