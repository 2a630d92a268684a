import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createFeed } from '../../src/events/feed.ts';
import { snapshotSchema } from '../../src/http/snapshot-schema.ts';
import type { Service, ServiceOptions } from '../../src/service.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';
import { type ActionLab, createActionLab } from '../actions/action-lab.ts';
import { type EventStream, openEvents, type StreamBlock } from '../support/event-stream.ts';
import { git } from '../support/git.ts';
import { type RunningServer, type StartOptions, startServer, testToken } from '../support/http-server.ts';
import { kernelWatches } from '../support/kernel-watches.ts';
import { MadeUpSource } from '../support/made-up-source.ts';
import { memoryService } from '../support/memory-service.ts';
import { testBinding } from '../support/test-binding.ts';
import { TestClock } from '../support/test-clock.ts';

const patience = { timeout: 20_000, interval: 50 };
const quick = { gatherMs: 20, restMs: 20 };

interface Place extends AsyncDisposable {
  readonly lab: ActionLab;
  readonly server: RunningServer;
}

async function open(options: ServiceOptions = {}, app: StartOptions = {}): Promise<Place> {
  const lab = await createActionLab({ events: quick, ...options });
  const server = await startServer(lab.service, app);
  return {
    lab,
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await lab[Symbol.asyncDispose]();
    },
  };
}

const isSnapshot =
  (facts: object) =>
  ({ event, data }: StreamBlock): boolean => {
    if (event !== 'snapshot') return false;
    try {
      expect(data).toMatchObject(facts);
      return true;
    } catch {
      return false;
    }
  };

/** Reads the head of a stream and what it tells first. */
async function begin(stream: EventStream, cwd: string): Promise<StreamBlock> {
  const told = await stream.until(isSnapshot({ cwd }));
  expect(snapshotSchema.safeParse(told.data).error?.issues ?? []).toEqual([]);
  return told;
}

function connectionsOf({ server }: RunningServer): Promise<number> {
  return new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
}

