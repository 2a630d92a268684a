import type { Clock } from '../../src/events/clock.ts';

/** A clock that stands still until it is told to go on. */
export class TestClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(milliseconds: number, run: () => void): () => void {
    const timer = { at: this.#now + milliseconds, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that have not run and were not cancelled. */
  get pending(): number {
    return this.#timers.size;
  }

  advance(milliseconds: number): void {
    const end = this.#now + milliseconds;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end);
      const [first] = due.sort((left, right) => left.at - right.at);
      if (first === undefined) break;
      this.#timers.delete(first);
      this.#now = Math.max(this.#now, first.at);
      first.run();
    }
    this.#now = end;
  }
}
