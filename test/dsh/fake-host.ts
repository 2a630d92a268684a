import { statSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostServices } from '../../src/dsh/host-services.ts';
import { type FakeEvent, type FakeHeader, FakeLogs } from './fake-logs.ts';
import { FakeRegistry } from './fake-registry.ts';

/** 0.1.0: no `stateOf`, and whether directories are recorded depends on a plugin. 0.1.1: with `stateOf`. 0.2.1: always recorded. */
export type HostVersion = '0.1.0' | '0.1.1' | '0.2.1';

export const hostVersions: readonly HostVersion[] = ['0.1.0', '0.1.1', '0.2.1'];

export const changeOf = (cwd: string): FakeEvent => ({ type: 'working-directory/change', data: { cwd } });

/** A running session. Fact: the header is frozen, its cwd verbatim; nothing is written before the first event. */
export interface FakeSession {
  readonly id: string;
  readonly header: FakeHeader;
  readonly events: FakeEvent[];
}

export interface FakeHostOptions {
  readonly home: string;
  readonly version: HostVersion;
  /** Whether the projection `workingDirectory` is mounted; always in 0.2.1. */
  readonly projects?: boolean;
}

/**
 * The services of a host that the adapters ask, one fact at a time, after the host facts 1 to 3. Names and shapes are those of the
 * version; logs are files. What is not asked is not here.
 */
export class FakeHost implements HostServices {
  readonly version: HostVersion;
  readonly home: string;
  readonly logs: FakeLogs;
  readonly registry = new FakeRegistry();
  /** Services by name; a test takes one away by deleting it, or puts something else there. */
  readonly services = new Map<string, unknown>();
  /** Set, listing the store of logs fails with it. */
  listFailure: Error | null = null;
  /** Logs read whole so far. */
  readonly reads: string[] = [];
  /** Set, reading a projection fails with it. */
  projectionFailure: Error | null = null;
  /** Observations of logs that nobody gave back. */
  observed = 0;
  readonly #live = new Map<string, FakeSession>();

