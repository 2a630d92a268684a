import { link, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { versionOf } from '../../src/files/content-version.ts';
import { beneath, openWorkspace, outcomeOf, text, type Workspace } from '../support/files-workspace.ts';
import { mayMount, mountBind } from '../support/mounts.ts';

const gitDirectory = [
  'HEAD: ref: refs/heads/main',
  'objects/',
  'refs/',
  'config: [core]',
  'hooks/post-commit: x',
];

function at(directory: string): readonly string[] {
  return gitDirectory.map((line) => `${directory}/${line}`);
}

/** Every operation that could reach a file, with what it answers. */
async function attempts({ files, capability }: Workspace, path: string): Promise<readonly string[]> {
  const target = beneath(path);
  const base = { sha1: versionOf(text('[core]')).sha1 };
  return Promise.all(
    [
      files.read(capability, target),
      files.open(capability, target),
      files.replace(capability, target, text('x'), base),
      files.remove(capability, target, base),
      files.rename(capability, target, beneath('stolen')),
      files.rename(capability, beneath('f'), target),
      files.create(capability, target, text('x')),
      files.makeDirectory(capability, target),
      files.removeDirectory(capability, target),
      files.list(capability, target),
    ].map(outcomeOf),
  );
}

const closedNames = [
  '.git/config',
  '.git',
  '.GIT/config',
  '.Git/config',
  'deep/er/.git/config',
  '.git /config',
  '.git./config',
  '.git.../config',
  '.git::$INDEX_ALLOCATION/config',
  '.git:stream',
  'git~1/config',
  'GIT~1/config',
  '.g\u200cit/config',
  '\ufeff.git/config',
  '.gi\u206at/config',
  'a\\.git\\config',
  `.wa-${'0'.repeat(32)}.x.tmp`,
  `d/.wa-${'a'.repeat(32)}.x.tmp`,
  `.WA-${'A'.repeat(32)}.x.TMP`,
  `.wa-probe-${'0'.repeat(32)}/first`,
];

describe('administrative names', () => {
  it.each(closedNames)('R12: nothing reaches %j, whether it exists or not', async (path) => {
    const missing = await openWorkspace({ tree: ['f: x'] });
    expect(new Set(await attempts(missing, path))).toEqual(new Set(['administrative_path']));
    const existing = await openWorkspace({ tree: ['f: x', `${path}: [core]`] });
    expect(new Set(await attempts(existing, path))).toEqual(new Set(['administrative_path']));
    expect(await existing.tree()).toContain(`${path}: [core]`);
  });

  it.each([
    '.gitignore',
    '.gitattributes',
    '.github/x',
    'git',
    'git~10',
    'git~2',
    '.git2',
    'x.git',
    '.wa',
    '.wa-x.tmp',
    `.wa-${'0'.repeat(32)}.x.kept`,
  ])('R12: an ordinary name that merely looks alike stays usable: %j', async (path) => {
    const { files, capability } = await openWorkspace({ tree: [`${path}: [core]`] });
    expect(await outcomeOf(files.read(capability, beneath(path)))).toBe('ok');
    expect((await files.list(capability, null)).entries.length).toBe(1);
  });

  it('file-protected-read: a listing leaves administrative entries out', async () => {
    const names = closedNames.filter((name) => !name.includes('/'));
    const { files, capability } = await openWorkspace({ tree: ['f: x', '.gitignore', ...names] });
    const { entries, cursor } = await files.list(capability, null);
    expect(entries.map(({ name }) => name)).toEqual(['.gitignore', 'f']);
    expect(cursor).toBeNull();
  });
});

describe('directories with the shape of a Git directory', () => {
  const inside = ['config', 'hooks/post-commit', 'HEAD', 'objects', 'new', 'hooks/new'];

  it.each(inside)(
    'R12, W44: a separate Git directory under any name is closed: real.git/%s',
    async (path) => {
      const workspace = await openWorkspace({ tree: ['f: x', ...at('real.git')] });
      expect(new Set(await attempts(workspace, `real.git/${path}`))).toEqual(
        new Set(['administrative_path']),
      );
    },
  );

  it('R12: it is found again after it was examined as an ordinary directory', async () => {
    const workspace = await openWorkspace({ tree: ['d/HEAD: x', 'd/config: [core]', 'd/objects/'] });
    const { files, capability, root } = workspace;
    expect(await outcomeOf(files.read(capability, beneath('d/config')))).toBe('ok');
    await mkdir(join(root, 'd/refs'));
    expect(await outcomeOf(files.read(capability, beneath('d/config')))).toBe('administrative_path');
  });

  it('R12: it is closed through links too, and its own name is left out of listings', async () => {
    const workspace = await openWorkspace({
      tree: ['f: x', 'd/l -> ../real.git', 'c -> d/l/config', ...at('real.git')],
    });
    const { files, capability } = workspace;
    for (const path of ['d/l/config', 'c', 'd/l/hooks/post-commit']) {
      expect(await outcomeOf(files.read(capability, beneath(path)))).toBe('administrative_path');
      expect(await outcomeOf(files.replace(capability, beneath(path), text('x'), {}))).toBe(
        'administrative_path',
      );
    }
    expect(await outcomeOf(files.list(capability, beneath('d/l')))).toBe('administrative_path');
    expect((await files.list(capability, null)).entries.map(({ name }) => name)).toEqual(['c', 'd', 'f']);
  });

  it('R12: a root that has the shape itself is still a workspace', async () => {
    const { files, capability } = await openWorkspace({ tree: ['HEAD: x', 'objects/', 'refs/', 'f: x'] });
    expect(await outcomeOf(files.read(capability, beneath('f')))).toBe('ok');
    expect(await outcomeOf(files.create(capability, beneath('g'), text('x')))).toBe('ok');
  });

  it.each([
    [
      'the file',
      (w: Workspace) => w.files.create(w.capability, beneath('d/HEAD'), text('ref: x')),
      ['d/objects/', 'd/refs/'],
    ],
    [
      'a directory',
      (w: Workspace) => w.files.makeDirectory(w.capability, beneath('d/refs')),
      ['d/objects/', 'd/HEAD'],
    ],
    [
      'a moved one',
      (w: Workspace) => w.files.rename(w.capability, beneath('r'), beneath('d/refs')),
      ['d/objects/', 'd/HEAD', 'r/'],
    ],
  ])('R12: no change completes such a shape piece by piece: %s', async (_, complete, tree) => {
    const workspace = await openWorkspace({ tree });
    const before = await workspace.tree();
    expect(await outcomeOf(complete(workspace))).toBe('administrative_path');
    expect(await workspace.tree()).toEqual(before);
  });

  it.each([
    ['is one', at('d')],
    ['holds one', at('d/a/b/real.git')],
    ['holds a repository', ['d/a/.git/config: x']],
    ['holds the pointer of a worktree', ['d/a/.git: gitdir: /x']],
  ])('R12: a directory that %s is not moved or removed', async (_, tree) => {
    const workspace = await openWorkspace({ tree });
    const before = await workspace.tree();
    const { files, capability } = workspace;
    expect(await outcomeOf(files.rename(capability, beneath('d'), beneath('e')))).toBe('administrative_path');
    expect(await workspace.tree()).toEqual(before);
  });
});

describe('directories closed by identity', () => {
  it('R12: a protected directory is closed wherever it stands, and after it moved', async () => {
    const probe = await openWorkspace({ tree: ['state/token: secret', 'f: x'] });
    const { dev, ino } = await stat(join(probe.root, 'state'), { bigint: true });
    const workspace = await openWorkspace({
      root: probe.root,
      closedIdentities: [{ device: dev, inode: ino }],
    });
    expect(new Set(await attempts(workspace, 'state/token'))).toEqual(new Set(['administrative_path']));
    expect((await workspace.files.list(workspace.capability, null)).entries.map(({ name }) => name)).toEqual([
      'f',
    ]);
  });
});

describe('other ways to an administrative file', () => {
  it.skipIf(!mayMount)(
    'R12: a mount of a Git directory is closed, with mounts allowed and without',
    async () => {
      for (const [allowMounts, code] of [
        [false, 'path_outside_workspace'],
        [true, 'administrative_path'],
      ] as const) {
        const workspace = await openWorkspace({ tree: ['f: x', ...at('.git'), 'm/'], allowMounts });
        await mountBind(join(workspace.root, '.git'), join(workspace.root, 'm'));
        expect(await outcomeOf(workspace.files.read(workspace.capability, beneath('m/config')))).toBe(code);
      }
    },
  );

  it('R12: a hard link to a file of a Git directory is never written through', async () => {
    const { files, capability, root } = await openWorkspace({ tree: at('.git') });
    await link(join(root, '.git/config'), join(root, 'h'));
    await files.replace(capability, beneath('h'), text('[x]'), { sha1: versionOf(text('[core]')).sha1 });
    expect(await readFile(join(root, '.git/config'), 'utf8')).toBe('[core]');
  });

  it('W24: a NUL or other bytes do not hide a closed name', async () => {
    const { files, capability, root } = await openWorkspace();
    await mkdir(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff)]));
    await writeFile(Buffer.concat([Buffer.from(`${root}/`), Buffer.of(0xff), Buffer.from('/.git')]), 'x');
    const { entries } = await files.list(capability, null);
    expect(entries).toMatchObject([{ name: null, undecodable: true, type: 'directory' }]);
  });
});
