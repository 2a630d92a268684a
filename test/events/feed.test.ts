import { describe, expect, it } from 'vitest';
import { AuthorityError } from '../../src/errors/index.ts';
import type { EventLimits, Events, SubscribeRequest } from '../../src/events/events.ts';
import { createFeed } from '../../src/events/feed.ts';
import type { FeedEvent } from '../../src/events/feed-event.ts';
import type { Subscription } from '../../src/events/subscription.ts';
import { MadeUpSource } from '../support/made-up-source.ts';
import { TestClock } from '../support/test-clock.ts';

function makeFeed(limits: Partial<EventLimits> = {}) {
  const source = new MadeUpSource<string>();
  const clock = new TestClock();
  const events: Events<string> = createFeed({ source, clock, limits });
  const subscribe = (request: Partial<SubscribeRequest> = {}, signal?: AbortSignal) =>
    events.subscribe({ subject: 'me', selectors: ['/a'], ...request }, signal);
  return { source, clock, events, subscribe };
}

/** The next events, told shortly. */
async function take(subscription: Subscription<string>, count: number): Promise<readonly string[]> {
  const told: string[] = [];
  while (told.length < count) {
    const { done, value } = await subscription.next();
    if (done) return [...told, 'end'];
    told.push(tell(value));
  }
  return told;
}

function tell(event: FeedEvent<string>): string {
  if (event.kind === 'change') return `${event.selector} ${event.value}`;
  if (event.kind === 'rescan') return `rescan ${event.selectors.join()} ${event.reason}`;
  return event.kind === 'refused' ? `refused ${event.selector} ${event.error.code}` : 'pulse';
}

/** The id that a client would send next time: the last one it got. */
async function idAfter(subscription: Subscription<string>, count: number): Promise<string> {
  let id = '';
  for (let index = 0; index < count; index += 1) {
    const { done, value } = await subscription.next();
    if (!done && value.id !== null) id = value.id;
  }
  return id;
}

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'ok',
    (error: AuthorityError) => error.code,
  );

describe('subscribing', () => {
  it('tells the state first, then each change, in order, with ids that grow', async () => {
    const { source, subscribe } = makeFeed();
    const first = await subscribe();
    source.change('/a', 'one');
    source.change('/a', 'two');
    expect(await take(first, 3)).toEqual(['pulse', '/a one', '/a two']);
    const second = await subscribe();
    expect(await take(second, 2)).toEqual(['/a two', 'pulse']);
    source.change('/a', 'three');
    for (const each of [first, second]) expect(await take(each, 1)).toEqual(['/a three']);
  });

  it('one hundred subscriptions to one selector follow it once', async () => {
    const { source, subscribe } = makeFeed({ streamsPerSubject: 100 });
    const all = await Promise.all(Array.from({ length: 100 }, () => subscribe()));
    expect(source.followed).toBe(1);
    source.change('/a', 'one');
    for (const each of all) expect(await take(each, 2)).toEqual(['pulse', '/a one']);
  });

  it('R01: tells nothing about what was not subscribed to', async () => {
    const { source, subscribe } = makeFeed();
    const a = await subscribe();
    await subscribe({ selectors: ['/b'] });
    source.change('/b', 'secret');
    source.change('/a', 'one');
    expect(await take(a, 2)).toEqual(['pulse', '/a one']);
  });

  it('R02: the first selector that fails fails all, with its position; partial tells of each', async () => {
    const { source, subscribe } = makeFeed();
    source.refused.set('/no', 'workspace_not_authorized');
    const selectors = ['/a', '/a', '/no'];
    await expect(subscribe({ selectors })).rejects.toMatchObject({
      code: 'workspace_not_authorized',
      details: { index: 2 },
    });
    expect(source.followed).toBe(0);
    const partial = await subscribe({ selectors, partial: true });
    expect(await take(partial, 2)).toEqual(['refused /no workspace_not_authorized', 'pulse']);
    const nothing = await subscribe({ selectors: ['/no'], partial: true });
    expect(await take(nothing, 3)).toEqual(['refused /no workspace_not_authorized', 'pulse', 'end']);
  });

  it.each([
    [{ streams: 2 }, 'streams'],
    [{ streamsPerSubject: 2 }, 'streams of the caller'],
    [{ selectorsPerSubject: 2 }, 'selectors of the caller'],
  ])('R41: no more than %j, and a place that is given back is free', async (limits, what) => {
    const { subscribe } = makeFeed(limits);
    const [first] = [await subscribe(), await subscribe()];
    await expect(subscribe()).rejects.toMatchObject({
      code: 'too_many_event_streams',
      details: { what, limit: 2 },
    });
    await first[Symbol.asyncDispose]();
    await subscribe();
  });

  it('the share of one subject is none of another, and a refused subscription takes none', async () => {
    const { source, subscribe } = makeFeed({ streamsPerSubject: 1, selectorsPerSubject: 1 });
    source.refused.set('/no', 'workspace_not_authorized');
    expect(await codeOf(subscribe({ selectors: ['/no'] }))).toBe('workspace_not_authorized');
    expect(await codeOf(subscribe())).toBe('ok');
    expect(await codeOf(subscribe())).toBe('too_many_event_streams');
    expect(await codeOf(subscribe({ subject: 'you' }))).toBe('ok');
  });

  it('follows no more selectors than its limit, and gives up for a new one what nobody follows any more', async () => {
    const { source, subscribe } = makeFeed({ followed: 2 });
    const first = await subscribe({ selectors: ['/a', '/b'] });
    expect(await codeOf(subscribe({ selectors: ['/c'] }))).toBe('too_many_event_streams');
    expect(await codeOf(subscribe({ selectors: Array.from({ length: 201 }, (_, n) => `/${n}`) }))).toBe(
      'too_many_workspaces',
    );
    await first.return?.();
    await subscribe({ selectors: ['/c'] });
    expect(source.listeners.size).toBe(2);
  });

  it('a caller that left before it was answered has subscribed to nothing', async () => {
    const { source, clock, subscribe } = makeFeed();
    const leaving = new AbortController();
    const left = codeOf(subscribe({}, leaving.signal));
    leaving.abort();
    expect(await left).toBe('aborted');
    expect([source.followed, clock.pending]).toEqual([0, 0]);
  });
});