  constructor({ home, version, projects = version === '0.2.1' }: FakeHostOptions) {
    this.home = home;
    this.version = version;
    this.logs = new FakeLogs(
      join(home, 'sessions'),
      version === '0.2.1' ? 'session.v4.jsonl' : 'session.jsonl',
    );
    this.services.set('workspaceRegistry', this.registry);
    // Fact: `ctx.sessions.list()` answers with a fresh array in the order of creation.
    this.services.set('sessions', {
      list: () => [...this.#live.values()],
      get: (id: string) => this.#live.get(id),
    });
    this.services.set(
      'sessionPersistence',
      version === '0.2.1' ? this.#persistence2() : this.#persistence1(),
    );
    this.services.set('sessionProjections', this.#projections(projects));
    if (version === '0.2.1') {
      this.services.set('workingDirectory', this.#workingDirectory());
      this.services.set('sessionQuery', this.#sessionQuery());
    }
  }

  get(name: string): unknown {
    return this.services.get(name);
  }

  /** Fact: any cwd is accepted and kept as it was given; it need not exist, and it may be missing. */
  createSession(id: string, cwd?: string, rest: Partial<FakeHeader> = {}): FakeSession {
    const header: FakeHeader = Object.freeze({
      version: this.version === '0.2.1' ? 4 : 0,
      id,
      createdAt: 1,
      ...(cwd === undefined ? {} : { cwd }),
      ...rest,
    });
    const session = { id, header, events: [] };
    this.#live.set(id, session);
    return session;
  }

  /** Fact: the log comes to be with the first event. */
  append(session: FakeSession, ...events: readonly FakeEvent[]): void {
    session.events.push(...events);
    this.logs.write(session.header, session.events);
  }

  /** What the tool `working_directory` does. Fact: the directory must exist; its canonical path is recorded, where it is another one. */
  async moveSession(session: FakeSession, path: string): Promise<void> {
    const canonical = await realpath(path);
    if (!(await stat(canonical)).isDirectory()) throw new Error('not a directory');
    if (fold(session.header, session.events) !== canonical) this.append(session, changeOf(canonical));
  }

  /** Fact: a session is closed by nobody; it leaves the store when what owns it goes, at the latest with the host. */
  endLife(...ids: readonly string[]): void {
    for (const id of ids.length > 0 ? ids : [...this.#live.keys()]) this.#live.delete(id);
  }

  /** A session of which there is only a log. */
  storeSession(id: string, cwd?: string, ...events: readonly FakeEvent[]): FakeSession {
    const session = this.createSession(id, cwd);
    this.append(session, { type: 'turn/start', data: {} }, ...events);
    this.endLife(id);
    return session;
  }

  /** 0.1.x. Facts: `list(signal)` answers with headers, `listSnapshots` with header and revision; both fail whole when an id does not fit its place. */
  #persistence1() {
    const list = () => {
      if (this.listFailure !== null) throw this.listFailure;
      const stored = this.logs.list();
      for (const { header, file } of stored) {
        if (file !== this.logs.fileOf(header)) throw new Error(`corrupt session log "${file}"`);
      }
      return stored;
    };
    return {
      locate: (meta: FakeHeader) => ({ kind: 'jsonl', path: this.logs.fileOf(meta) }),
      list: async () => list().map(({ header }) => header),
      listSnapshots: async () => list().map(({ header, file }) => ({ header, revision: revisionOf(file) })),
      // Fact: an event that this version does not know, and a header of another version, reject the whole reading.
      readFrom: async (id: string, from: number) => {
        this.reads.push(id);
        const { header, events } = this.logs.read(id);
        const unknown = events.find(({ type }) => type === 'working-directory/change');
        if (header.version !== 0 || unknown !== undefined) throw new Error('SessionFormatUnsupportedError');
        return { meta: header, events: events.slice(from) };
      },
    };
  }

  /** 0.2.x. Facts: `list(options)` answers with snapshots; what it cannot read or does not support is left out. */
  #persistence2() {
    return {
      list: async (options: unknown) => {
        if (typeof options !== 'object' || options instanceof AbortSignal)
          throw new TypeError('options expected');
        if (this.listFailure !== null) throw this.listFailure;
        return this.logs
          .list()
          .filter(({ header }) => header.version === 4)
          .map(({ header, file }) => ({ header, revision: revisionOf(file), eventCount: 0 }));
      },
    };
  }

  /** Facts: the state starts with the header's cwd or null, and the last change wins; `snapshot(session).values` has it under `workingDirectory`. */
  #projections(mounted: boolean) {
    const stateOf = (session: FakeSession): string | null => {
      if (this.projectionFailure !== null) throw this.projectionFailure;
      return fold(session.header, session.events);
    };
    const snapshot = (session: FakeSession) => ({
      asOfSeq: session.events.length - 1,
      values: mounted ? { workingDirectory: stateOf(session) } : {},
    });
    return this.version === '0.1.0' ? { snapshot } : { snapshot, stateOf };
  }

  /** Facts: `get` has no effect; `ensure` may append a change, so that nobody but the host may call it; `set` takes the canonical path of a directory. */
  #workingDirectory() {
    return {
      get: (session: FakeSession) => fold(session.header, session.events) ?? '/',
      ensure: () => {
        throw new Error('ensure writes to the log');
      },
      set: (session: FakeSession, path: string) => this.moveSession(session, path),
    };
  }

  /** Fact: `observeSession` answers with a disposable over a log that is not live, and folds it when it is asked for all projections. */
  #sessionQuery() {
    return {
      observeSession: async (id: string, { projectionMode }: { readonly projectionMode: string }) => {
        this.reads.push(id);
        const { header, events } = this.logs.read(id);
        if (header.version !== 4) throw new Error('SESSION_QUERY_CORRUPT_SESSION');
        this.observed += 1;
        const values = projectionMode === 'all' ? { workingDirectory: fold(header, events) } : {};
        return {
          header,
          events,
          source: 'cold',
          inheritedEventCount: 0,
          projections: { values },
          [Symbol.dispose]: () => {
            this.observed -= 1;
          },
        };
      },
    };
  }
}

/** Fact: the directory in which tools run. A session without one uses the default of the host, which is none of the sandbox. */
export function workingDirectoryOf({ header, events }: FakeSession): string {
  const directory = fold(header, events);
  if (directory === null) throw new Error('the session has no directory');
  return directory;
}

function fold(header: FakeHeader, events: readonly FakeEvent[]): string | null {
  const last = events.findLast(({ type }) => type === 'working-directory/change');
  return last === undefined ? (header.cwd ?? null) : (last.data as { cwd: string }).cwd;
}

function revisionOf(file: string): string {
  const { ino, size, mtimeNs } = statSync(file, { bigint: true });
  return `${ino}-${size}-${mtimeNs}`;
}
