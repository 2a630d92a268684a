import { appendFile, chmod, mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RepositorySnapshot } from '../../src/snapshot/snapshot.ts';
import { git } from '../support/git.ts';
import { createSnapshotLab, type SnapshotLab } from './snapshot-lab.ts';

/** Longer than a stamp takes to settle, on a machine that does much else. */
const patience = { timeout: 30_000, interval: 100 };

async function ask(lab: SnapshotLab, path: string): Promise<RepositorySnapshot> {
  const { found } = await lab.snapshots.readMany([path]);
  return found.get(path) as RepositorySnapshot;
}

/** Asks until an answer takes no process. */
async function settled(lab: SnapshotLab, ...paths: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    const before = lab.commands.length;
    await lab.snapshots.readMany(paths);
    expect(lab.commands.length - before).toBe(0);
  }, patience);
}

/** A repository with directories, an ignored one among them, that nothing has changed for a while. */
async function makeTree(lab: SnapshotLab, name: string): Promise<string> {
  const path = await lab.makeRepository(name);
  await mkdir(join(path, 'a/b'), { recursive: true });
  await mkdir(join(path, 'node_modules/deep'), { recursive: true });
  await writeFile(join(path, '.gitignore'), 'node_modules/\n*.log\n');
  await writeFile(join(path, 'a/b/k'), 'one\n');
  await writeFile(join(path, 'untracked'), 'one\n');
  await git(path, 'add', '.gitignore', 'a');
  await git(path, 'commit', '-q', '-m', 'tree');
  return path;
}

