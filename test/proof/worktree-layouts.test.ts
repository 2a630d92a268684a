import { mkdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProverMode } from '../../src/proof/provers.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { mayMount, mountBind, unmount } from '../support/mounts.ts';
import { createWorktreeLab, linkedRoot, refused, type WorktreeLab } from '../support/worktree-lab.ts';

interface Layout {
  readonly name: string;
  /** Changes a fresh worktree. Answers with the selectors to ask and what each is granted; by default that of the worktree. */
  readonly make: (room: WorktreeLab) => Promise<unknown>;
  /** By default the worktree is a linked one. */
  readonly answers?: (room: WorktreeLab, mode: ProverMode) => Readonly<Record<string, string>>;
}

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

async function startRebase(tree: string): Promise<void> {
  for (const message of ['a', 'b']) await git(tree, 'commit', '-q', '--allow-empty', '-m', message);
  const rebase = git(
    tree,
    'rebase',
    '--quiet',
    '--keep-empty',
    '--force-rebase',
    '--exec',
    'false',
    'HEAD~1',
  );
  await expect(rebase).rejects.toThrow();
}

/** Replaces the main checkout by a clone that borrows its objects. */
async function borrowObjects({ lab, main, tree }: WorktreeLab): Promise<void> {
  await git(main, 'worktree', 'remove', '--force', tree);
  await rename(main, `${main} source`);
  await git('/', 'clone', '--quiet', '--reference', `${main} source`, '--', `${main} source`, main);
  await stat(join(main, '.git/objects/info/alternates'));
  await git(main, 'worktree', 'add', '-q', '-b', 'other', tree);
  await lab.register('main');
}

/** Replaces the main checkout by a partial clone (git-clone(1), `--filter`), whose remote is out of reach in the end. */
async function clonePartially({ lab, main, tree }: WorktreeLab): Promise<void> {
  await writeFile(join(main, 'file'), 'changed\n');
  await git(main, 'commit', '-q', '-a', '-m', 'third');
  await git(main, 'worktree', 'remove', '--force', tree);
  const remote = `${main} remote`;
  await git('/', 'clone', '-q', '--bare', '--', main, remote);
  await git(remote, 'config', 'uploadpack.allowFilter', 'true');
  await rename(main, `${main} source`);
  await git('/', 'clone', '-q', '--filter=blob:none', '--', `file://${remote}`, main);
  await git(main, 'worktree', 'add', '-q', '-b', 'other', tree);
  await rename(remote, `${remote} away`);
  const objects = await git(main, 'rev-list', '--objects', '--missing=print', '--all');
  // The content of the file before it was changed.
  expect(objects.match(/^\?.*$/gm)).toEqual(['?8e27be7d6154a1f68ea9160ef0e18691d20560dc']);
  await lab.register('main');
}

