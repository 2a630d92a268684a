import { chown, mkdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusalOf } from '../support/answers.ts';
import { makeRepository } from '../support/git.ts';
import { createManagedLab, type ManagedLab } from '../support/managed-lab.ts';
import {
  isManaged,
  type ManagedWorktree,
  printPluginRecord,
  type Version,
  writeMetadata,
  writeRecord,
} from '../support/managed-worktrees.ts';

const isRoot = process.geteuid?.() === 0;
const versions: readonly Version[] = [1, 2];
const nobody = 65534;

let room: ManagedLab;

beforeAll(async () => {
  room = await createManagedLab();
});

afterAll(async () => {
  await room[Symbol.asyncDispose]();
});

interface Change {
  readonly name: string;
  readonly versions?: readonly Version[];
  readonly needsRoot?: true;
  readonly away: (worktree: ManagedWorktree) => Promise<unknown>;
  readonly back: (worktree: ManagedWorktree) => Promise<unknown>;
}

async function lengthened(path: string): Promise<void> {
  await truncate(path, 128 * 1024);
}

/** Changes in both directions, most of them in place: no name comes or goes. */
const changes: readonly Change[] = [
  {
    name: 'metadata that goes and comes',
    away: ({ metadata }) => rename(metadata, `${metadata}.x`),
    back: ({ metadata }) => rename(`${metadata}.x`, metadata),
  },
  {
    name: 'metadata that goes and comes with its directory',
    away: ({ metadata }) => rename(dirname(metadata), `${dirname(metadata)}.x`),
    back: ({ metadata }) => rename(`${dirname(metadata)}.x`, dirname(metadata)),
  },
  {
    name: 'metadata damaged and mended in place',
    away: ({ metadata }) => writeFile(metadata, '{'),
    back: writeMetadata,
  },
  {
    name: 'metadata that grows too long and is mended in place',
    away: ({ metadata }) => lengthened(metadata),
    back: writeMetadata,
  },
  {
    name: 'metadata of another user',
    needsRoot: true,
    away: ({ metadata }) => chown(metadata, nobody, nobody),
    back: ({ metadata }) => chown(metadata, 0, 0),
  },
  {
    name: 'an owner record damaged and mended in place',
    away: ({ record }) => writeFile(record, '{'),
    back: writeRecord,
  },
  {
    name: 'an owner record that grows too long and is mended in place',
    away: ({ record }) => lengthened(record),
    back: writeRecord,
  },
  {
    name: 'an owner record that goes and comes',
    versions: [2],
    away: ({ record }) => rename(record, `${record}.x`),
    back: ({ record }) => rename(`${record}.x`, record),
  },
  {
    name: 'an owner record of another repository that comes and goes',
    versions: [1],
    away: async ({ main, record }) => {
      await rm(record, { force: true });
      await writeFile(record, await printPluginRecord(main, { ino: '1' }));
    },
    back: ({ record }) => rm(record),
  },
  {
    name: 'an owner record of another user',
    needsRoot: true,
    away: ({ record }) => chown(record, nobody, nobody),
    back: ({ record }) => chown(record, 0, 0),
  },
  {
    name: 'a hash directory of another user',
    needsRoot: true,
    away: ({ hashDirectory }) => chown(hashDirectory, nobody, nobody),
    back: ({ hashDirectory }) => chown(hashDirectory, 0, 0),
  },
  {
    name: 'another hash directory in its place, with a damaged owner record',
    away: async ({ hashDirectory, path, record }) => {
      await rename(hashDirectory, `${hashDirectory}-x`);
      await mkdir(hashDirectory);
      await rename(`${hashDirectory}-x/leaf`, path);
      await writeFile(record, '{');
    },
    back: async (worktree) => {
      await rm(`${worktree.hashDirectory}-x`, { recursive: true });
      await writeRecord(worktree);
    },
  },
];