describe('keeping snapshots', { timeout: 60_000 }, () => {
  let lab: SnapshotLab;
  beforeAll(async () => {
    lab = await createSnapshotLab();
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  it('200 snapshots of unchanged checkouts start no process', async () => {
    const path = await makeTree(lab, 'many');
    const worktrees = Array.from({ length: 9 }, (_, index) => join(lab.place, `many-${index}`));
    for (const worktree of worktrees) await git(path, 'worktree', 'add', '-q', '--detach', worktree);
    const asked = [path, ...worktrees];
    await settled(lab, ...asked);
    const before = lab.commands.length;
    for (let round = 0; round < 20; round += 1) {
      const { found } = await lab.snapshots.readMany(asked);
      expect(found.size).toBe(10);
    }
    expect(lab.commands.length).toBe(before);
  });

  const changes: readonly (readonly [string, (path: string) => Promise<unknown>, object])[] = [
    ['an edit in place', (path) => appendFile(join(path, 'a/b/k'), 'two\n'), { changedFileCount: 2 }],
    [
      'an edit that keeps size and time',
      async (path) => {
        const time = new Date(1_600_000_000_000);
        await writeFile(join(path, 'a/b/k'), 'six\n');
        await utimes(join(path, 'a/b/k'), time, time);
      },
      { changedFileCount: 2 },
    ],
    [
      'a file that is replaced',
      async (path) => {
        await writeFile(join(path, 'a/b/k.tmp'), 'two\n');
        await rename(join(path, 'a/b/k.tmp'), join(path, 'a/b/k'));
      },
      { changedFileCount: 2 },
    ],
    ['a new file', (path) => writeFile(join(path, 'a/new'), ''), { untrackedCount: 2 }],
    ['a new link', (path) => symlink('k', join(path, 'a/b/link')), { untrackedCount: 2 }],
    ['a deleted file', (path) => rm(join(path, 'a/b/k')), { changedFileCount: 2 }],
    ['a mode', (path) => chmod(join(path, 'a/b/k'), 0o755), { changedFileCount: 2 }],
    [
      'a new directory',
      async (path) => {
        await mkdir(join(path, 'fresh/deep'), { recursive: true });
        await writeFile(join(path, 'fresh/deep/k'), '');
      },
      { untrackedCount: 2 },
    ],
    ['a moved directory', (path) => rename(join(path, 'a'), join(path, 'z')), { untrackedCount: 2 }],
    ['ignore patterns', (path) => appendFile(join(path, '.gitignore'), 'untracked\n'), { untrackedCount: 0 }],
    [
      'ignore patterns of the clone',
      (path) => writeFile(join(path, '.git/info/exclude'), 'untracked\n'),
      { untrackedCount: 0 },
    ],
    ['the index', (path) => git(path, 'add', 'untracked'), { untrackedCount: 0, changedFileCount: 1 }],
    ['a commit', (path) => git(path, 'commit', '-q', '--allow-empty', '-m', 'x'), {}],
    ['another branch', (path) => git(path, 'checkout', '-q', '-b', 'topic'), { branch: 'topic' }],
    ['a detached HEAD', (path) => git(path, 'checkout', '-q', '--detach'), { detached: true }],
    [
      'a remote',
      (path) => git(path, 'remote', 'add', 'origin', 'git@github.com:o/r.git'),
      { github: { host: 'github.com', owner: 'o', repo: 'r' } },
    ],
    [
      'a branch of origin that appears',
      (path) => git(path, 'update-ref', 'refs/remotes/origin/main', 'HEAD~1'),
      { originDelta: { ahead: 1, behind: 0 } },
    ],
    ['refs that are packed', (path) => git(path, 'pack-refs', '--all'), { branch: 'main' }],
  ];

  it.each(changes)('R04: %s is seen by the next batch', async (name, change, expected) => {
    const path = await makeTree(lab, `seen-${name.replaceAll(' ', '-')}`);
    await settled(lab, path);
    await change(path);
    const before = lab.commands.length;
    const seen = await ask(lab, path);
    expect(seen).toMatchObject(expected);
    expect(lab.commands.length).toBeGreaterThan(before);
    const { at: _, ...facts } = await lab.read(path);
    expect(seen).toMatchObject(facts);
  });

  it.each(changes.filter(([name]) => /directory|replaced/.test(name)))(
    'R04: and once it settled, what follows %s is seen',
    async (name, change) => {
      const path = await makeTree(lab, `again-${name.replaceAll(' ', '-')}`);
      await settled(lab, path);
      await change(path);
      await settled(lab, path);
      for (const directory of ['a', 'z', 'fresh/deep', '.']) {
        const file = join(path, directory, 'later.txt');
        const written = await writeFile(file, '').then(
          () => true,
          () => false,
        );
        if (!written) continue;
        const seen = (await ask(lab, path)).untrackedCount;
        expect([directory, seen]).toEqual([directory, (await lab.read(path)).untrackedCount]);
        await settled(lab, path);
        await rm(file);
        expect((await ask(lab, path)).untrackedCount).toBe((seen ?? 0) - 1);
        await settled(lab, path);
      }
    },
  );

  it('what happens in an ignored directory costs nothing', async () => {
    const path = await makeTree(lab, 'ignored');
    await settled(lab, path);
    await writeFile(join(path, 'node_modules/deep/x'), 'x');
    const before = lab.commands.length;
    await ask(lab, path);
    expect(lab.commands.length).toBe(before);
  });

  it('R04: a file that is tracked in an ignored directory is watched', async () => {
    const path = await makeTree(lab, 'forced');
    await writeFile(join(path, 'node_modules/deep/x'), 'x');
    await settled(lab, path);
    await git(path, 'add', '-f', 'node_modules/deep/x');
    expect(await ask(lab, path)).toMatchObject({ changedFileCount: 2 });
    await settled(lab, path);
    await git(path, 'commit', '-q', '-m', 'forced');
    await settled(lab, path);
    await writeFile(join(path, 'node_modules/deep/x'), 'y');
    expect(await ask(lab, path)).toMatchObject({ changedFileCount: 2 });
  });

  it('a repository within is looked at each time', async () => {
    const path = await makeTree(lab, 'outer');
    await git(path, 'init', '-q', 'inner');
    await writeFile(join(path, 'inner/k'), '');
    await git(path, 'commit', '-q', '--allow-empty', '-m', 'x');
    await ask(lab, path);
    for (let round = 0; round < 3; round += 1) {
      const before = lab.commands.length;
      await ask(lab, path);
      expect(lab.commands.length).toBeGreaterThan(before);
    }
  });

  it('R41: GET /snapshot asks Git each time', async () => {
    const path = await makeTree(lab, 'anew');
    await settled(lab, path);
    const before = lab.commands.length;
    await lab.read(path);
    expect(lab.commands.length).toBeGreaterThan(before);
  });

  it('R05: another repository under the same path has its own answer', async () => {
    const path = await makeTree(lab, 'replaced');
    await settled(lab, path);
    await rename(path, `${path}-away`);
    await lab.makeRepository('replaced');
    expect(await ask(lab, path)).toMatchObject({ dirty: false, changedFileCount: 0 });
  });
});

describe('limits of keeping snapshots', { timeout: 60_000 }, () => {
  it('within the time of freshness nothing is looked at, and concurrent callers share a reading', async () => {
    await using lab = await createSnapshotLab({ freshMs: 600_000 });
    const path = await makeTree(lab, 'fresh');
    const both = await Promise.all([ask(lab, path), ask(lab, path)]);
    const statuses = lab.commands.filter((name) => name === 'status').length;
    expect(statuses).toBe(1);
    await writeFile(join(path, 'new'), '');
    expect(await ask(lab, path)).toEqual(both[0]);
    expect(await lab.read(path)).toMatchObject({ untrackedCount: 2 });
    expect(await ask(lab, path)).toMatchObject({ untrackedCount: 2 });
  });

  it('after the time of rechecking Git is asked, whatever the watches say', async () => {
    await using lab = await createSnapshotLab({ recheckMs: 0 });
    const path = await makeTree(lab, 'old');
    for (let round = 0; round < 3; round += 1) {
      const before = lab.commands.length;
      await ask(lab, path);
      expect(lab.commands.length).toBeGreaterThan(before);
    }
  });

  it.each([{ watchedInAll: 0 }, { watchedInAll: 2 }, { watchedPerTree: 1 }])(
    'where %j directories may be watched, Git is asked each time',
    async (options) => {
      await using lab = await createSnapshotLab(options);
      const path = await makeTree(lab, 'unwatched');
      for (let round = 0; round < 3; round += 1) {
        await writeFile(join(path, `new-${round}`), '');
        expect(await ask(lab, path)).toMatchObject({ untrackedCount: 2 + round });
      }
    },
  );

  it('closing ends readings and refuses what comes', async () => {
    await using lab = await createSnapshotLab();
    const path = await makeTree(lab, 'closing');
    const running = ask(lab, path).catch((error: unknown) => error);
    await lab.snapshots.close();
    expect(await running).toMatchObject({ code: 'shutting_down' });
    await expect(ask(lab, path)).rejects.toMatchObject({ code: 'shutting_down' });
    await expect(lab.read(path)).rejects.toMatchObject({ code: 'shutting_down' });
  });

  it('a caller that leaves ends its wait only', async () => {
    await using lab = await createSnapshotLab();
    const path = await makeTree(lab, 'leaving');
    const leaving = new AbortController();
    const left = lab.snapshots.readMany([path], {}, leaving.signal).catch((error: unknown) => error);
    const staying = ask(lab, path);
    leaving.abort();
    expect(await left).toMatchObject({ code: 'aborted' });
    expect(await staying).toMatchObject({ branch: 'main' });
  });
});
