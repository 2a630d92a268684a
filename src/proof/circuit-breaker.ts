export interface CircuitBreakerOptions {
  /** More failures than this within the window open the circuit. */
  readonly limit: number;
  readonly windowMs: number;
  /** How long it stays open; then trying is allowed again. */
  readonly openMs: number;
  readonly now?: () => number;
}

/** Stops asking something that keeps failing. While it is open the answer is no, never a guess. */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  readonly #now: () => number;
  #failures: number[] = [];
  #openUntil = Number.NEGATIVE_INFINITY;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get isOpen(): boolean {
    return this.#now() < this.#openUntil;
  }

  recordFailure(): void {
    const now = this.#now();
    const { limit, windowMs, openMs } = this.#options;
    this.#failures = this.#failures.filter((at) => now - at < windowMs);
    this.#failures.push(now);
    if (this.#failures.length <= limit) return;
    this.#failures = [];
    this.#openUntil = now + openMs;
  }
}
