import { AuthorityError } from '../errors/index.ts';
import type { FeedEvent } from './feed-event.ts';

/** The events of one subscriber, in order. To be read by one reader. */
export interface Subscription<Value> extends AsyncIterableIterator<FeedEvent<Value>>, AsyncDisposable {
  /** Fires when the subscription has ended, also while its reader does something else. */
  readonly ended: AbortSignal;
}

export interface QueueOwner<Value> {
  /** What is given out in place of the event, proven in this moment; null: nothing. */
  admit(event: FeedEvent<Value>): Promise<FeedEvent<Value> | null>;
  onEnd(): void;
}

/** Counted for an event beside its text. */
const baseSize = 256;

/**
 * Holds events until they are read, within a limit: whoever does not read in time loses the subscription, never an event in the middle of
 * one.
 */
export class EventQueue<Value> implements Subscription<Value> {
  readonly #limit: number;
  readonly #owner: QueueOwner<Value>;
  readonly #waiting: FeedEvent<Value>[] = [];
  readonly #ending = new AbortController();
  #size = 0;
  #wake: (() => void) | null = null;
  #failure: unknown = null;
  /** Nothing more comes; what waits is still given out. */
  #complete = false;

  constructor(limitCharacters: number, owner: QueueOwner<Value>) {
    this.#limit = limitCharacters;
    this.#owner = owner;
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  push(event: FeedEvent<Value>): void {
    if (this.ended.aborted || this.#complete) return;
    this.#waiting.push(event);
    this.#size += sizeOf(event);
    if (this.#size > this.#limit) this.end(new AuthorityError('events_unread'));
    this.#wake?.();
  }

  complete(): void {
    this.#complete = true;
    this.#wake?.();
  }

  /** @param failure what the reader is told; null: an end like any other */
  end(failure: unknown): void {
    if (this.ended.aborted) return;
    this.#failure = failure;
    this.#waiting.length = 0;
    this.#size = 0;
    this.#ending.abort();
    this.#wake?.();
    this.#owner.onEnd();
  }

  async next(): Promise<IteratorResult<FeedEvent<Value>>> {
    for (;;) {
      if (this.ended.aborted) return this.#finish();
      const event = this.#waiting.shift();
      if (event !== undefined) {
        this.#size -= sizeOf(event);
        const admitted = await this.#owner.admit(event);
        if (this.ended.aborted) return this.#finish();
        if (admitted !== null) return { done: false, value: admitted };
      } else if (this.#complete) {
        this.end(null);
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = null;
      }
    }
  }

  async return(): Promise<IteratorResult<FeedEvent<Value>>> {
    this.end(null);
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.end(null);
  }

  #finish(): IteratorResult<FeedEvent<Value>> {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure;
    return { done: true, value: undefined };
  }
}

function sizeOf(event: FeedEvent<unknown>): number {
  return baseSize + (event.kind === 'change' ? event.text.length : 0);
}
