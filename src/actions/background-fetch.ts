import { abortable } from '../authority/abortable.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, endsAuthority, isAuthorityError } from '../errors/index.ts';
import type { Clock } from '../events/clock.ts';
import type { ActionContext, FetchTurns } from './action-context.ts';
import { fetchOrigin } from './fetch.ts';

export interface BackgroundFetchOptions {
  readonly clock: Clock;
  /** Milliseconds between two fetches of one repository; absent: none is made. */
  readonly everyMs?: number;
}

/** All checkouts of one repository. */
interface Family {
  /** The checkout that was asked about last. */
  selector: string;
  usedAt: number;
  failures: number;
  failure: AuthorityError | null;
  running: Promise<void> | null;
  cancel: () => void;
}

/** A repository that nobody asked about for so long is not fetched. */
const unusedMs = 180_000;

const leastEveryMs = 1000;

/**
 * Fetches from `origin` for each repository that is asked about, once for all its checkouts and outside every gate. Repositories are spread over
 * the time; one that fails is left alone for longer each time. What fails is told by `failureOf` until a fetch succeeds.
 */
export class BackgroundFetch implements FetchTurns {
  readonly #context: ActionContext;
  readonly #clock: Clock;
  readonly #everyMs: number | null;
  readonly #families = new Map<string, Family>();
  /** How many fetches that users asked for have not ended, by repository, known here or not. */
  readonly #users = new Map<string, number>();
  readonly #ending = new AbortController();

  constructor(context: ActionContext, { clock, everyMs }: BackgroundFetchOptions) {
    this.#context = context;
    this.#clock = clock;
    this.#everyMs = everyMs ?? null;
  }

  used(selector: string, capability: RepositoryCapability): void {
    if (this.#everyMs === null || this.#ending.signal.aborted) return;
    const key = keyOf(capability);
    const usedAt = this.#clock.now();
    const known = this.#families.get(key);
    if (known !== undefined) {
      known.selector = selector;
      known.usedAt = usedAt;
      return;
    }
    const family: Family = {
      selector,
      usedAt,
      failures: 0,
      failure: null,
      running: null,
      cancel: () => undefined,
    };
    this.#families.set(key, family);
    this.#schedule(key, family, this.#everyMs * Math.random());
  }

  failureOf(capability: RepositoryCapability): AuthorityError | null {
    if (this.#everyMs === null) return null;
    return this.#families.get(keyOf(capability))?.failure ?? null;
  }

  async byUser(
    capability: RepositoryCapability,
    fetch: () => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void> {
    const key = keyOf(capability);
    this.#users.set(key, (this.#users.get(key) ?? 0) + 1);
    try {
      const running = this.#families.get(key)?.running ?? null;
      if (running !== null) await abortable(running, signal);
      await fetch();
      const family = this.#families.get(key);
      if (family !== undefined) settle(family, null);
    } finally {
      const others = (this.#users.get(key) ?? 1) - 1;
      if (others > 0) this.#users.set(key, others);
      else this.#users.delete(key);
    }
  }

  /** Ends what runs, and resolves when it has ended. */
  async close(): Promise<void> {
    this.#ending.abort(new AuthorityError('shutting_down'));
    const families = [...this.#families.values()];
    for (const family of families) family.cancel();
    this.#families.clear();
    await Promise.all(families.map(({ running }) => running));
  }

  #schedule(key: string, family: Family, delayMs: number): void {
    if (this.#families.get(key) !== family) return;
    family.cancel = this.#clock.after(delayMs, () => this.#begin(key, family));
  }

  #begin(key: string, family: Family): void {
    if (this.#clock.now() - family.usedAt > unusedMs) {
      this.#families.delete(key);
      return;
    }
    // A user fetches at this moment.
    if (this.#users.has(key)) {
      this.#schedule(key, family, this.#delayOf(family));
      return;
    }
    family.running = this.#fetch(key, family).finally(() => {
      family.running = null;
      this.#schedule(key, family, this.#delayOf(family));
    });
  }

  /** Never rejects. */
  async #fetch(key: string, family: Family): Promise<void> {
    const { signal } = this.#ending;
    try {
      await using capability = await this.#context.authority.authorizeRepository(family.selector, signal);
      await fetchOrigin(this.#context, capability, 'backgroundFetch', signal);
      settle(family, null);
    } catch (thrown) {
      const error = isAuthorityError(thrown)
        ? thrown
        : new AuthorityError('internal_error', { cause: thrown });
      // Another checkout may still have authority, and brings the repository back when it is asked about.
      if (endsAuthority(error) || error.code === 'git_repository_required') this.#families.delete(key);
      else if (error.code === 'remote_missing') settle(family, null);
      else if (!isNoAnswer(error)) settle(family, error);
    }
  }

  #delayOf({ failures }: Family): number {
    return nextFetchDelay(this.#everyMs ?? 0, failures, Math.random());
  }
}

/** @throws RangeError */
export function assertFetchEvery(everyMs: number | undefined): void {
  if (everyMs !== undefined && !(everyMs >= leastEveryMs && Number.isFinite(everyMs)))
    throw new RangeError(`fetchEveryMs must be at least ${leastEveryMs}`);
}

const longestMs = 3_600_000;

/** Twice as long after each failure, up to an hour, and a fifth more or less, so that servers do not come in step. @param chance 0 to 1 */
export function nextFetchDelay(everyMs: number, failures: number, chance: number): number {
  const delayMs = Math.min(everyMs * 2 ** Math.min(failures, 16), Math.max(everyMs, longestMs));
  return delayMs * (0.8 + 0.4 * chance);
}

function settle(family: Family, failure: AuthorityError | null): void {
  family.failure = failure;
  family.failures = failure === null ? 0 : family.failures + 1;
}

/** What says nothing about the remote: others had the places, somebody else fetched, or the proof has to be made again. */
function isNoAnswer({ code, details }: AuthorityError): boolean {
  const codes = ['aborted', 'shutting_down', 'busy', 'ref_moved', 'identity_changed'];
  return codes.includes(code) || details['reason'] === 'no-place';
}

function keyOf({ repository }: RepositoryCapability): string {
  const { device, inode } = repository.commonDirectory.place();
  return `${device}:${inode}`;
}
