import { setMaxListeners } from 'node:events';
import { abortable } from '../authority/abortable.ts';
import type { Authority } from '../authority/authority.ts';
import { inTurns } from '../authority/in-turns.ts';
import { managedFactsOf } from '../authority/managed-facts.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { isRepository, type RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { type Clock, systemClock } from '../events/clock.ts';
import type { EventSource, Following, SourceListener } from '../events/source.ts';
import { findStanding, type StandingOperation } from '../git/operation-state.ts';
import { createSlots } from '../git/slots.ts';
import { eventsDelivered } from './events-delivered.ts';
import { type FetchState, withFetchFailure } from './fetch-state.ts';
import {
  defaultFollowTimes,
  FollowedSnapshot,
  type FollowTimes,
  type HeldSnapshots,
} from './followed-snapshot.ts';
import { type DatedFacts, type Keeping, KeptSnapshot } from './kept-snapshot.ts';
import { allOf, type Outcome, outcomeOf, throwFirst } from './outcomes.ts';
import type { SnapshotTools } from './read-snapshot.ts';
import { rememberFor } from './remember-for.ts';
import type { RepositorySnapshot, Snapshot, UnshownFacts } from './snapshot.ts';
import { type OnHint, TreeWatches } from './tree-watch.ts';

/** Snapshots of workspaces, kept while nothing tells of a change. */
export interface Snapshots extends EventSource<Snapshot> {
  /**
   * Always read anew. A plain directory is an answer too.
   * @throws as `Authority.authorize` | `git_root_not_authorized` for a nested directory | `identity_changed`
   */
  read(selector: string, signal?: AbortSignal): Promise<Snapshot>;
  /**
   * All of them or none: the first selector that fails fails the batch, with details.index. With `partial` each has its own answer.
   * Authorises them all before the first is read.
   *
   * An answer may be 3 s old. After that it is given again, without a process, while the files of the repository are as they were and the
   * kernel told of no change in the work tree, for 2 minutes at most. See docs/snapshots.md for changes that the kernel does not tell of.
   * @throws `too_many_workspaces` | as `read`
   */
  readMany(
    selectors: readonly string[],
    options?: BatchOptions,
    signal?: AbortSignal,
  ): Promise<SnapshotBatch>;
  /**
   * A snapshot, and what else decides which actions fit the repository. No process where nothing changed; whatever was changed before the
   * call is seen.
   * @throws as `Authority.authorizeRepository` | `identity_changed`
   */
  examine(selector: string, signal?: AbortSignal): Promise<Examination>;
  /** Refuses what comes, ends what runs and every watch. */
  close(): Promise<void>;
}

export interface Examination {
  readonly snapshot: RepositorySnapshot;
  readonly unshown: UnshownFacts;
  readonly standing: StandingOperation;
  /** Whether the worktree was made to look at a pull request. */
  readonly isPullRequest: boolean;
}

export interface BatchOptions {
  readonly partial?: boolean;
}

/** By the selectors as they were asked for. */
export interface SnapshotBatch {
  readonly found: ReadonlyMap<string, Snapshot>;
  /** Empty unless the batch was partial. */
  readonly failed: ReadonlyMap<string, AuthorityError>;
}

export interface SnapshotsOptions extends SnapshotTools {
  readonly authority: Authority;
  /** Milliseconds in which a batch gives an answer again without a look; default 3,000. */
  readonly freshMs?: number;
  /** Milliseconds after which Git is asked again in any case; default 120,000. */
  readonly recheckMs?: number;
  /** Directories watched at most, of one work tree and of all; default 8,192 and 32,768. None: every look asks Git. */
  readonly watchedPerTree?: number;
  readonly watchedInAll?: number;
  /** Fetches in the background; default: nobody does. */
  readonly fetches?: FetchState;
  /** When followed checkouts are looked at. */
  readonly followTimes?: Partial<FollowTimes>;
  readonly clock?: Clock;
}

/** Selectors of one batch. */
const mostSelectors = 200;

/** Checkouts whose last answer is kept, and how long one is that nobody asks about. */
const mostKept = 512;
const unusedMs = 180_000;

/** Readings at once. More would only wait for the places of Git's processes, against their deadlines. */
const readings = 4;
const authorizations = 16;

/** The configuration of the user is read again after so long. */
const userMs = 10_000;

export function createSnapshots(options: SnapshotsOptions): Snapshots {
  return new KeptSnapshots(options);
}

