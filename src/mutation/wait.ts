import { AuthorityError } from '../errors/index.ts';

/** setTimeout fires at once for anything larger; 24.8 days are as good as for ever. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * The right of one caller to wait: it ends by abort, by its deadline, or by `stop`, whichever comes first. Costs no timer and no
 * listener until it really pauses.
 */
export class Wait {
  readonly #signal: AbortSignal | undefined;
  readonly #waitMs: number;
  readonly #deadline: number;
  #interrupt: (() => void) | null = null;
  #woken = false;
  #stopped = false;

  constructor(signal: AbortSignal | undefined, waitMs: number) {
    this.#signal = signal;
    this.#waitMs = Math.min(waitMs, longestTimerMs);
    this.#deadline = performance.now() + this.#waitMs;
  }

  /** Ends `untilWoken`, also one that is called later. */
  readonly wake = (): void => {
    this.#woken = true;
    this.#interrupt?.();
  };

  /** Makes this wait and every later one fail with `shutting_down`. */
  stop(): void {
    this.#stopped = true;
    this.#interrupt?.();
  }

  /** @throws `shutting_down` | `aborted` */
  assertWanted(): void {
    if (this.#stopped) throw new AuthorityError('shutting_down');
    if (this.#signal?.aborted) throw new AuthorityError('aborted', { cause: this.#signal.reason });
  }

  /** @throws as `assertWanted` | `deadline_exceeded` (details.waitMs) */
  assertAllowed(): void {
    this.assertWanted();
    if (performance.now() >= this.#deadline) {
      throw new AuthorityError('deadline_exceeded', { details: { waitMs: this.#waitMs } });
    }
  }

  /** A turn that comes together with an abort or the deadline is given up: nothing has started yet. @throws as `assertAllowed` */
  async untilWoken(): Promise<void> {
    this.assertAllowed();
    while (!this.#woken) await this.sleep(longestTimerMs);
  }

  /** @throws as `assertAllowed` */
  async sleep(ms: number): Promise<void> {
    this.assertAllowed();
    await this.#pause(Math.min(ms, this.#deadline - performance.now()));
    this.assertAllowed();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#signal?.removeEventListener('abort', end);
        this.#interrupt = null;
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.#signal?.addEventListener('abort', end);
      this.#interrupt = end;
    });
  }
}