describe('going on behind an event', () => {
  it('tells again what happened since, also while nobody was subscribed', async () => {
    const { source, subscribe } = makeFeed();
    const first = await subscribe();
    source.change('/a', 'one');
    const id = await idAfter(first, 2);
    await first.return?.();
    source.change('/a', 'two');
    source.change('/a', 'three');
    const again = await subscribe({ lastEventId: id });
    expect(await take(again, 3)).toEqual(['/a two', '/a three', 'pulse']);
    const lastEventId = await idAfter(await subscribe(), 2);
    expect(await take(await subscribe({ lastEventId }), 1)).toEqual(['pulse']);
  });

  it('says rescan, and the state, once the window was left', async () => {
    for (const limits of [{ windowEvents: 2 }, { windowCharacters: 20 }]) {
      const { source, subscribe } = makeFeed(limits);
      const first = await subscribe();
      source.change('/a', 'value 1');
      const lastEventId = await idAfter(first, 2);
      source.change('/a', 'value 2');
      source.change('/a', 'value 3');
      expect(await take(await subscribe({ lastEventId }), 3)).toEqual(['/a value 2', '/a value 3', 'pulse']);
      source.change('/a', 'value 4');
      expect(await take(await subscribe({ lastEventId }), 3)).toEqual([
        'rescan /a window',
        '/a value 4',
        'pulse',
      ]);
    }
  });

  it('says rescan where the selector was not followed all the time', async () => {
    const { source, clock, subscribe } = makeFeed({ lingerMs: 1000 });
    const first = await subscribe();
    source.change('/a', 'one');
    const lastEventId = await idAfter(first, 2);
    await first.return?.();
    clock.advance(1001);
    expect(source.listeners.size).toBe(0);
    const again = await subscribe({ lastEventId, selectors: ['/a'] });
    expect(await take(again, 2)).toEqual(['rescan /a window', 'pulse']);
    source.change('/a', 'one');
    expect(await take(again, 1)).toEqual(['/a one']);
  });

  it.each(['', 'x', '000000000000-1', '-1', '1', `${'f'.repeat(12)}-99999999999999999999`])(
    'says rescan for the id %j of another server, or of none',
    async (lastEventId) => {
      const { subscribe } = makeFeed();
      expect(await take(await subscribe({ lastEventId }), 2)).toEqual(['rescan /a window', 'pulse']);
    },
  );

  it('an id that was not given out yet is none', async () => {
    const { source, subscribe } = makeFeed();
    const first = await subscribe();
    source.change('/a', 'one');
    const id = await idAfter(first, 2);
    const ahead = id.replace(/\d+$/, (digits) => String(Number(digits) + 1));
    expect(await take(await subscribe({ lastEventId: ahead }), 1)).toEqual(['rescan /a window']);
  });
});

