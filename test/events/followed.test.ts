import { unlinkSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Events } from '../../src/events/events.ts';
import { createFeed } from '../../src/events/feed.ts';
import type { FeedEvent } from '../../src/events/feed-event.ts';
import type { Subscription } from '../../src/events/subscription.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { createSnapshotLab, type SnapshotLab } from '../snapshot/snapshot-lab.ts';
import { native } from '../support/addon.ts';
import { git } from '../support/git.ts';
import { kernelWatches } from '../support/kernel-watches.ts';

/** So seldom that only a hint explains a look. */
const never = 600_000;
const hintsOnly = { gatherMs: 20, restMs: 20, checkMs: never, unwatchedMs: never };
const patience = { timeout: 30_000, interval: 50 };

type Told = FeedEvent<Snapshot>;

/** Reads events until one fits. */
async function until(events: Subscription<Snapshot>, fits: (event: Told) => boolean): Promise<Told> {
  for await (const event of { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }) {
    if (fits(event)) return event;
  }
  throw new Error('the subscription ended');
}

const untilSnapshot = (events: Subscription<Snapshot>, facts: object) =>
  until(events, (event) => {
    if (event.kind !== 'change') return false;
    try {
      expect(event.value).toMatchObject(facts);
      return true;
    } catch {
      return false;
    }
  });

/** Waits until nothing is looked at any more, so that what comes next is told by a hint. */
async function quiet(lab: SnapshotLab): Promise<void> {
  let before = -1;
  await vi.waitFor(
    () => {
      const now = lab.commands.length;
      const same = now === before && lab.git.running === 0;
      before = now;
      expect(same).toBe(true);
    },
    { timeout: 30_000, interval: 400 },
  );
}

function feedOf(lab: SnapshotLab): Events<Snapshot> {
  return createFeed({ source: lab.snapshots, limits: { streamsPerSubject: 200 } });
}