describe('GET /events', () => {
  let place: Place;
  let repo: string;
  let other: string;
  let server: RunningServer;
  beforeAll(async () => {
    place = await open();
    server = place.server;
    repo = await place.lab.repository('repo');
    other = await place.lab.repository('other');
  });
  afterAll(() => place[Symbol.asyncDispose]());
  const openStream = async (
    ...words: Parameters<typeof openEvents> extends [unknown, ...infer Rest] ? Rest : never
  ) => {
    const stream = await openEvents(server, ...words);
    onTestFinished(() => stream.leave());
    return stream;
  };

  it('run-sse: R41: begins as existing clients know it', async () => {
    const stream = await openStream(null, { connection: 'keep-alive' });
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      connection: 'keep-alive',
    });
    expect(await stream.next()).toMatchObject({ retry: '5000', comments: ['connected'] });
  });

  it('R41: without selectors it tells of what the caller asks about, as existing clients expect', async () => {
    const stream = await openStream(null);
    await server.send({ method: 'POST', path: '/snapshots', json: { cwds: [repo] } });
    await begin(stream, repo);
    const name = join(repo, `asked-${Date.now()}`);
    await writeFile(name, '');
    const told = await stream.until(isSnapshot({ cwd: repo, isGit: true, branch: 'main' }));
    expect(told.id).toMatch(/^[0-9a-f]{12}-\d+$/);
    expect(told.data).toMatchObject({ at: expect.any(Number) });
    const guest = await openEvents(server, null, { authorization: 'Bearer guest' });
    onTestFinished(() => guest.leave());
    await server.send({ path: `/snapshot?cwd=${encodeURIComponent(other)}` });
    await begin(stream, other);
    await server.send({
      path: `/snapshot?cwd=${encodeURIComponent(repo)}`,
      headers: { authorization: 'Bearer guest' },
    });
    expect((await guest.until(({ event }) => event === 'snapshot')).data).toMatchObject({ cwd: repo });
    await server.send({
      path: `/actions?cwd=${encodeURIComponent(other)}`,
      headers: { authorization: 'Bearer guest' },
    });
    expect((await guest.until(({ event }) => event === 'snapshot')).data).toMatchObject({ cwd: other });
  });

  it('R41: what happened while nobody was connected is told again behind Last-Event-ID', async () => {
    const first = await openStream([other]);
    const { id } = await begin(first, other);
    first.leave();
    await first.ended();
    await git(other, 'checkout', '-q', '-b', 'meanwhile');
    const observer = await openStream([other]);
    await observer.until(isSnapshot({ branch: 'meanwhile' }));
    const again = await openStream([other], { 'last-event-id': id as string });
    const told = await again.until(({ event }) => event !== null);
    expect(told.event).toBe('snapshot');
    const all = [told];
    while (!isSnapshot({ branch: 'meanwhile' })(all.at(-1) as StreamBlock))
      all.push(await again.until(({ event }) => event !== null));
    expect(all.every(({ event }) => event === 'snapshot')).toBe(true);
  });

  it('R41: an id that is not known any more gets rescan, and the state', async () => {
    const stream = await openStream([repo, other], { 'last-event-id': 'of-another-server' });
    const rescan = await stream.until(({ event }) => event !== null);
    expect(rescan).toMatchObject({
      event: 'rescan',
      id: null,
      data: { cwds: [repo, other], reason: 'window' },
    });
    await begin(stream, repo);
  });

  it('R02: a selector that is not authorised fails the request like any other, or is told of with partial', async () => {
    const outside = join(place.lab.place, 'outside');
    const cwds = encodeURIComponent(JSON.stringify([repo, outside]));
    const answer = await server.send({ path: `/events?cwds=${cwds}` });
    expect([answer.status, answer.body?.['error'], answer.body?.['details']]).toEqual([
      403,
      'workspace not authorized',
      { index: 1 },
    ]);
    const stream = await openStream([outside, repo], {}, '&partial=1');
    const refused = await stream.until(({ event }) => event !== null);
    expect(refused).toMatchObject({
      event: 'refused',
      data: { cwd: outside, ok: false, code: 'workspace_not_authorized', status: 403 },
    });
    await begin(stream, repo);
  });

  it.each([
    '/events?cwds=',
    '/events?cwds=/x',
    '/events?cwds={}',
    '/events?cwds=[]',
    '/events?cwds=[1]',
    '/events?cwds=[""]',
    '/events?cwds=["/x%00"]',
    '/events?cwds=["/x"]&cwds=["/y"]',
    '/events?partial=yes',
    '/events?cwd=/x',
  ])('R41: GET %s is refused with its shape', async (path) => {
    const answer = await server.send({ path });
    expect([answer.status, answer.body?.['code'], answer.body?.['ok']]).toEqual([
      400,
      'invalid_request',
      false,
    ]);
  });

  it.each([
    ['another Host', { host: 'evil.test' }, 403, 'host_not_allowed'],
    ['another Origin', { origin: 'https://evil.test' }, 403, 'same_origin_required'],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403, 'same_origin_required'],
    ['no credentials', { authorization: null }, 401, 'authentication_required'],
    ['wrong credentials', { authorization: 'Bearer wrong' }, 401, 'authentication_required'],
  ])('R40, W48: %s gets no stream', async (_, headers, status, code) => {
    const answer = await server.send({ path: '/events', headers });
    expect([answer.status, answer.body?.['code']]).toEqual([status, code]);
    expect(answer.headers['content-type']).toContain('application/problem+json');
  });

  it('R05: a repository that is renamed away is refused in the stream, which ends when nothing is left', async () => {
    const lost = await place.lab.repository('lost');
    const stream = await openStream([lost]);
    await begin(stream, lost);
    await rename(lost, `${lost}-away`);
    await writeFile(join(`${lost}-away`, 'new'), '');
    const refused = await stream.until(({ event }) => event !== null && event !== 'rescan');
    expect(refused).toMatchObject({
      event: 'refused',
      data: { cwd: lost, code: 'workspace_not_authorized' },
    });
    expect(await stream.next()).toBeNull();
  });

  it('R02: a workspace that is taken off the registry is told of no more', async () => {
    const removed = await place.lab.repository('removed');
    const stream = await openStream([removed]);
    await begin(stream, removed);
    await place.lab.service.workspaces?.remove(removed);
    await writeFile(join(removed, 'new'), '');
    expect(await stream.until(({ event }) => event !== null)).toMatchObject({
      event: 'refused',
      data: { cwd: removed },
    });
    expect(await stream.next()).toBeNull();
  });
});