describe('authority', () => {
  it('R06: what waits is proven again when it is read; one refusal, and no more', async () => {
    const { source, subscribe } = makeFeed();
    const stream = await subscribe({ selectors: ['/a', '/b'] });
    source.change('/a', 'one');
    source.change('/a', 'two');
    source.refused.set('/a', 'workspace_not_authorized');
    source.change('/b', 'one');
    expect(await take(stream, 3)).toEqual(['pulse', '/b one', 'refused /a workspace_not_authorized']);
    expect(source.listeners.has('/a')).toBe(false);
    source.change('/a', 'three');
    source.change('/b', 'two');
    expect(await take(stream, 1)).toEqual(['/b two']);
  });

  it('R04: what cannot be proven now is not told, and said to be missing', async () => {
    const { source, subscribe } = makeFeed();
    const stream = await subscribe();
    source.refused.set('/a', 'registry_unavailable');
    source.change('/a', 'one');
    expect(await take(stream, 2)).toEqual(['pulse', 'rescan /a registry_unavailable']);
    source.refused.clear();
    source.change('/a', 'two');
    expect(await take(stream, 1)).toEqual(['/a two']);
  });

  it('R06: a refusal that the source finds ends the subscription when nothing is left of it', async () => {
    const { source, clock, subscribe } = makeFeed();
    const stream = await subscribe();
    source.listeners.get('/a')?.onRefused(new AuthorityError('workspace_not_authorized'));
    expect(await take(stream, 3)).toEqual(['pulse', 'refused /a workspace_not_authorized', 'end']);
    expect([source.listeners.size, clock.pending]).toEqual([0, 0]);
  });
});

describe('what is asked about', () => {
  it('R41: a subscription without selectors follows what its subject asks about, for three minutes', async () => {
    const { source, clock, events, subscribe } = makeFeed();
    events.note('me', ['/a']);
    const stream = await subscribe({ selectors: null });
    events.note('me', ['/b']);
    events.note('you', ['/c']);
    for (const selector of ['/a', '/b', '/c']) source.change(selector, 'one');
    expect(await take(stream, 3)).toEqual(['pulse', '/a one', '/b one']);
    clock.advance(170_000);
    events.note('me', ['/a']);
    clock.advance(30_000);
    expect(await take(stream, 1)).toEqual(['pulse']);
    source.change('/b', 'two');
    source.change('/a', 'two');
    const later: string[] = [];
    while (!later.includes('/a two')) later.push(...(await take(stream, 1)));
    expect(later.filter((told) => told !== 'pulse')).toEqual(['/a two']);
  });

  it('remembers the latest 200 selectors of a subject', async () => {
    const { events, source, subscribe } = makeFeed();
    for (let n = 0; n < 300; n += 1) events.note('me', [`/${n}`]);
    await subscribe({ selectors: null });
    expect([...source.listeners.keys()][0]).toBe('/100');
    expect(source.followed).toBe(200);
  });
});

describe('reading', () => {
  it('who does not read loses the subscription at the limit, and no memory is kept for it', async () => {
    const { source, clock, subscribe } = makeFeed({ unreadCharacters: 100_000 });
    const slow = await subscribe();
    const quick = await subscribe();
    await take(quick, 1);
    let sent = 0;
    while (!slow.ended.aborted && sent < 1000) {
      source.change('/a', `${sent} ${'x'.repeat(1000)}`);
      sent += 1;
      await take(quick, 1);
    }
    expect(sent).toBeGreaterThan(50);
    expect(sent).toBeLessThan(100);
    await expect(slow.next()).rejects.toMatchObject({ code: 'events_unread' });
    expect(await slow.next()).toEqual({ done: true, value: undefined });
    await quick.return?.();
    clock.advance(60_001);
    expect([source.listeners.size, clock.pending]).toEqual([0, 0]);
  });

  it('a pulse comes every 25 s to who has read everything, and moves the id on', async () => {
    const { source, clock, subscribe } = makeFeed();
    const stream = await subscribe();
    const other = await subscribe({ selectors: ['/b'] });
    await take(stream, 1);
    clock.advance(24_999);
    source.change('/b', 'one');
    clock.advance(1);
    const { value } = await stream.next();
    expect(value).toMatchObject({ kind: 'pulse' });
    clock.advance(50_000);
    expect(await take(other, 2)).toEqual(['pulse', '/b one']);
    const again = await subscribe({ lastEventId: value.id });
    expect(await take(again, 1)).toEqual(['pulse']);
  });

  it('ends with its signal, with a break, and with the service; no timer and nothing followed is left', async () => {
    const { source, clock, events, subscribe } = makeFeed();
    const leaving = new AbortController();
    const [left, broken, closed] = [
      await subscribe({}, leaving.signal),
      await subscribe(),
      await subscribe(),
    ];
    const waiting = take(left, 2);
    leaving.abort();
    expect(await waiting).toEqual(['end']);
    for await (const _ of broken) break;
    await take(closed, 1);
    const end = codeOf(closed.next());
    events.close();
    expect(await end).toBe('shutting_down');
    expect(await codeOf(subscribe())).toBe('shutting_down');
    expect([source.listeners.size, clock.pending]).toEqual([0, 0]);
  });
});
