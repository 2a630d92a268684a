import { cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLab } from '../support/authority-lab.ts';
import { failReads } from '../support/fault-reads.ts';
import { git, makeRepository } from '../support/git.ts';
import { createManagedLab, type ManagedLab } from '../support/managed-lab.ts';
import {
  addManagedWorktree,
  facts,
  hashDirectoryOf,
  isManaged,
  kindOf,
  type ManagedWorktree,
  managedRoots,
  printPluginRecord,
  type Version,
  writeRecord,
} from '../support/managed-worktrees.ts';
import { unmanagedRows } from './unmanaged-rows.ts';

const isRoot = process.geteuid?.() === 0;
const versions: readonly Version[] = [1, 2];

let room: ManagedLab;

beforeAll(async () => {
  room = await createManagedLab();
});

afterAll(async () => {
  await room[Symbol.asyncDispose]();
});

interface KeptRow {
  readonly name: string;
  readonly versions: readonly Version[];
  readonly make: (worktree: ManagedWorktree) => Promise<unknown>;
}

/** Leaves a rebase in the middle: the second of two commits that change one file. */
async function stopRebase({ path }: ManagedWorktree): Promise<void> {
  for (const [branch, text] of [
    ['x', 'one'],
    ['y', 'two'],
  ] as const) {
    await git(path, 'checkout', '-q', '-b', branch, 'main');
    await writeFile(join(path, 'f'), text);
    await git(path, 'add', 'f');
    await git(path, 'commit', '-q', '-m', text);
  }
  await expect(git(path, 'rebase', 'x')).rejects.toThrow();
  expect(await git(path, 'status')).toContain('rebase in progress');
}

/** What people do in a managed worktree, and what a reboot does to it. */
const keptRows: readonly KeptRow[] = [
  { name: 'W38: another branch', versions, make: ({ path }) => git(path, 'checkout', '-q', '-b', 'x') },
  { name: 'W38: a detached HEAD', versions, make: ({ path }) => git(path, 'checkout', '-q', '--detach') },
  { name: 'W38: a rebase that has stopped', versions, make: stopRebase },
  { name: 'W38: a bisection', versions, make: ({ path }) => git(path, 'bisect', 'start') },
  {
    name: 'W38: a renamed branch',
    versions,
    make: ({ path }) => git(path, 'branch', '-m', 'task-leaf', 'renamed'),
  },
  {
    name: 'a tag with the name of the branch',
    versions,
    make: ({ path }) => git(path, 'tag', 'task-leaf'),
  },
  { name: 'a lock', versions, make: ({ main, path }) => git(main, 'worktree', 'lock', path) },
  {
    name: 'W33: another device number in the owner record',
    versions: [1],
    make: async ({ main, record }) => writeFile(record, await printPluginRecord(main, { dev: '99' })),
  },
  { name: 'no owner record, as with the first releases', versions: [1], make: ({ record }) => rm(record) },
];

