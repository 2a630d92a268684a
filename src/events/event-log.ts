import { randomBytes } from 'node:crypto';
import type { ChangeEvent, RescanEvent } from './feed-event.ts';

/** An event that can be told again. */
export interface LoggedEvent<Value> {
  readonly sequence: number;
  readonly selector: string;
  readonly event: ChangeEvent<Value> | RescanEvent;
}

export interface WindowLimits {
  readonly events: number;
  /** Characters of all texts together. */
  readonly characters: number;
}

/** Numbers events and keeps the last ones. Numbers of another log, as after a restart, are not known here. */
export class EventLog<Value> {
  readonly #limits: WindowLimits;
  readonly #name = randomBytes(6).toString('hex');
  readonly #kept: LoggedEvent<Value>[] = [];
  #characters = 0;
  #sequence = 0;
  /** Of the last event that is not kept any more. */
  #forgotten = 0;

  constructor(limits: WindowLimits) {
    this.#limits = limits;
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** A number that no event has: what was numbered before it came before. */
  skip(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  idOf(sequence: number): string {
    return `${this.#name}-${sequence}`;
  }

  append(selector: string, make: (id: string) => ChangeEvent<Value> | RescanEvent): LoggedEvent<Value> {
    const sequence = this.skip();
    const logged = { sequence, selector, event: make(this.idOf(sequence)) };
    this.#kept.push(logged);
    this.#characters += sizeOf(logged);
    while (this.#kept.length > this.#limits.events || this.#characters > this.#limits.characters) {
      const oldest = this.#kept.shift();
      if (oldest === undefined) break;
      this.#characters -= sizeOf(oldest);
      this.#forgotten = oldest.sequence;
    }
    return logged;
  }

  /** The number that an id stands for; null when not everything after it is kept, or it was never given out. */
  find(id: string): number | null {
    const [, name, digits] = /^([0-9a-f]{12})-(\d{1,15})$/.exec(id) ?? [];
    if (name !== this.#name) return null;
    const sequence = Number(digits);
    return sequence >= this.#forgotten && sequence <= this.#sequence ? sequence : null;
  }

  after(sequence: number): readonly LoggedEvent<Value>[] {
    return this.#kept.filter((logged) => logged.sequence > sequence);
  }
}

function sizeOf({ event }: LoggedEvent<unknown>): number {
  return event.kind === 'change' ? event.text.length : 0;
}
