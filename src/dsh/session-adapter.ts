import { AuthorityError } from '../errors/index.ts';
import type { GuardedSession, SessionGuard, SessionPlace } from '../sessions/session-guard.ts';
import type { HostServices } from './host-services.ts';
import { type HostWorkspace, readArchivedSessionIds, readHostWorkspaces } from './host-workspaces.ts';
import { type LiveSession, readLiveSessions } from './live-sessions.ts';
import { findSessionLogs, locateSessionLogs, type SessionLog } from './session-logs.ts';
import { readStoredSessions, type StoredSession, type StoredSessions } from './stored-sessions.ts';

export interface HostSessionsOptions {
  /** Where the logs lie, for a host whose persistence does not say so. Absolute path. */
  readonly logDirectory: string;
  /** Milliseconds in which the host has to answer; default 30,000. */
  readonly deadlineMs?: number;
}

const defaultDeadlineMs = 30_000;
/** Logs that are read at once. */
const readAtOnce = 4;

/**
 * The host's sessions as our port (R28): those that run, those of which there is a log, and those whose log the host leaves out of its list.
 * Archived sessions and those of subagents are among them. What ends an occupation is in docs/dsh.md.
 */
export function createHostSessions(host: HostServices, options: HostSessionsOptions): SessionGuard {
  return new HostSessions(host, options);
}

interface ReadDirectory {
  readonly revision: string;
  readonly place: SessionPlace | null;
}

class HostSessions implements SessionGuard {
  readonly #host: HostServices;
  readonly #options: HostSessionsOptions;
  /** By session id, since a log that did not change need not be read again. */
  #known: ReadonlyMap<string, ReadDirectory> = new Map();

  constructor(host: HostServices, options: HostSessionsOptions) {
    this.#host = host;
    this.#options = options;
  }

  async list(signal?: AbortSignal): Promise<readonly GuardedSession[]> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.#options.deadlineMs ?? defaultDeadlineMs);
    const either = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
    try {
      return await Promise.race([this.#list(either), untilAborted(either)]);
    } catch (cause) {
      signal?.throwIfAborted();
      const reason = late.signal.aborted ? 'the host does not answer' : reasonOf(cause);
      throw new AuthorityError('session_guard_unavailable', { details: { reason }, cause });
    } finally {
      clearTimeout(timer);
      late.abort();
    }
  }

  async #list(signal: AbortSignal): Promise<readonly GuardedSession[]> {
    const host = this.#host;
    const stored = readStoredSessions(host);
    if (stored === null) throw new Refusal('the host keeps no sessions');
    const logs = await this.#findLogs();
    // Read before and after: a session that ends meanwhile is either still here or in the list.
    const before = readLive(host);
    const persisted = await listStored(stored, signal);
    const live = new Map([...before, ...readLive(host)]);
    const cold = persisted.filter(({ header }) => !live.has(header.id));
    const membership = readMembership(host);
    const directories = await this.#readDirectories(stored, cold, signal);
    const lost = await findLost(logs, persisted, live);
    return [
      ...[...live.values()].map(({ header, current }) =>
        membership.session(header.id, true, header.cwd, current),
      ),
      ...cold.map(({ header }) =>
        membership.session(header.id, false, header.cwd, directories.get(header.id) ?? null),
      ),
      ...lost.map((id) => membership.lostSession(id)),
    ];
  }

  async #findLogs(): Promise<readonly SessionLog[]> {
    try {
      const located = locateSessionLogs(this.#host.get('sessionPersistence'));
      return await findSessionLogs(located ?? this.#options.logDirectory);
    } catch (cause) {
      throw new Refusal('the directory of session logs cannot be listed', cause);
    }
  }

  /** What each log says last. A log that the host cannot read makes its place unknown and no other. */
  async #readDirectories(
    stored: StoredSessions,
    sessions: readonly StoredSession[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, SessionPlace | null>> {
    const known = new Map<string, ReadDirectory>();
    const places = new Map<string, SessionPlace | null>();
    const rest = sessions.values();
    const worker = async (): Promise<void> => {
      for (const { header, revision } of rest) {
        const remembered = this.#known.get(header.id);
        if (remembered !== undefined && remembered.revision === revision) {
          known.set(header.id, remembered);
          places.set(header.id, remembered.place);
          continue;
        }
        try {
          const place = await stored.readDirectory(header.id, signal);
          places.set(header.id, place);
          if (revision !== null) known.set(header.id, { revision, place });
        } catch {
          signal.throwIfAborted();
          places.set(header.id, { unknown: 'its log cannot be read by this host' });
        }
      }
    };
    await Promise.all(Array.from({ length: readAtOnce }, worker));
    this.#known = known;
    return places;
  }
}

/** Why the whole list cannot be had, in words that may be shown. */
class Refusal extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Refusal ? error.message : 'the sessions of the host cannot be read';
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(new Refusal('aborted'));
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}

function readLive(host: HostServices): ReadonlyMap<string, LiveSession> {
  try {
    return readLiveSessions(host);
  } catch (cause) {
    throw new Refusal('the running sessions cannot be read', cause);
  }
}

async function listStored(stored: StoredSessions, signal: AbortSignal): Promise<readonly StoredSession[]> {
  try {
    return await stored.list(signal);
  } catch (cause) {
    throw new Refusal('the host cannot list its sessions', cause);
  }
}

/** Ids of logs that the host did not list, one for each log: damaged, of a newer format, or lying where none should. */
async function findLost(
  logs: readonly SessionLog[],
  persisted: readonly StoredSession[],
  live: ReadonlyMap<string, LiveSession>,
): Promise<readonly string[]> {
  const listed = new Set([...persisted.map(({ header }) => header.id), ...live.keys()]);
  const lost: string[] = [];
  for (const log of logs) {
    // Each listed session accounts for one log.
    if (listed.delete(log.sessionId)) continue;
    if (await log.isThere()) lost.push(log.sessionId);
  }
  return lost;
}

interface Membership {
  session(id: string, isLive: boolean, cwd: string | null, current: SessionPlace | null): GuardedSession;
  lostSession(id: string): GuardedSession;
}

function readMembership(host: HostServices): Membership {
  let rows: readonly HostWorkspace[];
  let archived: ReadonlySet<string>;
  try {
    rows = readHostWorkspaces(host);
    archived = readArchivedSessionIds(host);
  } catch (cause) {
    throw new Refusal('the workspace registry cannot be read', cause);
  }
  const byId = new Map<string, string[]>();
  for (const { path, sessionIds } of rows) {
    for (const id of sessionIds) byId.set(id, [...(byId.get(id) ?? []), path]);
  }
  const workspacesOf = (id: string): readonly string[] => byId.get(id) ?? [];
  return {
    session: (id, isLive, cwd, current) => ({
      id,
      header: cwd === null ? { unknown: 'no directory is recorded' } : { path: cwd },
      current: current === null ? [] : [current],
      workspaces: workspacesOf(id),
      dormant: archived.has(id) && !isLive,
    }),
    lostSession: (id) => ({
      id,
      header: { unknown: 'its log is there, but the host does not list it' },
      current: [],
      workspaces: workspacesOf(id),
      dormant: archived.has(id),
    }),
  };
}