interface Entry {
  readonly kept: KeptSnapshot;
  usedAt: number;
  /** One that is followed is not forgotten. */
  followers: number;
}

class KeptSnapshots implements Snapshots {
  readonly #authority: Authority;
  readonly #keeping: Keeping;
  readonly #ending = new AbortController();
  readonly #entries = new Map<string, Entry>();
  readonly #followed = new Set<FollowedSnapshot>();
  readonly #fetches: FetchState | null;
  readonly #clock: Clock;
  readonly #followTimes: FollowTimes;
  readonly #leaving = new Set<KeptSnapshot>();

  constructor(options: SnapshotsOptions) {
    const { authority, git, configuration, user, freshMs = 3000, recheckMs = 120_000 } = options;
    this.#authority = authority;
    this.#fetches = options.fetches ?? null;
    this.#clock = options.clock ?? systemClock;
    this.#followTimes = { ...defaultFollowTimes, ...options.followTimes };
    // Every running command listens to it; that they are many is no leak.
    setMaxListeners(0, this.#ending.signal);
    this.#keeping = {
      tools: { git, configuration, ...(user === undefined ? {} : { user: rememberFor(userMs, user) }) },
      watches: new TreeWatches({
        perTree: options.watchedPerTree ?? 8192,
        inAll: options.watchedInAll ?? 32_768,
      }),
      places: createSlots(readings),
      limits: { freshMs, recheckMs },
      closing: this.#ending.signal,
    };
  }