describe.each(versions)('a worktree by metadata of version %i that was authorised before', (version) => {
  const managed = `managed by version ${version}`;
  const rows = changes.filter((row) => row.versions?.includes(version) ?? true);

  it.each(rows.filter(({ needsRoot }) => isRoot || !needsRoot))(
    'R26: sees at once $name, again and again',
    async ({ away, back }) => {
      const worktree = await room.add(version);
      expect(await room.kindOf(worktree.path)).toBe(managed);
      for (let round = 0; round < 3; round += 1) {
        await away(worktree);
        expect([round, await room.kindOf(worktree.path)]).toEqual([round, 'linked-worktree']);
        expect([round, await room.kindOf(worktree.path)]).toEqual([round, 'linked-worktree']);
        await back(worktree);
        expect([round, await room.kindOf(worktree.path)]).toEqual([round, managed]);
        expect([round, await room.kindOf(worktree.path)]).toEqual([round, managed]);
      }
    },
  );

  it('R26: sees metadata that says something else', async () => {
    const worktree = await room.add(version);
    for (const sourceTitle of ['one', 'two', null]) {
      await writeMetadata(worktree, { sourceTitle });
      await using capability = await room.authorize(worktree.path);
      expect(isManaged(capability) && capability.managed.sourceTitle).toBe(sourceTitle);
      await capability.assertCurrent();
    }
  });

  it('R06: a capability of a managed worktree ends with its metadata, and the next one is linked', async () => {
    const worktree = await room.add(version);
    await using capability = await room.authorize(worktree.path);
    const bytes = await readFile(worktree.metadata);
    await rm(worktree.metadata);
    for (let time = 0; time < 2; time += 1) {
      expect(await capability.assertCurrent().catch(refusalOf)).toBe('identity_changed: git dir');
    }
    await using next = await room.authorize(worktree.path);
    expect(next.kind).toBe('linked-worktree');
    await next.assertCurrent();
    expect(await capability.assertCurrent().catch(refusalOf)).toBe('identity_changed: git dir');
    // The same bytes are the same proof again.
    await writeFile(worktree.metadata, bytes);
    await capability.assertCurrent();
    expect(await room.kindOf(worktree.path)).toBe(managed);
  });

  it('R33: stays as it is when the metadata comes with its directory, and the next capability is managed', async () => {
    const worktree = await room.add(version);
    const directory = dirname(worktree.metadata);
    await rename(directory, `${directory}.x`);
    await using capability = await room.authorize(worktree.path);
    await rename(`${directory}.x`, directory);
    for (let time = 0; time < 2; time += 1) await capability.assertCurrent();
    expect(capability.kind).toBe('linked-worktree');
    expect(await room.kindOf(worktree.path)).toBe(managed);
  });

  it('R33: a capability of a linked worktree stays one when metadata comes, and the next one is managed', async () => {
    const worktree = await room.add(version);
    await rename(worktree.metadata, `${worktree.metadata}.x`);
    await using capability = await room.authorize(worktree.path);
    await rename(`${worktree.metadata}.x`, worktree.metadata);
    for (let time = 0; time < 2; time += 1) {
      await capability.assertCurrent();
      expect(capability.kind).toBe('linked-worktree');
      expect('managed' in capability).toBe(false);
    }
    await using next = await room.authorize(worktree.path);
    expect(isManaged(next)).toBe(true);
    expect(capability.kind).toBe('linked-worktree');
    await capability.assertCurrent();
  });

  it('R32: a capability by the row of the main checkout ends when that row means another directory', async () => {
    const { path, main } = await room.add(version);
    await using capability = await room.authorize(path);
    const row = room.lab.registry.rows.get(main);
    await makeRepository(`${main}-other`);
    await room.lab.register(`${main}-other`.slice(room.place.length + 1));
    const other = room.lab.registry.rows.get(`${main}-other`);
    room.lab.registry.register(main, { ...row, identity: other?.identity ?? null });
    expect(await capability.assertCurrent().catch(refusalOf)).toBe('identity_changed: main checkout');
    expect(await room.kindOf(path)).toBe('workspace_not_authorized');
  });
});
