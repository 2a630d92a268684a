import type { FileCapability } from '../capability/file-capability.ts';
import { isRepository, type RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, endsAuthority, isAuthorityError } from '../errors/index.ts';
import type { Clock } from '../events/clock.ts';
import type { RescanReason } from '../events/feed-event.ts';
import type { Following, SourceListener } from '../events/source.ts';
import { eventsDelivered } from './events-delivered.ts';
import { RepositoryWatch } from './repository-watch.ts';
import type { Snapshot } from './snapshot.ts';
import type { OnHint, TreeWatches } from './tree-watch.ts';

/** All in milliseconds. */
export interface FollowTimes {
  /** Changes are gathered for so long before they are looked at. */
  readonly gatherMs: number;
  /** Between the end of one look and the next at least; more where a look takes longer. */
  readonly restMs: number;
  /** Between two looks where nothing is heard. */
  readonly checkMs: number;
  /** The same where changes are not told of. */
  readonly unwatchedMs: number;
}

export const defaultFollowTimes: FollowTimes = {
  gatherMs: 1000,
  restMs: 1000,
  checkMs: 15_000,
  unwatchedMs: 5000,
};

/** Where a followed snapshot comes from. */
export interface FollowedPlace {
  readonly watches: TreeWatches;
  readonly closing: AbortSignal;
  authorize(selector: string, signal: AbortSignal): Promise<FileCapability>;
  /** Keeps the snapshots of a root, and their watch, until it is let go. */
  hold(root: string, onHint: OnHint): HeldSnapshots;
}

export interface HeldSnapshots {
  readonly root: string;
  readonly isWatched: boolean;
  present(selector: string, capability: RepositoryCapability): Promise<Snapshot>;
  release(): void;
}

/**
 * Looks at one selector whenever something may have changed, and from time to time in any case, and tells when the snapshot is another one. Each
 * look authorises anew. Unchanged checkouts take no process.
 */
export class FollowedSnapshot implements Following {
  readonly #selector: string;
  readonly #listener: SourceListener<Snapshot>;
  readonly #place: FollowedPlace;
  readonly #clock: Clock;
  readonly #times: FollowTimes;
  readonly #repository: RepositoryWatch;
  #held: HeldSnapshots | null = null;
  #looking: Promise<void> | null = null;
  #hinted = false;
  #lost = false;
  #due: { readonly at: number; readonly cancel: () => void } | null = null;
  /** Before which no look is begun. */
  #restUntil = 0;
  #told = '';
  /** What made looks unsure and was told of. */
  #unsure: RescanReason | null = null;
  #closed = false;

  constructor(
    selector: string,
    listener: SourceListener<Snapshot>,
    place: FollowedPlace,
    clock: Clock,
    times: FollowTimes,
  ) {
    this.#selector = selector;
    this.#listener = listener;
    this.#place = place;
    this.#clock = clock;
    this.#times = times;
    this.#repository = new RepositoryWatch(place.watches, (lost) => this.#hint(lost));
    this.#schedule(0);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#due?.cancel();
    this.#due = null;
    this.#repository.close();
    this.#held?.release();
    this.#held = null;
  }

  /** Resolves when no look is under way. */
  async idle(): Promise<void> {
    await this.#looking;
  }

  #hint(lost: boolean): void {
    if (this.#closed) return;
    if (lost && !this.#lost) {
      this.#lost = true;
      this.#listener.onUnsure('overflow');
    }
    if (this.#looking !== null) this.#hinted = true;
    else this.#schedule(this.#times.gatherMs);
  }

  /** The earlier of two times wins, so that what goes on all the time puts nothing off. */
  #schedule(delayMs: number): void {
    if (this.#closed) return;
    const now = this.#clock.now();
    const at = Math.max(now + delayMs, this.#restUntil);
    if (this.#due !== null && this.#due.at <= at) return;
    this.#due?.cancel();
    const cancel = this.#clock.after(at - now, () => {
      this.#due = null;
      this.#begin();
    });
    this.#due = { at, cancel };
  }

  #begin(): void {
    if (this.#closed || this.#looking !== null) return;
    this.#hinted = false;
    this.#lost = false;
    const beganAt = this.#clock.now();
    this.#looking = this.#look().then((nextMs) => {
      this.#looking = null;
      const now = this.#clock.now();
      const tookMs = now - beganAt;
      this.#restUntil = now + Math.max(this.#times.restMs, tookMs);
      // A look that nothing asked for takes little of the time, however large the repository is.
      this.#schedule(this.#hinted ? this.#times.gatherMs : Math.max(nextMs, 10 * tookMs));
    });
  }

  /** Never rejects. Tells what it saw, and after how long to look again. */
  async #look(): Promise<number> {
    const { checkMs, unwatchedMs } = this.#times;
    try {
      const { snapshot, watched } = await this.#read();
      if (this.#closed) return checkMs;
      this.#tell(snapshot);
      if (!watched) this.#tellUnsure('unwatched');
      else this.#unsure = null;
      return watched ? checkMs : unwatchedMs;
    } catch (thrown) {
      if (this.#closed || this.#place.closing.aborted) return checkMs;
      const error = isAuthorityError(thrown)
        ? thrown
        : new AuthorityError('internal_error', { cause: thrown });
      if (endsAuthority(error)) {
        this.close();
        this.#listener.onRefused(error);
      } else {
        this.#tellUnsure(error.code);
      }
      return unwatchedMs;
    }
  }

  async #read(): Promise<{ snapshot: Snapshot; watched: boolean }> {
    const selector = this.#selector;
    const capability = await this.#place.authorize(selector, this.#place.closing);
    try {
      if (!isRepository(capability)) {
        this.#leave();
        return { snapshot: { cwd: selector, isGit: false, at: Date.now() }, watched: true };
      }
      const held = this.#enter(capability.root);
      // Watched first, so that what comes later than the reading gives a hint.
      const watched = await this.#repository.settle(capability.repository);
      await eventsDelivered();
      const snapshot = await held.present(selector, capability);
      return { snapshot, watched: watched && held.isWatched };
    } finally {
      await capability[Symbol.asyncDispose]();
    }
  }

  #enter(root: string): HeldSnapshots {
    if (this.#closed) throw new AuthorityError('shutting_down');
    if (this.#held?.root === root) return this.#held;
    this.#leave();
    this.#held = this.#place.hold(root, (lost) => this.#hint(lost));
    return this.#held;
  }

  #leave(): void {
    this.#held?.release();
    this.#held = null;
  }

  #tell(snapshot: Snapshot): void {
    const { at: _, ...facts } = snapshot;
    const text = JSON.stringify(facts);
    if (text === this.#told) return;
    this.#told = text;
    this.#listener.onChange(snapshot);
  }

  /** Once for each reason, until all is well again. */
  #tellUnsure(reason: RescanReason): void {
    if (this.#unsure === reason) return;
    this.#unsure = reason;
    this.#listener.onUnsure(reason);
  }
}
