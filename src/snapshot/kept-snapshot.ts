import { managedFactsOf } from '../authority/managed-facts.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import type { Slots } from '../git/slots.ts';
import { eventsDelivered } from './events-delivered.ts';
import { FileStamps } from './file-stamps.ts';
import { readSnapshot, type SnapshotReading, type SnapshotTools } from './read-snapshot.ts';
import type { RepositoryFacts, UnshownFacts } from './snapshot.ts';
import type { OnHint, TreeWatch, TreeWatches } from './tree-watch.ts';

export interface KeepingLimits {
  /** Milliseconds in which an answer is given again without a look. */
  readonly freshMs: number;
  /** Milliseconds after which Git is asked again, whatever files and watches say. */
  readonly recheckMs: number;
}

/** What the snapshots of one service share. */
export interface Keeping {
  readonly tools: SnapshotTools;
  readonly watches: TreeWatches;
  readonly places: Slots;
  readonly limits: KeepingLimits;
  /** Ends with the service. */
  readonly closing: AbortSignal;
}

export interface DatedFacts {
  readonly facts: RepositoryFacts;
  readonly unshown: UnshownFacts;
  readonly at: number;
}

/** Why facts may still hold: the files they came from are the same, and nothing was told of the work tree. */
interface Evidence {
  readonly stamps: FileStamps;
  /** Null where the answer says nothing of the work tree. */
  readonly tree: TreeWatch | null;
  readonly version: number;
}

interface Kept extends DatedFacts {
  readonly readAt: number;
  readonly evidence: Evidence | null;
}

/** After a work tree turned out not to be watchable, it is left alone for so long. */
const unwatchableMs = 300_000;

/** The last snapshot of one checkout, and what tells whether it still holds. */
export class KeptSnapshot {
  readonly #keeping: Keeping;
  #subject = '';
  #kept: Kept | null = null;
  /** Of readings that overlap, the one that began last. */
  #running: Promise<DatedFacts> | null = null;
  #readings = 0;
  #active = 0;
  #next: Promise<DatedFacts> | null = null;
  #tree: TreeWatch | null = null;
  #covering: Promise<void> | null = null;
  #unwatchableUntil = 0;
  #closed = false;
  readonly #followers = new Set<OnHint>();

  constructor(keeping: Keeping) {
    this.#keeping = keeping;
  }

