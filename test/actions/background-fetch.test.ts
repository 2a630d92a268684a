import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { nextFetchDelay } from '../../src/actions/background-fetch.ts';
import type { RepositorySnapshot, Service, ServiceOptions } from '../../src/service.ts';
import { git } from '../support/git.ts';
import { TestClock } from '../support/test-clock.ts';
import { type ActionLab, createActionLab, headOf, outcomeOf } from './action-lab.ts';

const minute = 60_000;
const everyMs = 3 * minute;
const patience = { timeout: 20_000, interval: 50 };

interface Place {
  readonly lab: ActionLab;
  readonly service: Service;
  readonly clock: TestClock;
  readonly repo: string;
  readonly remote: string;
  /** Somebody else pushes a commit; its name. */
  pushed(): Promise<string>;
  snapshot(path?: string): Promise<RepositorySnapshot>;
}

async function open(options: ServiceOptions = {}): Promise<Place> {
  const clock = new TestClock();
  const lab = await createActionLab({
    clock,
    fetchEveryMs: everyMs,
    network: { protocols: ['file', 'git'] },
    ...options,
  });
  onTestFinished(() => lab[Symbol.asyncDispose]());
  const { service } = lab;
  const repo = await lab.repository('repo');
  const [remote, other] = [join(lab.place, 'remote.git'), join(lab.place, 'other')];
  await git(lab.place, 'clone', '-q', '--bare', repo, remote);
  await git(repo, 'remote', 'add', 'origin', remote);
  await git(lab.place, 'clone', '-q', remote, other);
  return {
    lab,
    service,
    clock,
    repo,
    remote,
    async pushed() {
      await git(other, 'commit', '-q', '--allow-empty', '-m', 'theirs');
      await git(other, 'push', '-q');
      return headOf(other);
    },
    async snapshot(path = repo) {
      const snapshot = await service.snapshots.read(path);
      if (!snapshot.isGit) throw new Error('no repository');
      return snapshot;
    },
  };
}

const tracking = (path: string) => headOf(path, 'refs/remotes/origin/main').catch(() => null);

const stagesOf = ({ degraded }: RepositorySnapshot) => degraded.map(({ stage }) => stage);

/** Lets time pass, with the repository asked about, until something is seen. */
async function passing(place: Place, look: () => Promise<void>, stepMs = minute): Promise<void> {
  await vi.waitFor(async () => {
    await place.snapshot();
    place.clock.advance(stepMs);
    await look();
  }, patience);
}

