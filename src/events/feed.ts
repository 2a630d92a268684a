import { AuthorityError, endsAuthority, isAuthorityError } from '../errors/index.ts';
import { AskedSelectors } from './asked-selectors.ts';
import { type Clock, systemClock } from './clock.ts';
import { EventLog, type LoggedEvent } from './event-log.ts';
import { defaultEventLimits, type EventLimits, type Events, type SubscribeRequest } from './events.ts';
import type { FeedEvent, Progress, RescanReason } from './feed-event.ts';
import { Shares, tooMany } from './shares.ts';
import type { EventSource, Following } from './source.ts';
import { EventQueue, type Subscription } from './subscription.ts';

export interface FeedOptions<Value> {
  readonly source: EventSource<Value>;
  readonly limits?: Partial<EventLimits>;
  readonly clock?: Clock;
}

/** Selectors of one subscription; as many as of a batch of snapshots. */
const mostSelectors = 200;

/** How long a subscription follows what its subject asked about. */
const askedMs = 180_000;

export function createFeed<Value>(options: FeedOptions<Value>): Events<Value> {
  return new Feed(options);
}

/** A selector that is followed, once for all subscriptions to it. */
interface Topic<Value> {
  readonly selector: string;
  readonly streams: Set<Stream<Value>>;
  /** Everything that happened to it after this number is in the log, unless the log forgot it. */
  readonly since: number;
  /** What was told of it last. */
  last: LoggedEvent<Value> | null;
  following: Following | null;
  stopLinger: (() => void) | null;
}

interface Stream<Value> {
  readonly subject: string;
  readonly queue: EventQueue<Value>;
  readonly follows: Set<string>;
  /** Follows what its subject asks about. */
  readonly asking: boolean;
}

class Feed<Value> implements Events<Value> {
  readonly #source: EventSource<Value>;
  readonly #limits: EventLimits;
  readonly #clock: Clock;
  readonly #log: EventLog<Value>;
  readonly #shares: Shares;
  readonly #asked = new AskedSelectors(askedMs);
  readonly #topics = new Map<string, Topic<Value>>();
  readonly #streams = new Set<Stream<Value>>();
  #stopPulse: (() => void) | null = null;
  #closed = false;

  constructor({ source, limits = {}, clock = systemClock }: FeedOptions<Value>) {
    this.#source = source;
    this.#clock = clock;
    this.#limits = { ...defaultEventLimits, ...limits };
    const { windowEvents, windowCharacters } = this.#limits;
    this.#log = new EventLog({ events: windowEvents, characters: windowCharacters });
    this.#shares = new Shares(this.#limits);
  }