  /**
   * Facts that hold since `at`, without a process where nothing changed. The events of the kernel must have been waited for.
   * @throws `identity_changed` | `shutting_down`
   */
  async current(capability: RepositoryCapability): Promise<DatedFacts> {
    this.#settleOn(capability);
    const kept = this.#kept;
    if (kept !== null && isWithin(Date.now(), kept.at, this.#keeping.limits.freshMs)) return kept;
    return (await this.#confirm(capability)) ?? this.#running ?? this.#start(capability, true);
  }

  /** Facts that held at the call or later: `current` without a time of freshness, and without a reading that began before. @throws as `current` */
  async checked(capability: RepositoryCapability): Promise<DatedFacts> {
    this.#settleOn(capability);
    const confirmed = await this.#confirm(capability);
    if (confirmed !== null) return confirmed;
    if (this.#running === null) return this.#start(capability, true);
    this.#next ??= this.#startAfter(this.#running, capability.retain(), true);
    return this.#next;
  }

  /** Calls back when something may have changed, until what it returns is called. */
  follow(onHint: OnHint): () => void {
    this.#followers.add(onHint);
    return () => this.#followers.delete(onHint);
  }

  /** Whether a change of what the last answer says would give a hint, or be seen in the files of the repository. */
  get isWatched(): boolean {
    return this.#tree !== null || this.#covering !== null || this.#kept?.evidence?.tree === null;
  }

  /** Facts from a reading that began after the call. @throws `identity_changed` | `shutting_down` */
  async fresh(capability: RepositoryCapability): Promise<DatedFacts> {
    this.#settleOn(capability);
    if (this.#running === null) return this.#start(capability, false);
    this.#next ??= this.#startAfter(this.#running, capability.retain(), false);
    return this.#next;
  }

  /** Ends the watch; a reading that runs goes on for those who wait. */
  close(): void {
    this.#closed = true;
    this.#tree?.close();
    this.#tree = null;
    this.#kept = null;
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#active > 0 || this.#next !== null || this.#covering !== null) {
      await Promise.allSettled([this.#running, this.#next, this.#covering]);
      await eventsDelivered();
    }
  }

  /** What was kept counts only for the very directories, and the metadata, that it was read from. */
  #settleOn(capability: RepositoryCapability): void {
    const subject = describeSubject(capability);
    if (subject === this.#subject) return;
    this.#subject = subject;
    this.#kept = null;
    this.#tree?.close();
    this.#tree = null;
    this.#unwatchableUntil = 0;
  }

  /** The last answer, when it still holds. */
  async #confirm(capability: RepositoryCapability): Promise<DatedFacts | null> {
    const kept = this.#kept;
    const now = Date.now();
    if (kept === null || !isWithin(now, kept.readAt, this.#keeping.limits.recheckMs)) return null;
    if (!(await this.#holds(kept.evidence, capability))) return null;
    const confirmed = { ...kept, at: now };
    if (this.#kept === kept) this.#kept = confirmed;
    return confirmed;
  }

  #hint(lost: boolean): void {
    for (const onHint of this.#followers) onHint(lost);
  }

  async #holds(evidence: Evidence | null, capability: RepositoryCapability): Promise<boolean> {
    if (evidence === null) return false;
    const { stamps, tree, version } = evidence;
    if (tree !== null && tree.version !== version) return false;
    return stamps.isUnchanged(capability.repository);
  }

  async #startAfter(
    running: Promise<unknown>,
    capability: RepositoryCapability,
    watching: boolean,
  ): Promise<DatedFacts> {
    await Promise.allSettled([running]);
    this.#next = null;
    try {
      return await this.#start(capability, watching);
    } finally {
      await capability[Symbol.asyncDispose]();
    }
  }

  #start(capability: RepositoryCapability, watching: boolean): Promise<DatedFacts> {
    // The caller disposes its own.
    const retained = capability.retain();
    this.#readings += 1;
    this.#running = this.#readUnder(retained, watching, this.#readings);
    return this.#running;
  }

  async #readUnder(
    capability: RepositoryCapability,
    watching: boolean,
    reading: number,
  ): Promise<DatedFacts> {
    this.#active += 1;
    try {
      return await this.#read(capability, watching);
    } finally {
      this.#active -= 1;
      if (reading === this.#readings) this.#running = null;
      await capability[Symbol.asyncDispose]();
    }
  }

  async #read(capability: RepositoryCapability, watching: boolean): Promise<DatedFacts> {
    const { tools, places, closing } = this.#keeping;
    const subject = this.#subject;
    const give = await places.take(closing);
    try {
      await eventsDelivered();
      const tree = this.#tree;
      const whole = (await tree?.isWhole(capability.held.directory)) ?? false;
      const version = tree?.version ?? 0;
      const at = Date.now();
      const stamps = new FileStamps(capability.repository);
      const reading = await readSnapshot(capability, tools, stamps, closing);
      await capability.assertCurrent(closing);
      await eventsDelivered();
      const evidence = whole
        ? this.#judge(reading, stamps, tree, version)
        : judgeWithoutTree(reading, stamps);
      const { facts, unshown } = reading;
      const kept = { facts, unshown, at, readAt: at, evidence };
      if (!this.#closed && subject === this.#subject) {
        this.#kept = kept;
        if (watching && !(whole && covers(tree, reading))) this.#cover(capability, reading);
      }
      return kept;
    } finally {
      give();
    }
  }

  #judge(
    reading: SnapshotReading,
    stamps: FileStamps,
    tree: TreeWatch | null,
    version: number,
  ): Evidence | null {
    if (reading.ignoredDirectories === null) return judgeWithoutTree(reading, stamps);
    if (tree === null || tree.version !== version || !covers(tree, reading)) return null;
    return reading.lasting && stamps.usable ? { stamps, tree, version } : null;
  }

  /** Watches the work tree for the next reading; this one was not under its eyes. */
  #cover(capability: RepositoryCapability, { ignoredDirectories }: SnapshotReading): void {
    if (ignoredDirectories === null || this.#covering !== null || Date.now() < this.#unwatchableUntil) return;
    this.#tree?.close();
    this.#tree = null;
    this.#covering = this.#beginWatch(capability.retain(), ignoredDirectories);
  }

  async #beginWatch(capability: RepositoryCapability, ignored: readonly string[]): Promise<void> {
    const subject = this.#subject;
    try {
      const tree = await this.#keeping.watches.begin(capability.held.directory, ignored, (lost) =>
        this.#hint(lost),
      );
      if (tree === null) this.#unwatchableUntil = Date.now() + unwatchableMs;
      else if (this.#closed || subject !== this.#subject) tree.close();
      else this.#tree = tree;
    } finally {
      this.#covering = null;
      // What happened before the watch began was told by nobody.
      this.#hint(false);
      await capability[Symbol.asyncDispose]();
    }
  }
}

/** A status that the configuration forbids is forbidden whatever the work tree holds. */
function judgeWithoutTree(reading: SnapshotReading, stamps: FileStamps): Evidence | null {
  const independent = reading.ignoredDirectories === null && reading.facts.diffStat === null;
  return independent && reading.lasting && stamps.usable ? { stamps, tree: null, version: 0 } : null;
}

function covers(tree: TreeWatch | null, { ignoredDirectories }: SnapshotReading): boolean {
  return tree !== null && ignoredDirectories !== null && tree.covers(ignoredDirectories);
}

function isWithin(now: number, since: number, limit: number): boolean {
  // A clock that was set back makes nothing younger.
  return now >= since && now - since < limit;
}

function describeSubject(capability: RepositoryCapability): string {
  const { held, repository, root } = capability;
  const places = [held.directory, repository.gitDirectory, repository.commonDirectory].map((directory) => {
    const { device, inode } = directory.place();
    return `${device}:${inode}`;
  });
  return JSON.stringify([root, repository.mainRoot, places, managedFactsOf(capability)]);
}