describe.each(versions)('metadata of version %i', (version) => {
  it('R02: makes a managed worktree, and its capability says what the metadata says', async () => {
    const { path, main } = await room.add(version);
    await using capability = await room.authorize(path);
    if (!isManaged(capability)) throw new Error(`kind ${capability.kind}`);
    expect(capability.managed).toEqual({ version, ...facts });
    expect(capability.gitBoundary).toBe('root');
    expect(capability.root).toBe(path);
    expect(capability.repository.mainRoot).toBe(main);
    await using retained = capability.retain();
    expect(retained.managed).toEqual(capability.managed);
    await retained.assertCurrent();
  });

  it('R02: an operator is told each fact', async () => {
    const { path, main } = await room.add(version);
    const explanation = await room.lab.authority.explain(path);
    expect(explanation).toMatchObject({
      authorized: true,
      refusal: null,
      result: { kind: 'managed-worktree', gitBoundary: 'root', root: path },
    });
    expect(explanation.facts.every(({ holds }) => holds)).toBe(true);
    const told = new Map(explanation.facts.map(({ fact, seen }) => [fact, seen]));
    expect(told.get('registry row')).toBe('none');
    expect(told.get('kind without a row')).toBe('worktree');
    expect(told.get('row of the main checkout')).toBe(room.lab.registry.rows.get(main)?.id);
    expect(told.get('main checkout')).toBe(main);
    expect(told.get('worktree list')).toBe('this root');
    expect(told.get('second opinion')).toBe('the same checkout');
    expect(told.get('managed worktree')).toBe(`yes, by metadata of version ${version}`);
  });

  it('R26: makes nothing managed when it, the place or the owner record is not exactly right', async () => {
    const seen: (readonly string[])[] = [];
    const rows = unmanagedRows.filter((row) => row.versions.includes(version) && (isRoot || !row.needsRoot));
    for (const { name, make } of rows) {
      const worktree = await room.add(version);
      // Seen before the change, so that an authority that remembers is tried with each.
      expect([name, await room.kindOf(worktree.path)]).toEqual([name, `managed by version ${version}`]);
      const moved = await make(worktree, room.place);
      const path = typeof moved === 'string' ? moved : worktree.path;
      seen.push([name, await room.told(path), await room.kindOf(path)]);
    }
    expect(seen).toEqual(rows.map(({ name, why }) => [name, `no: ${why}`, 'linked-worktree']));
  });

  it('W38, W33: whatever is done in it, or comes with a reboot, it stays managed', async () => {
    const seen: (readonly string[])[] = [];
    const rows = keptRows.filter((row) => row.versions.includes(version));
    for (const { name, make } of rows) {
      const worktree = await room.add(version);
      await using capability = await room.authorize(worktree.path);
      await make(worktree);
      await capability.assertCurrent();
      seen.push([name, await room.kindOf(worktree.path), await room.told(worktree.path)]);
    }
    const kind = `managed by version ${version}`;
    expect(seen).toEqual(rows.map(({ name }) => [name, kind, `yes, by metadata of version ${version}`]));
  });

  it('R02: a row of its own changes nothing', async () => {
    const { path } = await room.add(version);
    room.lab.registry.register(path);
    expect(await room.kindOf(path)).toBe(`managed by version ${version}`);
    expect(await room.kindOf(`${path}/`)).toBe(`managed by version ${version}`);
    await using capability = await room.authorize(path);
    await capability.assertCurrent();
    room.lab.registry.rows.delete(path);
    await expect(capability.assertCurrent()).rejects.toMatchObject({ code: 'workspace_not_authorized' });
    expect(await room.kindOf(path)).toBe(`managed by version ${version}`);
  });

  it('R02: without the row of its main checkout it is nothing, or a workspace by a row of its own', async () => {
    const { path, main } = await room.add(version);
    const { rows } = room.lab.registry;
    const row = rows.get(main);
    if (row === undefined) throw new Error('no row');
    await using capability = await room.authorize(path);
    rows.delete(main);
    expect(await room.kindOf(path)).toBe('workspace_not_authorized');
    await expect(capability.assertCurrent()).rejects.toMatchObject({ code: 'workspace_not_authorized' });
    room.lab.registry.register(path);
    expect(await room.kindOf(path)).toBe('workspace');
    rows.set(main, row);
    expect(await room.kindOf(path)).toBe(`managed by version ${version}`);
    rows.delete(path);
    expect(await room.kindOf(path)).toBe(`managed by version ${version}`);
    await capability.assertCurrent();
  });

  it('R05: a main checkout that was replaced by a copy delegates nothing', async () => {
    const { path, main } = await room.add(version);
    expect(await room.kindOf(path)).toBe(`managed by version ${version}`);
    await rename(main, `${main}-before`);
    await cp(`${main}-before`, main, { recursive: true, preserveTimestamps: true });
    expect(await room.kindOf(path)).toBe('workspace_not_authorized');
  });

  it('R01: another spelling of its path is no selector', async () => {
    const { path, hashDirectory } = await room.add(version);
    await symlink(path, `${path}-link`);
    await symlink(hashDirectory, `${hashDirectory}-link`);
    await mkdir(join(path, 'sub'));
    const spellings = [
      `${path}/`,
      `${path}/.`,
      `${path}/sub/..`,
      `${path}-link`,
      `${hashDirectory}-link/leaf`,
    ];
    for (const spelling of [...spellings, `${path}/sub`, hashDirectory, dirname(hashDirectory)]) {
      expect([spelling, await room.kindOf(spelling)]).toEqual([spelling, 'workspace_not_authorized']);
    }
  });

  it('R25: no root, or a root of the other scheme, makes nothing managed', async () => {
    const { path, main } = await room.add(version);
    const [plugin, own] = managedRoots(room.place);
    const wrong = version === 1 ? own : plugin;
    for (const roots of [undefined, [], [wrong as NonNullable<typeof wrong>]]) {
      const { place } = room;
      await using other = await createLab({ place, ...(roots === undefined ? {} : { managedRoots: roots }) });
      other.registry.register(main);
      expect(await kindOf(other.authority, path)).toBe('linked-worktree');
    }
  });

  it.each<readonly [string, (worktree: ManagedWorktree) => string]>([
    ['metadata', ({ metadata }) => basename(metadata)],
    ['directory of metadata', ({ metadata }) => `/${basename(dirname(metadata))}`],
    ['owner record', ({ record }) => basename(record)],
    ['hash directory', ({ hashDirectory }) => hashDirectory.slice(1)],
  ])('R04: a %s that cannot be read is a refusal, not a linked worktree', async (_, place) => {
    const worktree = await room.add(version);
    const { path } = worktree;
    for (const before of ['nothing known', 'known']) {
      {
        using _ = await failReads(place(worktree));
        expect([before, await room.kindOf(path)]).toEqual([before, 'storage_failed']);
        const { authorized, refusal } = await room.lab.authority.explain(path);
        expect([authorized, refusal?.code]).toEqual([false, 'storage_failed']);
      }
      expect([before, await room.kindOf(path)]).toEqual([before, `managed by version ${version}`]);
    }
  });

  it('R26: metadata of the main checkout is never read', async () => {
    const { main, metadata } = await room.add(version);
    const directory = join(main, '.git', version === 1 ? 'dsh-worktree' : 'workspace-authority');
    await mkdir(directory);
    await rename(metadata, join(directory, 'worktree.json'));
    using _ = await failReads('worktree.json');
    using __ = await failReads('.git/dsh-worktree');
    using ___ = await failReads('.git/workspace-authority');
    expect(await room.kindOf(main)).toBe('workspace');
  });
});

