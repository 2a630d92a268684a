import { AuthorityError } from '../errors/index.ts';

export interface ShareLimits {
  /** Subscriptions of all subjects, and of one. */
  readonly streams: number;
  readonly streamsPerSubject: number;
  /** Selectors that one subject follows, counted for each subscription. */
  readonly selectorsPerSubject: number;
}

interface Share {
  streams: number;
  selectors: number;
}

/** Counts what each subject has open, so that none can take it all. */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #shares = new Map<string, Share>();
  #streams = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** @throws `too_many_event_streams` (details.what, details.limit) */
  open(subject: string, selectors: number): void {
    const { streams, streamsPerSubject, selectorsPerSubject } = this.#limits;
    if (this.#streams >= streams) throw tooMany('streams', streams);
    const share = this.#shares.get(subject) ?? { streams: 0, selectors: 0 };
    if (share.streams >= streamsPerSubject) throw tooMany('streams of the caller', streamsPerSubject);
    if (share.selectors + selectors > selectorsPerSubject)
      throw tooMany('selectors of the caller', selectorsPerSubject);
    share.streams += 1;
    share.selectors += selectors;
    this.#streams += 1;
    this.#shares.set(subject, share);
  }

  /** Of an open subscription. False when the share is used up. */
  grow(subject: string): boolean {
    const share = this.#shares.get(subject);
    if (share === undefined || share.selectors >= this.#limits.selectorsPerSubject) return false;
    share.selectors += 1;
    return true;
  }

  shrink(subject: string, selectors: number): void {
    const share = this.#shares.get(subject);
    if (share !== undefined) share.selectors -= selectors;
  }

  close(subject: string): void {
    const share = this.#shares.get(subject);
    if (share === undefined) return;
    share.streams -= 1;
    this.#streams -= 1;
    if (share.streams === 0) this.#shares.delete(subject);
  }
}

export function tooMany(what: string, limit: number): AuthorityError {
  return new AuthorityError('too_many_event_streams', { details: { what, limit } });
}
