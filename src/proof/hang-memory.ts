/** Repositories remembered at most; the oldest is forgotten first. */
const capacity = 256;
/** How long a repository that stopped a prover is not asked about again unless its configuration changes. */
const rememberedMs = 60_000;

/** Remembers what a prover hung on, so that one bad repository cannot have child after child killed. */
export class HangMemory {
  readonly #until = new Map<string, number>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  remember(key: string): void {
    this.#until.delete(key);
    this.#until.set(key, this.#now() + rememberedMs);
    const [oldest] = this.#until.keys();
    if (this.#until.size > capacity && oldest !== undefined) this.#until.delete(oldest);
  }

  has(key: string): boolean {
    const until = this.#until.get(key);
    if (until === undefined) return false;
    if (this.#now() < until) return true;
    this.#until.delete(key);
    return false;
  }
}