const layouts: readonly Layout[] = [
  { name: 'nothing special', make: async () => {} },
  {
    name: 'moved by Git',
    make: ({ main, tree }) => git(main, 'worktree', 'move', tree, `${tree} moved`),
    answers: ({ tree }) => ({ [`${tree} moved`]: linkedRoot, [tree]: refused }),
  },
  {
    name: 'moved by hand',
    make: ({ tree }) => rename(tree, `${tree} moved`),
    answers: ({ tree }) => ({ [`${tree} moved`]: refused, [tree]: refused }),
  },
  {
    name: 'moved by hand and repaired',
    make: async ({ main, tree }) => {
      await rename(tree, `${tree} moved`);
      await git(main, 'worktree', 'repair', `${tree} moved`);
    },
    answers: ({ tree }) => ({ [`${tree} moved`]: linkedRoot, [tree]: refused }),
  },
  {
    name: 'main checkout moved, repaired and registered there',
    make: async ({ lab, main }) => {
      await rename(main, `${main} moved`);
      await git(`${main} moved`, 'worktree', 'repair');
      await lab.register('main moved');
    },
  },
  {
    name: 'main checkout moved and repaired, but registered only where it was',
    make: async ({ main }) => {
      await rename(main, `${main} moved`);
      await git(`${main} moved`, 'worktree', 'repair');
    },
    answers: ({ tree }) => ({ [tree]: refused }),
  },
  { name: 'locked', make: ({ main, tree }) => git(main, 'worktree', 'lock', '--reason', 'usb', tree) },
  {
    name: 'locked, and its disk taken away',
    make: async ({ main, tree }) => {
      await git(main, 'worktree', 'lock', tree);
      await rename(tree, `${tree} away`);
    },
    answers: ({ tree }) => ({ [tree]: refused, [`${tree} away`]: refused }),
  },
  { name: 'after gc', make: ({ main }) => git(main, 'gc', '--quiet', '--prune=now') },
  { name: 'after gc started in it', make: ({ tree }) => git(tree, 'gc', '--quiet', '--prune=now') },
  { name: 'packed refs', make: ({ main }) => git(main, 'pack-refs', '--all') },
  { name: 'objects borrowed from another repository', make: borrowObjects },
  {
    name: 'a partial clone',
    make: clonePartially,
    answers: ({ main, tree }) => ({ [main]: 'workspace root', [tree]: linkedRoot }),
  },
  {
    name: 'a partial clone that has the extension, as older Gits wrote it',
    make: async (room) => {
      await clonePartially(room);
      await git(room.main, 'config', 'extensions.partialClone', 'origin');
    },
    // libgit2 does not know the extension.
    answers: ({ main, tree }, mode) =>
      mode === 'git' || mode === 'auto'
        ? { [main]: 'workspace root', [tree]: linkedRoot }
        : { [main]: unsupported('format-needs-git'), [tree]: refused },
  },
  {
    name: 'a sparse checkout, which turns worktreeConfig on',
    make: async ({ main, tree, administration }) => {
      await git(tree, 'sparse-checkout', 'set', 'a');
      expect(await readFile(join(administration, 'config.worktree'), 'utf8')).toContain('sparse');
      expect(await git(main, 'config', 'extensions.worktreeConfig')).toBe('true\n');
    },
  },
  {
    name: 'core.worktree in its own configuration, as tools set it',
    make: async ({ main, tree }) => {
      await git(main, 'config', 'extensions.worktreeConfig', 'true');
      await git(tree, 'config', '--worktree', 'core.worktree', tree);
    },
    answers: ({ tree }) => ({ [tree]: unsupported('core-worktree') }),
  },
  {
    name: 'core.bare in its own configuration',
    make: async ({ main, tree }) => {
      await git(main, 'config', 'extensions.worktreeConfig', 'true');
      await git(tree, 'config', '--worktree', 'core.bare', 'true');
    },
    answers: ({ tree }) => ({ [tree]: unsupported('core-bare') }),
  },
  {
    name: 'core.worktree in the configuration of the main checkout',
    make: ({ main }) => git(main, 'config', 'core.worktree', main),
    answers: ({ tree }) => ({ [tree]: refused }),
  },
  { name: 'an unborn branch', make: ({ tree }) => git(tree, 'symbolic-ref', 'HEAD', 'refs/heads/unborn') },
  { name: 'a detached HEAD', make: ({ tree }) => git(tree, 'checkout', '-q', '--detach') },
  {
    name: 'a rebase in progress',
    make: async ({ tree, administration }) => {
      await startRebase(tree);
      await stat(join(administration, 'rebase-merge'));
    },
  },
  { name: 'a bisection in progress', make: ({ tree }) => git(tree, 'bisect', 'start') },
  { name: 'changes that are not committed', make: ({ tree }) => writeFile(join(tree, 'file'), 'changed') },
  {
    name: 'in a directory of its own main checkout, under the name of its branch',
    make: ({ main, addWorktree }) => addWorktree('.agents/worktrees/feature/x', main),
    answers: ({ main }) => ({
      [join(main, '.agents/worktrees/feature/x')]: linkedRoot,
      [join(main, '.agents/worktrees/feature')]: refused,
      [join(main, '.agents/worktrees')]: refused,
      [join(main, '.agents')]: refused,
      [main]: 'workspace root',
    }),
  },
  {
    name: 'pools in pools',
    make: async ({ main, tree, addWorktree }) => {
      await addWorktree('.trees/a', main);
      await addWorktree('.trees/b', join(main, '.trees/a'));
      await addWorktree('c', tree);
    },
    answers: ({ main, tree }) => ({
      [join(main, '.trees/a')]: linkedRoot,
      [join(main, '.trees/a/.trees/b')]: linkedRoot,
      [join(main, '.trees/a/.trees')]: refused,
      [join(tree, 'c')]: linkedRoot,
      [tree]: linkedRoot,
    }),
  },
  {
    name: 'the worktree of an unregistered repository in the pool of a registered one',
    make: async ({ lab, main }) => {
      await makeRepository(join(lab.place, 'stranger'));
      await git(join(lab.place, 'stranger'), 'worktree', 'add', '-q', '--detach', join(main, '.trees/s'));
    },
    answers: ({ main, tree }) => ({ [join(main, '.trees/s')]: refused, [tree]: linkedRoot }),
  },
  {
    name: 'a repository in a worktree',
    make: ({ tree }) => makeRepository(join(tree, 'inner')),
    answers: ({ tree }) => ({ [join(tree, 'inner')]: refused, [tree]: linkedRoot }),
  },
  {
    name: 'two of one name',
    make: async ({ lab, addWorktree }) => {
      await addWorktree('tree', join(lab.place, 'one'));
      await addWorktree('tree', join(lab.place, 'two'));
    },
    answers: ({ lab, tree }) => ({
      [join(lab.place, 'one/tree')]: linkedRoot,
      [join(lab.place, 'two/tree')]: linkedRoot,
      [tree]: linkedRoot,
    }),
  },
  {
    name: 'a main checkout inside another repository',
    make: async ({ lab }) => {
      await makeRepository(join(lab.place, 'main/inner'));
      await git(join(lab.place, 'main/inner'), 'worktree', 'add', '-q', '--detach', join(lab.place, 'i'));
      await lab.register('main/inner');
    },
    answers: ({ lab, tree }) => ({ [join(lab.place, 'i')]: linkedRoot, [tree]: linkedRoot }),
  },
  {
    name: 'a file or directory below it',
    make: ({ tree }) => mkdir(join(tree, 'sub')),
    answers: ({ tree, administration }) => ({
      [join(tree, 'sub')]: refused,
      [join(tree, 'file')]: refused,
      [join(tree, '.git')]: refused,
      [administration]: refused,
    }),
  },
  {
    name: 'removed by Git',
    make: ({ main, tree }) => git(main, 'worktree', 'remove', tree),
    answers: ({ tree }) => ({ [tree]: refused }),
  },
  {
    name: 'forgotten by Git, its directory kept',
    make: async ({ main, tree }) => {
      await rename(tree, `${tree} away`);
      await git(main, 'worktree', 'prune');
      await rename(`${tree} away`, tree);
    },
    answers: ({ tree }) => ({ [tree]: refused }),
  },
];