  async read(selector: string, signal?: AbortSignal): Promise<Snapshot> {
    const capability = await this.#authorize(selector, signal);
    try {
      if (!isRepository(capability)) return { cwd: selector, isGit: false, at: Date.now() };
      const dated = await abortable(this.#entryOf(capability.root).kept.fresh(capability), signal);
      return this.#present(selector, capability, dated);
    } finally {
      await capability[Symbol.asyncDispose]();
    }
  }

  async readMany(
    selectors: readonly string[],
    { partial = false }: BatchOptions = {},
    callerSignal?: AbortSignal,
  ): Promise<SnapshotBatch> {
    if (selectors.length > mostSelectors)
      throw new AuthorityError('too_many_workspaces', { details: { limit: mostSelectors } });
    this.#forgetUnused();
    const signal = callerSignal && forMany(callerSignal);
    const distinct = [...new Set(selectors)];
    const held: FileCapability[] = [];
    try {
      const authorized = await inTurns(distinct, authorizations, (selector) =>
        outcomeOf(async () => {
          const capability = await this.#authorize(selector, signal);
          held.push(capability);
          return capability;
        }, signal),
      );
      if (!partial) throwFirst(authorized, distinct, selectors);
      await eventsDelivered();
      const read = await allOf(
        authorized.map((outcome, index) => this.#answer(distinct[index] as string, outcome, signal)),
      );
      if (!partial) throwFirst(read, distinct, selectors);
      const found = new Map<string, Snapshot>();
      const failed = new Map<string, AuthorityError>();
      for (const [index, outcome] of read.entries()) {
        const selector = distinct[index] as string;
        if (outcome.ok) found.set(selector, outcome.value);
        else failed.set(selector, outcome.error);
      }
      return { found, failed };
    } finally {
      for (const capability of held) await capability[Symbol.asyncDispose]();
    }
  }

  async examine(selector: string, signal?: AbortSignal): Promise<Examination> {
    if (this.#ending.signal.aborted) throw new AuthorityError('shutting_down');
    await using capability = await this.#authority.authorizeRepository(selector, signal);
    await eventsDelivered();
    const { kept } = this.#entryOf(capability.root);
    const dated = await abortable(kept.checked(capability), signal);
    const standing = await findStanding(capability);
    await capability.assertCurrent(signal);
    return {
      snapshot: this.#present(selector, capability, dated),
      unshown: dated.unshown,
      standing,
      isPullRequest: managedFactsOf(capability)?.intent === 'pr-checkout',
    };
  }

  async close(): Promise<void> {
    this.#ending.abort(new AuthorityError('shutting_down'));
    const followed = [...this.#followed];
    for (const following of followed) following.close();
    this.#keeping.watches.close();
    const all = [...[...this.#entries.values()].map(({ kept }) => kept), ...this.#leaving];
    for (const kept of all) kept.close();
    this.#entries.clear();
    await Promise.all([...all, ...followed].map((kept) => kept.idle()));
  }

  async prove(
    selectors: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly (AuthorityError | null)[]> {
    const shared = signal && forMany(signal);
    return inTurns(selectors, authorizations, async (selector) => {
      const outcome = await outcomeOf(() => this.#authorize(selector, shared), shared);
      if (!outcome.ok) return outcome.error;
      await outcome.value[Symbol.asyncDispose]();
      return null;
    });
  }

  follow(selector: string, listener: SourceListener<Snapshot>): Following {
    const followed = new FollowedSnapshot(
      selector,
      listener,
      {
        watches: this.#keeping.watches,
        closing: this.#ending.signal,
        authorize: (asked, signal) => this.#authorize(asked, signal),
        hold: (root, onHint) => this.#hold(root, onHint),
      },
      this.#clock,
      this.#followTimes,
    );
    this.#followed.add(followed);
    return {
      close: () => {
        followed.close();
        void followed.idle().then(() => this.#followed.delete(followed));
      },
    };
  }

  #hold(root: string, onHint: OnHint): HeldSnapshots {
    this.#forgetUnused();
    const entry = this.#entryOf(root);
    entry.followers += 1;
    const unfollow = entry.kept.follow(onHint);
    return {
      root,
      get isWatched() {
        return entry.kept.isWatched;
      },
      present: async (selector, capability) => {
        this.#touch(root, entry);
        return this.#present(selector, capability, await entry.kept.checked(capability));
      },
      release: () => {
        unfollow();
        entry.followers -= 1;
      },
    };
  }

  #present(
    selector: string,
    capability: RepositoryCapability,
    { facts, at }: DatedFacts,
  ): RepositorySnapshot {
    this.#fetches?.used(selector, capability);
    const failure = this.#fetches?.failureOf(capability) ?? null;
    return { cwd: selector, ...withFetchFailure(facts, failure), at };
  }

  async #answer(
    selector: string,
    authorized: Outcome<FileCapability>,
    signal?: AbortSignal,
  ): Promise<Outcome<Snapshot>> {
    if (!authorized.ok) return authorized;
    const capability = authorized.value;
    if (!isRepository(capability)) {
      return { ok: true, value: { cwd: selector, isGit: false, at: Date.now() } };
    }
    return outcomeOf(async () => {
      const dated = await abortable(this.#entryOf(capability.root).kept.current(capability), signal);
      return this.#present(selector, capability, dated);
    }, signal);
  }

  async #authorize(selector: string, signal?: AbortSignal): Promise<FileCapability> {
    if (this.#ending.signal.aborted) throw new AuthorityError('shutting_down');
    const capability = await this.#authority.authorize(selector, signal);
    if (capability.gitBoundary !== 'nested') return capability;
    await capability[Symbol.asyncDispose]();
    throw new AuthorityError('git_root_not_authorized');
  }

  #entryOf(root: string): Entry {
    if (this.#ending.signal.aborted) throw new AuthorityError('shutting_down');
    const entry = this.#entries.get(root) ?? {
      kept: new KeptSnapshot(this.#keeping),
      usedAt: 0,
      followers: 0,
    };
    this.#touch(root, entry);
    if (this.#entries.size > mostKept) this.#forgetOldest();
    return entry;
  }

  /** The map keeps the order of use. */
  #touch(root: string, entry: Entry): void {
    entry.usedAt = Date.now();
    this.#entries.delete(root);
    this.#entries.set(root, entry);
  }

  #forgetUnused(): void {
    const now = Date.now();
    for (const [root, { usedAt, followers }] of this.#entries) {
      if (followers > 0) continue;
      if (Math.abs(now - usedAt) < unusedMs) return;
      this.#forget(root);
    }
  }

  #forgetOldest(): void {
    for (const [root, { followers }] of this.#entries) {
      if (followers > 0) continue;
      this.#forget(root);
      return;
    }
  }

  #forget(root: string): void {
    const entry = this.#entries.get(root);
    if (entry === undefined) return;
    const { kept } = entry;
    this.#entries.delete(root);
    kept.close();
    this.#leaving.add(kept);
    void kept.idle().then(() => this.#leaving.delete(kept));
  }
}

/** The same signal for as many listeners as there are selectors. */
function forMany(signal: AbortSignal): AbortSignal {
  const shared = AbortSignal.any([signal]);
  setMaxListeners(0, shared);
  return shared;
}