describe('the hash directory', () => {
  it('W35: after a collision another one with a number belongs to whom its owner record names', async () => {
    await makeRepository(join(room.place, 'colliding'));
    const main = await room.lab.register('colliding');
    const hashDirectory = hashDirectoryOf(room.place, 2, main);
    const first = await addManagedWorktree(room.place, 2, main, `${hashDirectory}/leaf-a`);
    const second = await addManagedWorktree(room.place, 2, main, `${hashDirectory}-1/leaf-b`);
    const other = await room.add(2);
    await writeFile(first.record, Buffer.from(''));
    await writeRecord({ ...first, main: other.main });
    expect(await room.kindOf(first.path)).toBe('linked-worktree');
    expect(await room.kindOf(second.path)).toBe('managed by version 2');
    await writeRecord({ ...second, main: other.main });
    expect(await room.kindOf(second.path)).toBe('linked-worktree');
    await writeRecord(second);
    expect(await room.kindOf(second.path)).toBe('managed by version 2');
  });

  it('W35: the other scheme knows no numbers', async () => {
    await makeRepository(join(room.place, 'plain'));
    const main = await room.lab.register('plain');
    const path = `${hashDirectoryOf(room.place, 1, main)}-1/leaf`;
    await addManagedWorktree(room.place, 1, main, path);
    expect(await room.told(path)).toBe('no: in the hash directory of another repository');
  });

  it('R33: a worktree that is nowhere near is linked, whatever its metadata says', async () => {
    const worktree = await room.add(1);
    const path = join(room.place, 'far', 'leaf-far');
    await addManagedWorktree(room.place, 1, worktree.main, path);
    expect(await room.kindOf(path)).toBe('linked-worktree');
  });
});
