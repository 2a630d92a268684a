import type { AuthorityError } from '../errors/index.ts';

/** What a subscription gives out. An `id` may be sent as `lastEventId` later, to go on behind that event; null: not a place to go on from. */
export type FeedEvent<Value> = ChangeEvent<Value> | ProgressEvent | RescanEvent | RefusedEvent | PulseEvent;

/** Something is not as it was, or is told for the first time. */
export interface ChangeEvent<Value> {
  readonly kind: 'change';
  readonly id: string;
  /** As it was subscribed to. */
  readonly selector: string;
  readonly value: Value;
  /** The value as JSON, made once for all who get it. */
  readonly text: string;
}

/** Something that takes long has come further. Only who listens meanwhile hears of it: it is never told again. */
export interface ProgressEvent {
  readonly kind: 'progress';
  readonly id: null;
  /** As it was subscribed to. */
  readonly selector: string;
  readonly progress: Progress;
}

export interface Progress {
  /** The files of a new worktree are written. */
  readonly task: 'create-worktree';
  /** Transaction that the caller named; null where it named none. */
  readonly txId: string | null;
  /** Path of what is made. */
  readonly path: string;
  readonly filesDone: number;
  readonly filesTotal: number;
}

/** Events may be missing or late: who wants to be sure asks anew. */
export interface RescanEvent {
  readonly kind: 'rescan';
  readonly id: string | null;
  /** Empty: all that the subscriber knew. */
  readonly selectors: readonly string[];
  /**
   * `window`: what happened since the last event id is not known any more. `unwatched`: changes are looked for at intervals only. `overflow`:
   * the kernel may have dropped notices. Else the code of what keeps the selector from being looked at, or proven, now.
   */
  readonly reason: RescanReason;
}

export type RescanReason = 'window' | 'unwatched' | 'overflow' | AuthorityError['code'];

/** The selector has no authority any more, and nothing further is told about it. */
export interface RefusedEvent {
  readonly kind: 'refused';
  readonly id: null;
  readonly selector: string;
  readonly error: AuthorityError;
}

/** Nothing happened. `id` is as far as this subscription has been told. */
export interface PulseEvent {
  readonly kind: 'pulse';
  readonly id: string;
}