describe('limits of GET /events', () => {
  it('one hundred clients on one repository cost one watch of each directory', async () => {
    await using place = await open({ events: { ...quick, streamsPerSubject: 100 } });
    const repo = await place.lab.repository('repo');
    const first = await openEvents(place.server, [repo]);
    await begin(first, repo);
    let watches = -1;
    await vi.waitFor(
      async () => {
        const now = await kernelWatches();
        const same = now === watches;
        watches = now;
        expect(same).toBe(true);
      },
      { timeout: 20_000, interval: 500 },
    );
    const rest = await Promise.all(Array.from({ length: 99 }, () => openEvents(place.server, [repo])));
    for (const stream of rest) await begin(stream, repo);
    expect(await kernelWatches()).toBe(watches);
    const over = await place.server.send({ path: '/events' });
    expect([over.status, over.body?.['error'], over.headers['retry-after']]).toEqual([
      503,
      'too many event streams',
      expect.any(String),
    ]);
    await writeFile(join(repo, 'new'), '');
    for (const stream of [first, ...rest]) await stream.until(isSnapshot({ untrackedCount: 1 }));
    for (const stream of rest) stream.leave();
    await vi.waitFor(async () => {
      const again = await openEvents(place.server, [repo]);
      again.leave();
      expect(again.status).toBe(200);
    }, patience);
  });

  it('a heartbeat comes every 25 s', async () => {
    const clock = new TestClock();
    await using place = await open({ clock });
    const repo = await place.lab.repository('repo');
    const stream = await openEvents(place.server, [repo]);
    const position = await stream.until(({ id }) => id !== null);
    clock.advance(24_000);
    await begin(stream, repo);
    for (let beat = 0; beat < 2; beat += 1) {
      clock.advance(25_000);
      const block = await stream.until(({ comments }) => comments.length > 0);
      expect(block.comments).toEqual(['hb']);
      expect(block.id).not.toBe(position.id);
    }
    stream.leave();
  });

  it('a client that does not read is disconnected at the limit', async () => {
    const source = new MadeUpSource<Snapshot>();
    const events = createFeed({ source });
    const service: Service = { ...memoryService(new Map()), events };
    await using server = await startServer(service);
    const socket = await server.connect();
    socket.pause();
    const cwds = encodeURIComponent('["/a"]');
    socket.write(
      `GET /api/events?cwds=${cwds} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${testToken}\r\n\r\n`,
    );
    await vi.waitFor(() => expect(source.listeners.size).toBe(1), patience);
    const reader = await openEvents(server, ['/a']);
    const bytes = 128 * 1024;
    let sent = 0;
    // What the kernel takes for the connection comes before what waits here; both are far less than this.
    while ((await connectionsOf(server)) > 1 && sent < 1600) {
      source.change('/a', { cwd: 'x'.repeat(bytes), isGit: false, at: sent });
      await reader.until(isSnapshot({ at: sent }));
      sent += 1;
    }
    expect(await connectionsOf(server)).toBe(1);
    expect(sent * bytes).toBeGreaterThan(1024 * 1024);
    reader.leave();
    socket.destroy();
    events.close();
    expect(source.listeners.size).toBe(0);
  });

  it('credentials that end take the stream with them', async () => {
    const clock = new TestClock();
    let valid = true;
    const authenticate = () => (valid ? { subject: 'operator', operator: true } : null);
    await using place = await open({ clock }, { authenticate });
    const repo = await place.lab.repository('repo');
    const stream = await openEvents(place.server, [repo]);
    await stream.until(({ id }) => id !== null);
    clock.advance(1);
    await begin(stream, repo);
    valid = false;
    clock.advance(25_000);
    const last = await stream.until(({ event }) => event !== null);
    expect(last).toMatchObject({ event: 'refused', data: { cwd: null, code: 'authentication_required' } });
    expect(await stream.next()).toBeNull();
  });

  it.each([
    ['another caller', () => ({ subject: 'somebody', operator: true })],
    [
      'an authentication that fails',
      () => {
        throw new Error('down');
      },
    ],
  ])('R04: %s on the same credentials ends the stream', async (_, later) => {
    const clock = new TestClock();
    let asked: () => { subject: string; operator: boolean } = () => ({ subject: 'operator', operator: true });
    await using place = await open({ clock }, { authenticate: () => asked() });
    const repo = await place.lab.repository('repo');
    const stream = await openEvents(place.server, [repo]);
    await stream.until(({ id }) => id !== null);
    asked = later;
    clock.advance(25_000);
    expect(await stream.until(({ event }) => event !== null)).toMatchObject({ event: 'refused' });
    expect(await stream.next()).toBeNull();
  });
});

describe('the end of streams', () => {
  it('a drain ends all streams at once, and nothing of them is left', async () => {
    const watches = await kernelWatches();
    const handles = testBinding.openHandles();
    {
      await using place = await open();
      const repo = await place.lab.repository('repo');
      const streams = await Promise.all(
        [[repo], [repo], null].map((asked) => openEvents(place.server, asked)),
      );
      await begin(streams[0] as EventStream, repo);
      await writeFile(join(repo, 'new'), '');
      await place.server.app.drain({ graceMs: 60_000 });
      for (const stream of streams) await stream.ended();
      const after = await place.server.send({ path: '/events' });
      expect([after.status, after.body?.['code']]).toEqual([503, 'shutting_down']);
    }
    expect([await kernelWatches(), testBinding.openHandles()]).toEqual([watches, handles]);
  });

  it('clients that break off leave no connection and no watch, once the selector was followed on for a while', async () => {
    await using place = await open({ events: { ...quick, lingerMs: 20 } });
    const repo = await place.lab.repository('repo');
    const before = await kernelWatches();
    for (let round = 0; round < 5; round += 1) {
      const streams = await Promise.all(Array.from({ length: 8 }, () => openEvents(place.server, [repo])));
      await begin(streams[round] as EventStream, repo);
      for (const stream of streams) stream.leave();
    }
    await vi.waitFor(async () => {
      expect(await connectionsOf(place.server)).toBe(0);
      // The kept snapshot has one, as after any batch.
      expect((await kernelWatches()) - before).toBeLessThanOrEqual(1);
    }, patience);
  });

  it('the end of the service breaks what still streams', async () => {
    await using place = await open();
    const repo = await place.lab.repository('repo');
    const stream = await openEvents(place.server, [repo]);
    await begin(stream, repo);
    await place.lab.service.close();
    await stream.ended();
  });
});