describe('following checkouts', { timeout: 60_000 }, () => {
  let lab: SnapshotLab;
  let events: Events<Snapshot>;
  beforeAll(async () => {
    lab = await createSnapshotLab({ followTimes: hintsOnly });
    events = feedOf(lab);
  });
  afterAll(async () => {
    events.close();
    await lab[Symbol.asyncDispose]();
  });
  const subscribe = (...selectors: readonly string[]) => events.subscribe({ subject: 'me', selectors });

  const changes: readonly (readonly [string, (path: string) => Promise<unknown>, object])[] = [
    ['an edit', (path) => appendFile(join(path, 'a/k'), 'two\n'), { dirty: true, changedFileCount: 1 }],
    ['a new file', (path) => writeFile(join(path, 'a/new'), ''), { untrackedCount: 1 }],
    [
      'a new directory',
      async (path) => {
        await mkdir(join(path, 'b/deep'), { recursive: true });
        await writeFile(join(path, 'b/deep/k'), '');
      },
      { untrackedCount: 1 },
    ],
    ['a commit', (path) => git(path, 'commit', '-q', '--allow-empty', '-m', 'x'), {}],
    ['the index', (path) => git(path, 'rm', '-q', '--cached', 'a/k'), { untrackedCount: 1 }],
    ['another branch', (path) => git(path, 'checkout', '-q', '-b', 'group/topic'), { branch: 'group/topic' }],
    [
      'a branch of origin that moves',
      (path) => git(path, 'update-ref', 'refs/remotes/origin/main', 'HEAD~1'),
      { originDelta: { ahead: 1, behind: 0 } },
    ],
    [
      'a remote',
      (path) => git(path, 'remote', 'add', 'origin', 'git@github.com:o/r.git'),
      { github: { owner: 'o' } },
    ],
  ];

  async function makeTree(name: string): Promise<string> {
    const path = await lab.makeRepository(name);
    await mkdir(join(path, 'a'));
    await writeFile(join(path, 'a/k'), 'one\n');
    await git(path, 'add', '.');
    await git(path, 'commit', '-q', '-m', 'tree');
    return path;
  }

  it.each(changes)('R04: %s is told by a hint of the kernel', async (name, change, facts) => {
    const path = await makeTree(name);
    await using stream = await subscribe(path);
    await untilSnapshot(stream, { cwd: path, branch: 'main' });
    await quiet(lab);
    await change(path);
    const sha = (await git(path, 'rev-parse', 'HEAD')).trim();
    const told = await untilSnapshot(stream, { ...facts, sha });
    const { at: _, ...now } = await lab.read(path);
    expect(told).toMatchObject({ value: now });
  });

  it('R04: what follows a new directory of files and of refs is told of, too', async () => {
    const path = await makeTree('later');
    await using stream = await subscribe(path);
    await untilSnapshot(stream, { cwd: path });
    await quiet(lab);
    await mkdir(join(path, 'new/deep'), { recursive: true });
    await git(path, 'checkout', '-q', '-b', 'new/topic');
    await untilSnapshot(stream, { branch: 'new/topic' });
    await quiet(lab);
    await writeFile(join(path, 'new/deep/k'), '');
    await untilSnapshot(stream, { untrackedCount: 1 });
    await quiet(lab);
    await git(path, 'update-ref', 'refs/heads/new/topic', 'HEAD~1');
    await untilSnapshot(stream, { sha: (await git(path, 'rev-parse', 'HEAD~0')).trim() });
  });

  it('each linked worktree has its own events, and another one is not told of them', async () => {
    const path = await makeTree('family');
    const worktree = join(lab.place, 'family-linked');
    await git(path, 'worktree', 'add', '-q', '-b', 'linked', worktree);
    await using main = await subscribe(path);
    await using linked = await subscribe(worktree);
    await untilSnapshot(main, { cwd: path });
    await untilSnapshot(linked, { cwd: worktree });
    await quiet(lab);
    await git(worktree, 'commit', '-q', '--allow-empty', '-m', 'x');
    await untilSnapshot(linked, { aheadBehind: { ahead: 1, behind: 0 } });
    await quiet(lab);
    await writeFile(join(path, 'mark'), '');
    const next = await until(main, ({ kind }) => kind !== 'pulse');
    expect(next).toMatchObject({ kind: 'change', value: { cwd: path, untrackedCount: 1 } });
  });

  it('what changes nothing that a snapshot says is no event', async () => {
    const path = await makeTree('nothing');
    await using stream = await subscribe(path);
    await untilSnapshot(stream, { cwd: path });
    await quiet(lab);
    await git(path, 'update-ref', 'refs/heads/elsewhere', 'HEAD');
    await writeFile(join(path, '.git/anything'), '');
    await writeFile(join(path, 'a/k'), 'one\n');
    await quiet(lab);
    await writeFile(join(path, 'mark'), '');
    const next = await until(stream, ({ kind }) => kind !== 'pulse');
    expect(next).toMatchObject({ kind: 'change', value: { untrackedCount: 1 } });
  });

  it('one hundred subscriptions to one repository cost one watch of each directory, and one reading', async () => {
    const path = await makeTree('hundred');
    const before = await kernelWatches();
    await using one = await subscribe(path);
    await untilSnapshot(one, { cwd: path });
    await quiet(lab);
    const watches = await kernelWatches();
    expect(watches).toBeGreaterThan(before);
    const commands = lab.commands.length;
    const all = await Promise.all(Array.from({ length: 99 }, () => subscribe(path)));
    for (const each of all) await untilSnapshot(each, { cwd: path });
    expect([await kernelWatches(), lab.commands.length]).toEqual([watches, commands]);
    await writeFile(join(path, 'new'), '');
    for (const each of [one, ...all]) await untilSnapshot(each, { untrackedCount: 1 });
    await quiet(lab);
    const statuses = lab.commands.slice(commands).filter((name) => name === 'status').length;
    expect(statuses).toBeLessThan(5);
    for (const each of all) await each[Symbol.asyncDispose]();
  });

  it('many changes at once are gathered', async () => {
    const path = await makeTree('many');
    await using stream = await subscribe(path);
    await untilSnapshot(stream, { cwd: path });
    await quiet(lab);
    const before = lab.commands.filter((name) => name === 'status').length;
    await Promise.all(Array.from({ length: 300 }, (_, n) => writeFile(join(path, `f${n}`), '')));
    await untilSnapshot(stream, { untrackedCount: 300 });
    await quiet(lab);
    const looks = lab.commands.filter((name) => name === 'status').length - before;
    expect(looks).toBeLessThan(30);
  });
});

