import { execFile } from 'node:child_process';
import { cp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { currencyOf } from '../support/answers.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { createWorktreeLab, linkedRoot, refused, type WorktreeLab } from '../support/worktree-lab.ts';

const run = promisify(execFile);
let provers: AuthorityLab;

beforeAll(async () => {
  provers = await createLab({ mode: 'nodegit' });
});

afterAll(async () => {
  await provers[Symbol.asyncDispose]();
});

function openRoom(): Promise<WorktreeLab> {
  return createWorktreeLab({ prover: provers.provers });
}

interface Event {
  readonly name: string;
  readonly happen: (room: WorktreeLab) => Promise<unknown>;
}

interface Change extends Event {
  /** What the capability in use says. */
  readonly current: string;
  /** What the selector is granted after it; by default nothing. */
  readonly granted?: string;
  readonly undo?: (room: WorktreeLab) => Promise<unknown>;
}

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

/** A copy with all times and modes in the place of the original, which is kept beside it. */
async function replaceByCopy(path: string): Promise<void> {
  await rename(path, `${path} kept`);
  await cp(`${path} kept`, path, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
}

async function putBack(path: string): Promise<void> {
  await rm(path, { recursive: true });
  await rename(`${path} kept`, path);
}

async function exchange(first: string, second: string): Promise<void> {
  await rename(first, `${first} kept`);
  await rename(second, first);
  await rename(`${first} kept`, second);
}

/** What people and tools do all day. */
const harmless: readonly Event[] = [
  { name: 'nothing', happen: async () => {} },
  { name: 'a commit', happen: ({ tree }) => git(tree, 'commit', '-q', '--allow-empty', '-m', 'x') },
  { name: 'a commit in the main checkout', happen: ({ main }) => git(main, 'commit', '-qm', 'x', '--amend') },
  { name: 'another branch', happen: ({ tree }) => git(tree, 'checkout', '-q', '-b', 'other') },
  { name: 'an unborn branch', happen: ({ tree }) => git(tree, 'checkout', '-q', '--orphan', 'new') },
  { name: 'a detached HEAD', happen: ({ tree }) => git(tree, 'checkout', '-q', '--detach') },
  { name: 'a renamed branch', happen: ({ main }) => git(main, 'branch', '-m', 'topic', 'renamed') },
  { name: 'another branch of the main checkout', happen: ({ main }) => git(main, 'checkout', '-qb', 'x') },
  { name: 'gc', happen: ({ main }) => git(main, 'gc', '--quiet', '--prune=now') },
  { name: 'packed refs', happen: ({ main }) => git(main, 'pack-refs', '--all') },
  { name: 'another setting', happen: ({ main }) => git(main, 'config', 'user.name', 'x') },
  { name: 'a sparse checkout', happen: ({ tree }) => git(tree, 'sparse-checkout', 'set', 'a') },
  { name: 'a lock', happen: ({ main, tree }) => git(main, 'worktree', 'lock', tree) },
  { name: 'a sibling', happen: ({ addWorktree }) => addWorktree('sibling') },
  {
    name: 'a sibling that comes and goes',
    happen: async ({ main, addWorktree }) => {
      await git(main, 'worktree', 'remove', await addWorktree('sibling'));
    },
  },
  { name: 'a prune of what is prunable', happen: ({ main }) => git(main, 'worktree', 'prune') },
  { name: 'a repair of what is whole', happen: ({ main, tree }) => git(main, 'worktree', 'repair', tree) },
  { name: 'a changed file', happen: ({ tree }) => writeFile(join(tree, 'file'), 'changed') },
  { name: 'a bisection', happen: ({ tree }) => git(tree, 'bisect', 'start') },
  {
    name: 'the same words written again to the files that link',
    happen: async ({ tree, administration }) => {
      const files = ['gitdir', 'commondir', 'HEAD'].map((name) => join(administration, name));
      for (const file of [join(tree, '.git'), ...files]) await writeFile(file, await readFile(file));
    },
  },
  { name: 'a row of its own', happen: ({ lab }) => lab.register('tree') },
];

const changes: readonly Change[] = [
  {
    name: 'removed by Git',
    happen: ({ main, tree }) => git(main, 'worktree', 'remove', tree),
    current: 'identity_changed: root',
  },
  {
    name: 'moved by Git',
    happen: ({ main, tree }) => git(main, 'worktree', 'move', tree, `${tree} moved`),
    current: 'identity_changed: root',
    undo: ({ main, tree }) => git(main, 'worktree', 'move', `${tree} moved`, tree),
  },
  {
    name: 'forgotten by Git, its directory kept',
    happen: async ({ main, tree }) => {
      await rename(tree, `${tree} kept`);
      await git(main, 'worktree', 'prune');
      await rename(`${tree} kept`, tree);
    },
    current: 'identity_changed: git dir',
  },
  {
    name: 'replaced by a copy',
    happen: ({ tree }) => replaceByCopy(tree),
    current: 'identity_changed: root',
    // The copy stands where the main checkout lists a worktree, so it is that worktree now.
    granted: linkedRoot,
    undo: ({ tree }) => putBack(tree),
  },
  {
    name: 'replaced by a link to itself',
    happen: async ({ tree }) => {
      await rename(tree, `${tree} kept`);
      await symlink(`${tree} kept`, tree);
    },
    current: 'identity_changed: root',
    undo: ({ tree }) => putBack(tree),
  },
  {
    name: 'its .git rewritten to that of a sibling',
    happen: async ({ tree, addWorktree }) => {
      const sibling = await addWorktree('sibling');
      await writeFile(join(tree, '.git'), await readFile(join(sibling, '.git')));
    },
    current: 'identity_changed: git dir',
    undo: ({ tree, administration }) => writeFile(join(tree, '.git'), `gitdir: ${administration}\n`),
  },
  {
    name: 'its .git rewritten to that of another repository',
    happen: async ({ lab, tree }) => {
      await makeRepository(join(lab.place, 'other'));
      await git(join(lab.place, 'other'), 'worktree', 'add', '-q', '--detach', join(lab.place, 'theirs'));
      await lab.register('other');
      await writeFile(join(tree, '.git'), await readFile(join(lab.place, 'theirs/.git')));
    },
    current: 'identity_changed: git dir',
    undo: ({ tree, administration }) => writeFile(join(tree, '.git'), `gitdir: ${administration}\n`),
  },
  {
    name: 'its .git gone',
    happen: ({ tree }) => rm(join(tree, '.git')),
    current: 'identity_changed: git dir',
    undo: ({ tree, administration }) => writeFile(join(tree, '.git'), `gitdir: ${administration}\n`),
  },
  {
    name: 'its .git garbled',
    happen: ({ tree }) => writeFile(join(tree, '.git'), 'nonsense'),
    current: 'identity_changed: git dir',
    undo: ({ tree, administration }) => writeFile(join(tree, '.git'), `gitdir: ${administration}\n`),
  },
  {
    name: 'made a repository of its own',
    happen: async ({ tree }) => {
      await rm(join(tree, '.git'));
      await makeRepository(tree);
    },
    current: 'identity_changed: git dir',
  },
  {
    name: 'a FIFO for its .git',
    happen: async ({ tree }) => {
      await rm(join(tree, '.git'));
      await run('mkfifo', [join(tree, '.git')]);
    },
    current: 'identity_changed: git dir',
  },
  {
    name: 'another administrative directory in the place of its own',
    happen: ({ administration }) => replaceByCopy(administration),
    current: 'identity_changed: git dir',
    granted: linkedRoot,
    undo: ({ administration }) => putBack(administration),
  },
  {
    name: 'its administrative directory exchanged with that of a sibling',
    happen: async ({ administration, addWorktree }) => {
      await addWorktree('sibling');
      await exchange(administration, join(administration, '../sibling'));
    },
    current: 'identity_changed: git dir',
    undo: ({ administration }) => exchange(administration, join(administration, '../sibling')),
  },
  {
    name: 'a link for its administrative directory',
    happen: async ({ administration, lab }) => {
      await rename(administration, join(lab.place, 'elsewhere'));
      await symlink(join(lab.place, 'elsewhere'), administration);
    },
    current: 'identity_changed: git dir',
  },
  {
    name: 'listed under another path',
    happen: ({ administration, lab }) =>
      writeFile(join(administration, 'gitdir'), `${lab.place}/elsewhere/.git\n`),
    current: 'identity_changed: git dir',
    undo: ({ administration, tree }) => writeFile(join(administration, 'gitdir'), `${tree}/.git\n`),
  },
  {
    name: 'led on to another repository',
    happen: async ({ administration, lab }) => {
      await makeRepository(join(lab.place, 'other'));
      await writeFile(join(administration, 'commondir'), `${lab.place}/other/.git\n`);
    },
    current: 'identity_changed: git dir',
    granted: unsupported('worktree-not-listed'),
    undo: ({ administration }) => writeFile(join(administration, 'commondir'), '../..\n'),
  },
  {
    name: 'a garbled HEAD',
    happen: ({ administration }) => writeFile(join(administration, 'HEAD'), 'garbage\n'),
    current: unsupported('head-malformed'),
    granted: unsupported('head-malformed'),
    undo: ({ administration }) => writeFile(join(administration, 'HEAD'), 'ref: refs/heads/topic\n'),
  },
  {
    name: 'another work tree in its own configuration',
    happen: ({ administration }) =>
      writeFile(join(administration, 'config.worktree'), '[core]\nworktree = /\n'),
    current: unsupported('core-worktree'),
    granted: unsupported('core-worktree'),
    undo: ({ administration }) => rm(join(administration, 'config.worktree')),
  },
  {
    name: 'another work tree in the common configuration',
    happen: ({ main }) => git(main, 'config', 'core.worktree', '/'),
    current: unsupported('core-worktree'),
    undo: ({ main }) => git(main, 'config', '--unset', 'core.worktree'),
  },
  {
    name: 'the main checkout moved',
    happen: ({ main }) => rename(main, `${main} kept`),
    current: 'identity_changed: main checkout',
    undo: ({ main }) => rename(`${main} kept`, main),
  },
  {
    name: 'a copy in the place of the main checkout',
    happen: ({ main }) => replaceByCopy(main),
    current: 'identity_changed: main checkout',
    undo: ({ main }) => putBack(main),
  },
  {
    name: 'a copy in the place of the common dir',
    happen: ({ main }) => replaceByCopy(join(main, '.git')),
    current: 'identity_changed: git dir',
    // No identity of a Git dir inside its main checkout is pinned.
    granted: linkedRoot,
    undo: ({ main }) => putBack(join(main, '.git')),
  },
  {
    name: 'the row of the main checkout gone',
    happen: async ({ lab, main }) => lab.registry.rows.delete(main),
    current: refused,
    undo: ({ lab }) => lab.register('main'),
  },
  {
    name: 'a row of the main checkout that means another directory',
    happen: async ({ lab, main }) => {
      const row = lab.registry.rows.get(main);
      const identity = { ...row?.identity, inode: '1', handle: '1:00' } as never;
      lab.registry.register(main, { ...row, identity });
    },
    current: 'identity_changed: main checkout',
    undo: ({ lab }) => lab.register('main'),
  },
];

describe('a linked worktree in use', () => {
  it.each(harmless)('R06: stays current after $name', async ({ happen }) => {
    await using room = await openRoom();
    await using held = await room.lab.authority.authorizeRepository(room.tree);
    await happen(room);
    expect([await currencyOf(held), await currencyOf(held)]).toEqual(['current', 'current']);
    expect([held.kind, held.gitBoundary]).toEqual(['linked-worktree', 'root']);
    expect(await room.grant()).toMatch(/^(linked-worktree|workspace) root$/);
  });

  it.each(changes)('R05, R06, R34: $name: is not current, and never becomes another', async (change) => {
    const { happen, current, granted = refused, undo } = change;
    await using room = await openRoom();
    await using held = await room.lab.authority.authorizeRepository(room.tree);
    const { inode } = held.held.identity;
    await happen(room);
    expect([await currencyOf(held), await room.grant()]).toEqual([current, granted]);
    if (undo === undefined) return;
    await undo(room);
    expect([await currencyOf(held), await room.grant()]).toEqual(['current', linkedRoot]);
    expect(held.held.identity.inode).toBe(inode);
  });

  it('R33: with a row of its own stands on that row alone', async () => {
    await using room = await openRoom();
    await room.lab.register('tree');
    await using held = await room.lab.authority.authorizeRepository(room.tree);
    expect(held.kind).toBe('workspace');
    room.lab.registry.rows.delete(room.main);
    expect(await currencyOf(held)).toBe('current');
    await room.lab.register('main');
    room.lab.registry.rows.delete(room.tree);
    expect([await currencyOf(held), await room.grant()]).toEqual([refused, linkedRoot]);
  });

  it('R06: outlives its place in the cache, and so does what it needs of the main checkout', async () => {
    await using room = await createWorktreeLab({ prover: provers.provers, capacity: 1 });
    await using held = await room.lab.authority.authorizeRepository(room.tree);
    const others = [await room.addWorktree('a'), await room.addWorktree('b'), room.main];
    for (const other of others) expect(await room.grant(other)).toMatch(/ root$/);
    await git(room.main, 'config', 'user.name', 'x');
    expect(await currencyOf(held)).toBe('current');
    expect(held.repository.commonDirectory.descriptorPath()).toMatch(/^\/proc\/\d+\/fd\/\d+$/);
    await rename(room.main, `${room.main} kept`);
    expect(await currencyOf(held)).toBe('identity_changed: main checkout');
  });

  it('R12: closes its Git dir and the common one, wherever they come to lie', async () => {
    await using room = await openRoom();
    const inside = await room.addWorktree('.trees/inside', room.main);
    await using held = await room.lab.authority.authorizeRepository(inside);
    const closed = held.held.confinement.closedIdentities.map(({ inode }) => inode);
    const { gitDirectory, commonDirectory } = held.repository;
    expect(closed).toEqual(
      expect.arrayContaining([gitDirectory.identity().inode, commonDirectory.identity().inode]),
    );
    await rename(join(room.main, '.git'), join(inside, 'disguised'));
    await rm(join(inside, 'disguised/HEAD'));
    await expect(held.held.guard.check('disguised/config')).rejects.toMatchObject({
      code: 'WA_CLOSED_DIRECTORY',
    });
  });
});