describe('fetching in the background', { timeout: 60_000 }, () => {
  it('is not done unless the operator says how often', async () => {
    const { lab, repo, clock, pushed } = await open({ fetchEveryMs: undefined } as unknown as ServiceOptions);
    await pushed();
    await lab.service.snapshots.read(repo);
    expect(clock.pending).toBe(0);
    expect(await tracking(repo)).toBeNull();
  });

  it.each([0, 999, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses to fetch every %d ms',
    async (fetchEveryMs) => {
      const { lab } = await open();
      await expect(lab.another({ fetchEveryMs })).rejects.toThrow(RangeError);
    },
  );

  it('W46: brings what is asked about up to date, and only while it is', async () => {
    const place = await open();
    const theirs = await place.pushed();
    await passing(place, async () => expect(await tracking(place.repo)).toBe(theirs));
    expect(await place.snapshot()).toMatchObject({ originDelta: { ahead: 0, behind: 1 }, degraded: [] });
    // Nobody asks any more: one last fetch may still be due, and then no timer is left.
    await vi.waitFor(() => {
      place.clock.advance(everyMs);
      expect(place.clock.pending).toBe(0);
    }, patience);
    const later = await place.pushed();
    place.clock.advance(100 * everyMs);
    expect(await tracking(place.repo)).not.toBe(later);
  });

  it('fetches once for all checkouts of a repository', async () => {
    const place = await open();
    const linked = join(place.lab.place, 'linked');
    await git(place.repo, 'worktree', 'add', '-q', '--detach', linked);
    for (const path of [place.repo, linked, place.repo, linked]) await place.snapshot(path);
    expect(place.clock.pending).toBe(1);
  });

  it('a fetch that moves a branch of origin is told of as an event', async () => {
    const place = await open({
      clock: undefined,
      events: { gatherMs: 20, restMs: 20 },
      fetchEveryMs: 1000,
    } as unknown as ServiceOptions);
    await place.pushed();
    await using events = await place.service.events.subscribe({ subject: 'me', selectors: [place.repo] });
    for (;;) {
      const { done, value } = await events.next();
      if (done) throw new Error('ended');
      if (value.kind === 'change' && value.value.isGit && value.value.originDelta?.behind === 1) break;
    }
  });

  it('R04: a failure is seen in the snapshot of each checkout until a fetch succeeds, and delays the next', async () => {
    const place = await open();
    const linked = join(place.lab.place, 'linked');
    await git(place.repo, 'worktree', 'add', '-q', '--detach', linked);
    await rename(place.remote, `${place.remote}-away`);
    await passing(place, async () => expect(stagesOf(await place.snapshot())).toEqual(['fetch']));
    expect(await place.snapshot(linked)).toMatchObject({
      degraded: [{ stage: 'fetch', message: 'Git did not complete. (no-remote-repository)' }],
    });
    const { found } = await place.service.snapshots.readMany([linked]);
    expect(stagesOf(found.get(linked) as RepositorySnapshot)).toEqual(['fetch']);
    await rename(`${place.remote}-away`, place.remote);
    await place.service.actions.fetch(place.repo);
    expect(stagesOf(await place.snapshot())).toEqual([]);
  });

  it('R04: a lock that stands in its way is named in the snapshot', async () => {
    const place = await open();
    await mkdir(join(place.repo, '.git/refs/remotes/origin'), { recursive: true });
    await writeFile(join(place.repo, '.git/refs/remotes/origin/main.lock'), '');
    await passing(place, async () => {
      const { degraded } = await place.snapshot();
      expect(degraded).toEqual([
        { stage: 'fetch', message: expect.stringContaining('(refs/remotes/origin/main.lock)') },
      ]);
    });
  });

  it('W16: the gate refuses it as it refuses any fetch, and says so', async () => {
    const place = await open();
    await git(place.repo, 'config', 'core.sshCommand', 'x');
    await passing(place, async () => {
      const { degraded } = await place.snapshot();
      expect(degraded).toEqual([{ stage: 'fetch', message: expect.stringContaining('core.sshcommand') }]);
    });
  });

  it('a repository without a remote does not fail', async () => {
    const place = await open();
    await git(place.repo, 'remote', 'remove', 'origin');
    for (let turn = 0; turn < 10; turn += 1) {
      await place.snapshot();
      place.clock.advance(minute);
    }
    expect(stagesOf(await place.snapshot())).toEqual([]);
  });

  it('W46, W47: one that hangs holds up no user: neither a commit nor fetches of others', async () => {
    const place = await open();
    const slow = await silentServer();
    const other = await place.lab.repository('second');
    await git(other, 'remote', 'add', 'origin', place.remote);
    await git(place.repo, 'remote', 'set-url', 'origin', `git://127.0.0.1:${slow.port}/x`);
    await passing(place, async () => expect(slow.connections()).toBeGreaterThan(0));
    await writeFile(join(place.repo, 'f'), 'x\n');
    await place.service.actions.commit(place.repo, { message: 'm' });
    for (let turn = 0; turn < 6; turn += 1) await place.service.actions.fetch(other);
    expect(slow.connections()).toBe(1);
  });

  it('W47: none begins while a user waits for the network', async () => {
    const place = await open();
    const slow = await silentServer();
    const others = await Promise.all(
      [1, 2, 3, 4, 5].map(async (n) => {
        const path = await place.lab.repository(`user ${n}`);
        await git(path, 'remote', 'add', 'origin', `git://127.0.0.1:${slow.port}/${n}`);
        return path;
      }),
    );
    const stop = new AbortController();
    const users = others.map((path) => outcomeOf(place.service.actions.fetch(path, stop.signal)));
    await vi.waitFor(() => expect(slow.connections()).toBe(4), patience);
    const theirs = await place.pushed();
    for (let turn = 0; turn < 5; turn += 1) {
      await place.snapshot();
      place.clock.advance(everyMs);
    }
    // A look takes several commands, in which a fetch would have ended.
    for (let turn = 0; turn < 3; turn += 1) await place.snapshot();
    expect(await tracking(place.repo)).toBeNull();
    stop.abort();
    expect(await Promise.all(users)).toEqual(Array(5).fill('aborted'));
    await vi.waitFor(async () => expect(await tracking(place.repo)).toBe(theirs), patience);
  });

  it('a fetch that a user asks for waits for ours in the same repository, and ends with its caller', async () => {
    const place = await open();
    const slow = await silentServer();
    await git(place.repo, 'remote', 'set-url', 'origin', `git://127.0.0.1:${slow.port}/x`);
    await passing(place, async () => expect(slow.connections()).toBe(1));
    const stop = new AbortController();
    const user = outcomeOf(place.service.actions.fetch(place.repo, stop.signal));
    await place.snapshot();
    expect(slow.connections()).toBe(1);
    stop.abort();
    expect(await user).toBe('aborted');
  });

  it('none begins while a user fetches a repository that nobody had asked about before', async () => {
    const place = await open();
    const slow = await silentServer();
    await git(place.repo, 'remote', 'set-url', 'origin', `git://127.0.0.1:${slow.port}/x`);
    const stop = new AbortController();
    const user = outcomeOf(place.service.actions.fetch(place.repo, stop.signal));
    await vi.waitFor(() => expect(slow.connections()).toBe(1), patience);
    for (let turn = 0; turn < 5; turn += 1) {
      await place.snapshot();
      place.clock.advance(everyMs);
    }
    for (let turn = 0; turn < 3; turn += 1) await place.snapshot();
    expect(slow.connections()).toBe(1);
    stop.abort();
    expect(await user).toBe('aborted');
    await passing(place, async () => expect(slow.connections()).toBe(2));
  });

  it('ends with the service, in the middle of a fetch', async () => {
    const place = await open();
    const slow = await silentServer();
    await git(place.repo, 'remote', 'set-url', 'origin', `git://127.0.0.1:${slow.port}/x`);
    await passing(place, async () => expect(slow.connections()).toBe(1));
    await place.service.close();
    expect(place.clock.pending).toBe(0);
    await vi.waitFor(() => expect(slow.open()).toBe(0), patience);
  });

  it('is put off twice as long by each failure, up to an hour, and never comes in step', () => {
    expect([0, 1, 2, 3].map((failures) => nextFetchDelay(everyMs, failures, 0.5) / minute)).toEqual([
      3, 6, 12, 24,
    ]);
    for (const failures of [5, 16, 1000]) expect(nextFetchDelay(everyMs, failures, 0.5)).toBe(60 * minute);
    expect(nextFetchDelay(120 * minute, 9, 0.5)).toBe(120 * minute);
    expect([0, 1].map((chance) => Math.round(nextFetchDelay(10_000, 0, chance)))).toEqual([8000, 12_000]);
  });
});

/** Accepts connections and never says anything. */
async function silentServer(): Promise<{ port: number; connections(): number; open(): number }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    open: () => sockets.size,
  };
}