describe('losing what is followed', { timeout: 60_000 }, () => {
  const polled = { gatherMs: 20, restMs: 20, checkMs: 100, unwatchedMs: 100 };

  it('R05: a selector that loses its authority gets one event that says so, and nothing after', async () => {
    await using lab = await createSnapshotLab({ followTimes: polled });
    const events = feedOf(lab);
    const path = await lab.makeRepository('gone');
    const other = await lab.makeRepository('other');
    const stream = await events.subscribe({ subject: 'me', selectors: [path, other] });
    await untilSnapshot(stream, { cwd: path });
    await rename(path, `${path}-away`);
    const refused = await until(stream, ({ kind }) => kind === 'refused');
    expect(refused).toMatchObject({ selector: path, error: { code: 'workspace_not_authorized' } });
    await rename(`${path}-away`, path);
    await writeFile(join(path, 'new'), '');
    await writeFile(join(other, 'new'), '');
    const told: Told[] = [];
    await until(stream, (event) => {
      told.push(event);
      return event.kind === 'change' && event.value.isGit && event.value.untrackedCount === 1;
    });
    expect(told.filter((event) => event.kind === 'change' && event.selector === path)).toEqual([]);
    events.close();
  });

  it('R04: where nothing can be watched it says so, and looks from time to time', async () => {
    await using lab = await createSnapshotLab({ followTimes: polled, watchedInAll: 0 });
    const events = feedOf(lab);
    const path = await lab.makeRepository('unwatched');
    const stream = await events.subscribe({ subject: 'me', selectors: [path] });
    const rescan = await until(stream, ({ kind }) => kind === 'rescan');
    expect(rescan).toMatchObject({ selectors: [path], reason: 'unwatched' });
    await writeFile(join(path, 'new'), '');
    await untilSnapshot(stream, { untrackedCount: 1 });
    events.close();
  });

  it('R04: after more notices than can be trusted it says so, and looks again', async () => {
    await using lab = await createSnapshotLab({ followTimes: hintsOnly });
    const events = feedOf(lab);
    const path = await lab.makeRepository('burst');
    const stream = await events.subscribe({ subject: 'me', selectors: [path] });
    await untilSnapshot(stream, { cwd: path });
    await quiet(lab);
    // Without a turn of the event loop between them, as a busy process hears of changes.
    for (let n = 0; n < 3000; n += 1) {
      writeFileSync(join(path, 'f'), '');
      unlinkSync(join(path, 'f'));
    }
    writeFileSync(join(path, 'last'), '');
    expect(await until(stream, ({ kind }) => kind === 'rescan')).toMatchObject({ reason: 'overflow' });
    await untilSnapshot(stream, { untrackedCount: 1 });
    events.close();
  });

  it('R41: a plain directory is told of', async () => {
    await using lab = await createSnapshotLab({ followTimes: polled });
    const events = feedOf(lab);
    const path = join(lab.place, 'plain');
    await mkdir(path);
    await lab.register('plain');
    const stream = await events.subscribe({ subject: 'me', selectors: [path] });
    await untilSnapshot(stream, { cwd: path, isGit: false });
    events.close();
  });

  it('closing in the middle of everything leaves no watch and no open handle', async () => {
    const watches = await kernelWatches();
    const handles = native.openHandles();
    {
      await using lab = await createSnapshotLab({ followTimes: { ...polled, checkMs: 1 } });
      const events = feedOf(lab);
      const paths: string[] = [];
      for (let n = 0; n < 4; n += 1) paths.push(await lab.makeRepository(`r${n}`));
      const stream = await events.subscribe({ subject: 'me', selectors: paths });
      await untilSnapshot(stream, { cwd: paths[2] as string });
      for (const path of paths) await writeFile(join(path, 'new'), '');
      events.close();
      await expect(stream.next()).rejects.toMatchObject({ code: 'shutting_down' });
      await lab.snapshots.close();
      await vi.waitFor(async () => expect(await kernelWatches()).toBe(watches), patience);
    }
    expect(native.openHandles()).toEqual(handles);
  });

  it('a subscriber that leaves takes the watch with it, after a while', async () => {
    await using lab = await createSnapshotLab({ followTimes: hintsOnly });
    const events = createFeed({ source: lab.snapshots, limits: { lingerMs: 50 } });
    const path = await lab.makeRepository('left');
    const before = await kernelWatches();
    const stream = await events.subscribe({ subject: 'me', selectors: [path] });
    await untilSnapshot(stream, { cwd: path });
    await quiet(lab);
    await stream[Symbol.asyncDispose]();
    // One is that of the kept snapshot, which ends as that does (docs/snapshots.md).
    await vi.waitFor(async () => expect(await kernelWatches()).toBe(before + 1), patience);
    events.close();
  });
});
