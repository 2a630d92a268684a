import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { FileStamp, StateDirectory, StateReading } from './state-directory.ts';

export type UnavailableCode = 'registry_unavailable' | 'session_guard_unavailable' | 'state_unavailable';

/** What one kind of state file is. */
export interface StateFormat<Content> {
  readonly name: string;
  /** Bytes at most. */
  readonly limit: number;
  /** Code of a reading that fails. */
  readonly unavailable: UnavailableCode;
  /** Whether it stays known on disk, by the file `<name>.initialised`, that this one was written. */
  readonly remembered: boolean;
  /** What stands for a file that was never written. */
  empty(): Content;
  /** @throws Error whose message says what is wrong, and quotes nothing */
  parse(bytes: Uint8Array): Content;
  print(content: Content): Uint8Array;
}

interface Known<Content> {
  readonly content: Content;
  readonly stamp: FileStamp;
}

/**
 * The kernel stamps changes with a clock that ticks every 1 to 10 ms (before Linux 6.13 always): two changes within a tick can
 * look alike. What was read sooner than twice that after the last change is read again.
 */
const racyMs = 20;
/** Writes that somebody else gets in before: under the lease only programs that know no lease can. */
const replaceAttempts = 8;

/**
 * A state file kept in memory and read again whenever its stamp changes. A file that is damaged, of another version, foreign, or
 * gone after it had been written is a refusal that names it; only a file that was never written is empty.
 */
export class StateFile<Content> {
  readonly #state: StateDirectory;
  readonly #format: StateFormat<Content>;
  #known: Known<Content> | null = null;
  #everSeen = false;
  #running: Promise<Content> | null = null;
  #queued: Promise<Content> | null = null;

  constructor(state: StateDirectory, format: StateFormat<Content>) {
    this.#state = state;
    this.#format = format;
  }

  /** The content as it is now; synchronous while the file is unchanged. @throws the format's `unavailable` (details.file, details.reason) */
  current(): Content | Promise<Content> {
    const known = this.#known;
    if (known === null) return this.#load();
    const unchanged = this.#isUnchanged(known.stamp);
    if (unchanged === true) return known.content;
    if (unchanged === false) return this.#load();
    return unchanged.then((same) => (same ? known.content : this.#load()));
  }

  /**
   * Replaces the content by what `change` makes of it; the same object back means that nothing is to be written. The caller holds the lease of this file; programs that know no lease are
   * noticed by the exchange, and the change is then made anew on what they wrote.
   * @throws the format's `unavailable` | `state_unavailable` | what `change` throws
   */
  async update(change: (content: Content) => Content): Promise<Content> {
    for (let attempt = 0; attempt < replaceAttempts; attempt += 1) {
      const reading = await this.#read();
      const content = reading === null ? this.#format.empty() : this.#parse(reading);
      const changed = change(content);
      if (changed === content) return content;
      if (await this.#write(this.#print(changed), reading)) return changed;
    }
    throw this.#refusal('state_unavailable', 'another program keeps changing it');
  }

  /** Marks a file as written that a kill left unmarked. The caller holds the lease. */
  async mend(): Promise<void> {
    if ((await this.#read()) !== null) await this.#mark();
  }

  /**
   * One reading runs and one waits. Whoever comes while one runs joins the one that waits: it begins after the call, so it cannot
   * miss what was written before the call.
   */
  #load(): Promise<Content> {
    if (this.#running === null) return this.#start();
    const next = (): Promise<Content> => this.#start();
    this.#queued ??= this.#running.then(next, next);
    return this.#queued;
  }

  #start(): Promise<Content> {
    this.#queued = null;
    const running = this.#refresh().finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }

  async #refresh(): Promise<Content> {
    const known = this.#known;
    if (known !== null && (await this.#isUnchanged(known.stamp))) return known.content;
    const reading = await this.#read();
    if (reading === null) return this.#format.empty();
    const content = this.#parse(reading);
    this.#known = isSettled(reading.stamp) ? { content, stamp: reading.stamp } : null;
    return content;
  }

  #isUnchanged(stamp: FileStamp): boolean | Promise<boolean> {
    const refuse = (error: unknown): never => {
      throw this.#asUnavailable(error);
    };
    try {
      const unchanged = this.#state.isUnchanged(this.#format.name, stamp);
      return typeof unchanged === 'boolean' ? unchanged : unchanged.catch(refuse);
    } catch (error) {
      return refuse(error);
    }
  }

  async #read(): Promise<StateReading | null> {
    const { name, limit, unavailable, remembered } = this.#format;
    try {
      const reading = await this.#state.read(name, limit);
      if (reading !== null) this.#everSeen = true;
      const expected = this.#everSeen || (remembered && (await this.#isMarked()));
      if (reading !== null || !expected) return reading;
    } catch (error) {
      throw this.#asUnavailable(error);
    }
    throw this.#refusal(unavailable, 'is missing, although it was written before');
  }

  #parse({ bytes }: StateReading): Content {
    try {
      return this.#format.parse(bytes);
    } catch (error) {
      throw this.#refusal(this.#format.unavailable, (error as Error).message);
    }
  }

  #print(content: Content): Uint8Array {
    const { limit } = this.#format;
    const bytes = this.#format.print(content);
    if (bytes.length > limit) throw this.#refusal('state_unavailable', `would be larger than ${limit} bytes`);
    // What could not be read back must not be written.
    this.#format.parse(bytes);
    return bytes;
  }

  async #write(bytes: Uint8Array, base: StateReading | null): Promise<boolean> {
    const { name } = this.#format;
    const written = await (base === null
      ? this.#state.create(name, bytes)
      : this.#state.replace(name, bytes, base));
    if (!written) return false;
    this.#everSeen = true;
    await this.#mark();
    return true;
  }

  /** After the file itself: a kill in between leaves a file that counts, never a mark without a file. */
  async #mark(): Promise<void> {
    if (!this.#format.remembered || (await this.#isMarked())) return;
    const { name } = this.#format;
    await this.#state.create(markName(name), Buffer.from(markText(name)));
  }

  async #isMarked(): Promise<boolean> {
    return (await this.#state.read(markName(this.#format.name), markLimit)) !== null;
  }

  #asUnavailable(error: unknown): unknown {
    if (!isAuthorityError(error) || error.code !== 'state_unavailable') return error;
    return new AuthorityError(this.#format.unavailable, { details: error.details, cause: error });
  }

  #refusal(code: UnavailableCode, reason: string): AuthorityError {
    return new AuthorityError(code, { details: { file: this.#format.name, reason } });
  }
}

const markLimit = 4096;

function markName(name: string): string {
  return `${name}.initialised`;
}

function markText(name: string): string {
  return `${name} has been written. If it is missing, this server refuses to work until it is restored.
To begin again without it, remove this file too.
`;
}

function isSettled(stamp: FileStamp): boolean {
  return BigInt(Date.now() - racyMs) * 1_000_000n > stamp.changedNs;
}
