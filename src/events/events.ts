import type { Progress } from './feed-event.ts';
import type { Subscription } from './subscription.ts';

/** Tells subscribers of changes. */
export interface Events<Value> {
  /**
   * Authorises the selectors, then tells the state of each, every change of it, and what the subscriber has to know about gaps. With
   * `lastEventId` it goes on behind that event, for the same selectors: what happened since is told again, or `rescan` says that it is not
   * known. Each change is given out only while its selector is proven anew; one that is refused then gets a `refused` event and no more.
   *
   * Events that are not read are kept up to a limit (`events_unread` beyond it). The signal ends the subscription.
   * @throws `too_many_event_streams` (details.what, details.limit) | `too_many_workspaces` | as `Authority.authorize` for the first selector
   *   that fails, with details.index, unless `partial` | `aborted` | `shutting_down`
   */
  subscribe(request: SubscribeRequest, signal?: AbortSignal): Promise<Subscription<Value>>;
  /** The subject asked about these selectors and was answered: its subscriptions without selectors of their own follow them for 3 minutes. */
  note(subject: string, selectors: readonly string[]): void;
  /** Tells those who follow the selector, spelled like that, how far something has come that was asked of it. */
  tellProgress(selector: string, progress: Progress): void;
  /** Ends all subscriptions with `shutting_down`, and all watching. */
  close(): void;
}

export interface SubscribeRequest {
  /** Whose share of subscriptions it is. */
  readonly subject: string;
  /** Null: those that the subject asks about (`note`). */
  readonly selectors: readonly string[] | null;
  /** Selectors that are refused get a `refused` event each, instead of failing all. */
  readonly partial?: boolean | undefined;
  readonly lastEventId?: string | undefined;
}

export interface EventLimits {
  /** Subscriptions at once; default 256. */
  readonly streams: number;
  /** Of one subject; default 32. */
  readonly streamsPerSubject: number;
  /** Selectors that one subject follows, counted for each subscription; default 1,000. */
  readonly selectorsPerSubject: number;
  /** Distinct selectors that are followed for all; default 256, as many as workspaces are held open by default. */
  readonly followed: number;
  /** Characters that may wait to be read in one subscription; default 1,048,576. */
  readonly unreadCharacters: number;
  /** Events that can be told again; default 1,024, of 4,194,304 characters together. */
  readonly windowEvents: number;
  readonly windowCharacters: number;
  /** Milliseconds between two pulses; default 25,000. */
  readonly pulseMs: number;
  /** Milliseconds that a selector is followed on after the last subscription to it ended; default 60,000. */
  readonly lingerMs: number;
}

export const defaultEventLimits: EventLimits = {
  streams: 256,
  streamsPerSubject: 32,
  selectorsPerSubject: 1000,
  followed: 256,
  unreadCharacters: 1024 * 1024,
  windowEvents: 1024,
  windowCharacters: 4 * 1024 * 1024,
  pulseMs: 25_000,
  lingerMs: 60_000,
};