  async subscribe(request: SubscribeRequest, signal?: AbortSignal): Promise<Subscription<Value>> {
    const { subject, selectors, partial = false } = request;
    this.#assertOpen(signal);
    const asking = selectors === null;
    const wanted = [...new Set(selectors ?? this.#asked.of(subject, this.#clock.now()))];
    if (wanted.length > mostSelectors)
      throw new AuthorityError('too_many_workspaces', { details: { limit: mostSelectors } });
    this.#shares.open(subject, wanted.length);
    try {
      const refusals = await this.#source.prove(wanted, signal);
      this.#assertOpen(signal);
      if (!partial && !asking) throwFirst(refusals, wanted, selectors);
      const allowed = wanted.filter((_, index) => refusals[index] === null);
      this.#assertRoom(allowed);
      this.#shares.shrink(subject, wanted.length - allowed.length);
      // From here to the end nothing waits, so that no event falls between what is told now and what is told later.
      const stream = this.#open(subject, asking, signal);
      if (!asking) this.#tellRefused(stream, wanted, refusals);
      this.#tellFirst(stream, allowed, request.lastEventId);
      if (!asking && allowed.length === 0) stream.queue.complete();
      return stream.queue;
    } catch (error) {
      this.#shares.shrink(subject, wanted.length);
      this.#shares.close(subject);
      throw error;
    }
  }

  note(subject: string, selectors: readonly string[]): void {
    if (this.#closed) return;
    this.#asked.note(subject, selectors, this.#clock.now());
    for (const stream of this.#streams) {
      if (!stream.asking || stream.subject !== subject) continue;
      for (const selector of selectors) this.#followAsked(stream, selector);
    }
  }

  tellProgress(selector: string, progress: Progress): void {
    for (const { queue } of this.#topics.get(selector)?.streams ?? [])
      queue.push({ kind: 'progress', id: null, selector, progress });
  }

  close(): void {
    this.#closed = true;
    for (const { queue } of [...this.#streams]) queue.end(new AuthorityError('shutting_down'));
    for (const topic of [...this.#topics.values()]) this.#drop(topic);
    this.#stopPulse?.();
    this.#stopPulse = null;
  }

  #assertOpen(signal?: AbortSignal): void {
    if (this.#closed) throw new AuthorityError('shutting_down');
    if (signal?.aborted) throw new AuthorityError('aborted', { cause: signal.reason });
  }

  #open(subject: string, asking: boolean, signal?: AbortSignal): Stream<Value> {
    const onAbort = () => queue.end(null);
    const follows = new Set<string>();
    const queue: EventQueue<Value> = new EventQueue<Value>(this.#limits.unreadCharacters, {
      admit: (event) => this.#admit(stream, event),
      onEnd: () => {
        signal?.removeEventListener('abort', onAbort);
        this.#end(stream);
      },
    });
    const stream: Stream<Value> = { subject, queue, follows, asking };
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#streams.add(stream);
    this.#stopPulse ??= this.#clock.after(this.#limits.pulseMs, () => this.#pulse());
    return stream;
  }

  #end(stream: Stream<Value>): void {
    if (!this.#streams.delete(stream)) return;
    this.#shares.shrink(stream.subject, stream.follows.size);
    this.#shares.close(stream.subject);
    for (const selector of stream.follows) this.#part(stream, selector);
    stream.follows.clear();
    if (this.#streams.size > 0) return;
    this.#stopPulse?.();
    this.#stopPulse = null;
  }

  #tellRefused(
    { queue }: Stream<Value>,
    wanted: readonly string[],
    refusals: readonly (AuthorityError | null)[],
  ): void {
    for (const [index, error] of refusals.entries()) {
      if (error !== null) queue.push({ kind: 'refused', id: null, selector: wanted[index] as string, error });
    }
  }

  /** The state of what is new to the subscriber, and what happened since its last event to what is not. */
  #tellFirst(stream: Stream<Value>, selectors: readonly string[], lastEventId: string | undefined): void {
    const from = lastEventId === undefined ? null : this.#log.find(lastEventId);
    const told: LoggedEvent<Value>[] = [];
    const continued = new Set<string>();
    for (const selector of selectors) {
      const known = this.#topics.get(selector);
      const topic = this.#join(stream, selector);
      if (known !== undefined && from !== null && known.since <= from) continued.add(selector);
      else if (topic.last !== null) told.push(topic.last);
    }
    if (from !== null) told.push(...this.#log.after(from).filter(({ selector }) => continued.has(selector)));
    const unknown = selectors.filter((selector) => !continued.has(selector));
    if (lastEventId !== undefined && (unknown.length > 0 || (stream.asking && from === null))) {
      stream.queue.push({ kind: 'rescan', id: null, selectors: unknown, reason: 'window' });
    }
    told.sort((left, right) => left.sequence - right.sequence);
    for (const { event } of told) stream.queue.push(event);
    stream.queue.push({ kind: 'pulse', id: this.#log.idOf(this.#log.sequence) });
  }

  /** @throws `too_many_event_streams` */
  #assertRoom(selectors: readonly string[]): void {
    const added = selectors.filter((selector) => !this.#topics.has(selector)).length;
    const idle = [...this.#topics.values()].filter(
      ({ streams, selector }) => streams.size === 0 && !selectors.includes(selector),
    ).length;
    const { followed } = this.#limits;
    if (this.#topics.size - idle + added > followed) throw tooMany('selectors', followed);
  }

  #join(stream: Stream<Value>, selector: string): Topic<Value> {
    const topic = this.#topics.get(selector) ?? this.#begin(selector);
    topic.stopLinger?.();
    topic.stopLinger = null;
    topic.streams.add(stream);
    stream.follows.add(selector);
    return topic;
  }

  #begin(selector: string): Topic<Value> {
    if (this.#topics.size >= this.#limits.followed) this.#dropIdle();
    const topic: Topic<Value> = {
      selector,
      streams: new Set(),
      since: this.#log.skip(),
      last: null,
      following: null,
      stopLinger: null,
    };
    this.#topics.set(selector, topic);
    topic.following = this.#source.follow(selector, {
      onChange: (value) => {
        const text = JSON.stringify(value);
        topic.last = this.#tell(topic, (id) => ({ kind: 'change', id, selector, value, text }));
      },
      onUnsure: (reason) => this.#tellUnsure(topic, reason),
      onRefused: (error) => this.#refuse(topic, error),
    });
    return topic;
  }

  #tell(topic: Topic<Value>, make: Parameters<EventLog<Value>['append']>[1]): LoggedEvent<Value> {
    const logged = this.#log.append(topic.selector, make);
    for (const { queue } of topic.streams) queue.push(logged.event);
    return logged;
  }

  #tellUnsure(topic: Topic<Value>, reason: RescanReason): void {
    this.#tell(topic, (id) => ({ kind: 'rescan', id, selectors: [topic.selector], reason }));
  }

  #refuse(topic: Topic<Value>, error: AuthorityError): void {
    const { selector } = topic;
    for (const stream of [...topic.streams]) {
      stream.queue.push({ kind: 'refused', id: null, selector, error });
      this.#unfollow(stream, selector);
      if (!stream.asking && stream.follows.size === 0) stream.queue.complete();
    }
    this.#drop(topic);
  }

  #unfollow(stream: Stream<Value>, selector: string): void {
    if (!stream.follows.delete(selector)) return;
    this.#shares.shrink(stream.subject, 1);
    this.#part(stream, selector);
  }

  /** Followed on for a while, so that a subscriber that comes again gets what happened meanwhile. */
  #part(stream: Stream<Value>, selector: string): void {
    const topic = this.#topics.get(selector);
    if (topic === undefined || !topic.streams.delete(stream) || topic.streams.size > 0) return;
    topic.stopLinger = this.#clock.after(this.#limits.lingerMs, () => this.#drop(topic));
  }

  #drop(topic: Topic<Value>): void {
    topic.stopLinger?.();
    topic.following?.close();
    topic.following = null;
    if (this.#topics.get(topic.selector) === topic) this.#topics.delete(topic.selector);
  }

  #dropIdle(): void {
    for (const topic of this.#topics.values()) {
      if (topic.streams.size > 0) continue;
      this.#drop(topic);
      return;
    }
  }

