const validMs = 10 * 60 * 1000;
const capacity = 1024;

interface Shown {
  readonly token: string;
  readonly untilMs: number;
}

/**
 * Remembers which preview was given to whom, for clients that cannot return its token (decisions 1.1). In memory: after a restart, and in
 * another process, the next request is a first one again.
 */
export class Confirmations {
  readonly #shown = new Map<string, Shown>();
  readonly #now: () => number;

  /** `now`: milliseconds of a clock that never goes back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether this caller was shown exactly this state lately. It is used up. */
  confirms(key: string, token: string): boolean {
    const shown = this.#shown.get(key);
    this.#shown.delete(key);
    return shown !== undefined && shown.token === token && shown.untilMs > this.#now();
  }

  note(key: string, token: string): void {
    this.#shown.delete(key);
    this.#shown.set(key, { token, untilMs: this.#now() + validMs });
    const oldest = this.#shown.keys().next();
    if (this.#shown.size > capacity && !oldest.done) this.#shown.delete(oldest.value);
  }
}