describe.each<ProverMode>(['auto', 'nodegit', 'git', 'both'])('linked worktrees, prover %s', (mode) => {
  let provers: AuthorityLab;

  beforeAll(async () => {
    provers = await createLab({ mode });
  });

  afterAll(async () => {
    await provers[Symbol.asyncDispose]();
  });

  it.each(layouts)('R30, R31, R32, R33, R34: $name', async ({ make, answers }) => {
    await using room = await createWorktreeLab({ prover: provers.provers });
    expect(await room.grant()).toBe(linkedRoot);
    await make(room);
    const expected = answers?.(room, mode) ?? { [room.tree]: linkedRoot };
    const seen: Record<string, string> = {};
    for (const selector of Object.keys(expected)) seen[selector] = await room.grant(selector);
    expect(seen).toEqual(expected);
  });
});

describe('a linked worktree', () => {
  it('R33: holds its own Git dir, the common dir and the main checkout', async () => {
    await using room = await createWorktreeLab();
    await using capability = await room.lab.authority.authorizeRepository(room.tree);
    const { gitDirectory, commonDirectory, mainRoot } = capability.repository;
    const led = await Promise.all(
      [capability.held.directory, gitDirectory, commonDirectory].map((directory) =>
        realpath(directory.descriptorPath()),
      ),
    );
    expect(led).toEqual([room.tree, room.administration, join(room.main, '.git')]);
    expect([capability.root, mainRoot]).toEqual([room.tree, room.main]);
  });

  it.runIf(mayMount)('R31: on a disk that is taken away and brought back', async () => {
    await using room = await createWorktreeLab();
    const [disk, mounted] = [join(room.lab.place, 'disk'), join(room.lab.place, 'mounted')];
    await mkdir(disk);
    await mountBind(disk, mounted);
    const tree = await room.addWorktree('far', mounted);
    await git(room.main, 'worktree', 'lock', tree);
    expect(await room.grant(tree)).toBe(linkedRoot);
    await unmount(mounted);
    expect(await room.grant(tree)).toBe(refused);
    // The same directory under another name is not the listed one.
    expect(await room.grant(join(disk, 'far'))).toBe(refused);
    await mountBind(disk, mounted);
    expect(await room.grant(tree)).toBe(linkedRoot);
    await unmount(mounted);
  });
});