  #followAsked(stream: Stream<Value>, selector: string): void {
    if (stream.follows.has(selector) || stream.follows.size >= mostSelectors) return;
    const isIdle = ({ streams }: Topic<Value>) => streams.size === 0;
    const fits = this.#topics.size < this.#limits.followed || [...this.#topics.values()].some(isIdle);
    if ((!fits && !this.#topics.has(selector)) || !this.#shares.grow(stream.subject)) return;
    const { last } = this.#join(stream, selector);
    if (last !== null) stream.queue.push(last.event);
  }

  /** Proven again for each delivery: what waited may be about a place that was taken away since. */
  async #admit(stream: Stream<Value>, event: FeedEvent<Value>): Promise<FeedEvent<Value> | null> {
    if (event.kind !== 'change' && event.kind !== 'progress') return event;
    const { selector } = event;
    if (!stream.follows.has(selector)) return null;
    const error = await this.#proofOf(selector);
    if (error === null) return stream.follows.has(selector) ? event : null;
    if (!endsAuthority(error)) return { kind: 'rescan', id: null, selectors: [selector], reason: error.code };
    const topic = this.#topics.get(selector);
    if (topic !== undefined) this.#refuse(topic, error);
    return null;
  }

  async #proofOf(selector: string): Promise<AuthorityError | null> {
    try {
      const [error = null] = await this.#source.prove([selector]);
      return error;
    } catch (error) {
      return isAuthorityError(error) ? error : new AuthorityError('internal_error', { cause: error });
    }
  }

  #pulse(): void {
    this.#stopPulse = this.#clock.after(this.#limits.pulseMs, () => this.#pulse());
    const id = this.#log.idOf(this.#log.sequence);
    const now = this.#clock.now();
    for (const stream of [...this.#streams]) {
      if (stream.asking) this.#forgetUnasked(stream, now);
      // Who has not read what came before learns nothing from it.
      if (stream.queue.isEmpty) stream.queue.push({ kind: 'pulse', id });
    }
  }

  #forgetUnasked(stream: Stream<Value>, now: number): void {
    const asked = new Set(this.#asked.of(stream.subject, now));
    for (const selector of [...stream.follows]) if (!asked.has(selector)) this.#unfollow(stream, selector);
  }
}

function throwFirst(
  refusals: readonly (AuthorityError | null)[],
  wanted: readonly string[],
  selectors: readonly string[],
): void {
  const failed = refusals.findIndex((error) => error !== null);
  const error = refusals[failed];
  if (!error) return;
  const { code, details, legacy } = error;
  const index = selectors.indexOf(wanted[failed] as string);
  throw new AuthorityError(code, { details: { ...details, index }, legacy, cause: error });
}
