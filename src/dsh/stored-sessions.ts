import type { SessionPlace } from '../sessions/session-guard.ts';
import { type HostObject, type HostServices, isHostObject, methodOf, textOf } from './host-services.ts';

/** The header of a session: immutable, and its `cwd` verbatim as some client gave it, so that it is a hint and never an authority. */
export interface HostHeader {
  readonly id: string;
  readonly cwd: string | null;
}

/** A session of which the host has a log. */
export interface StoredSession {
  readonly header: HostHeader;
  /** Names this state of its log; null where the host names none. */
  readonly revision: string | null;
}

/** How a log that does not belong to a running session is read, and what its last word on the directory was. */
export interface StoredSessions {
  /** @throws whatever the host throws; Error when it answers with something else */
  list(signal: AbortSignal): Promise<readonly StoredSession[]>;
  /** Null: nothing was ever recorded. @throws where the log cannot be read whole, is of a newer version or no longer there */
  readDirectory(sessionId: string, signal: AbortSignal): Promise<SessionPlace | null>;
}

/** The event that records a change of directory (0.2.1): the whole value, and the last one counts, also in what a fork inherited. */
const changeEvent = 'working-directory/change';

/** @returns null where the host has no persistence of sessions, or none that can be asked */
export function readStoredSessions(host: HostServices): StoredSessions | null {
  const persistence = host.get('sessionPersistence');
  if (methodOf(persistence, 'listSnapshots') !== undefined) return firstGeneration(persistence);
  if (methodOf(persistence, 'list') !== undefined) return secondGeneration(host, persistence);
  return null;
}

/** 0.1.x: `listSnapshots(signal)` -> {header, revision}[]; `readFrom(id, seq, signal)` -> {meta, events}, without making the session live. */
function firstGeneration(persistence: unknown): StoredSessions {
  return {
    list: async (signal) => parseList(await methodOf(persistence, 'listSnapshots')?.(signal)),
    readDirectory: async (sessionId, signal) => {
      const stored = await methodOf(persistence, 'readFrom')?.(sessionId, 0, signal);
      if (!isHostObject(stored)) throw new Error('the log cannot be read');
      return lastChange(stored['events']);
    },
  };
}

/**
 * 0.2.x: `list({signal})` -> {header, revision, ...}[]; `sessionQuery.observeSession(id, {projectionMode, signal})` -> a disposable
 * {events, projections}. Mode `all` folds the log; the cached hints of lists may be stale and are not asked for.
 */
function secondGeneration(host: HostServices, persistence: unknown): StoredSessions {
  return {
    list: async (signal) => parseList(await methodOf(persistence, 'list')?.({ signal })),
    readDirectory: async (sessionId, signal) => {
      const observe = methodOf(host.get('sessionQuery'), 'observeSession');
      const observed = await observe?.(sessionId, { projectionMode: 'all', signal });
      if (!isHostObject(observed)) throw new Error('the log cannot be observed');
      try {
        const { projections } = observed;
        const values = isHostObject(projections) ? projections['values'] : undefined;
        if (isHostObject(values) && Object.hasOwn(values, 'workingDirectory')) {
          return placeOf(values['workingDirectory']);
        }
        return lastChange(observed['events']);
      } finally {
        const dispose = observed[Symbol.dispose as unknown as string];
        if (typeof dispose === 'function') dispose.call(observed);
      }
    },
  };
}

/** A projected value: an absolute path, or null for a session that has no directory. */
export function placeOf(value: unknown): SessionPlace {
  if (typeof value === 'string') return { path: value };
  return { unknown: value === null ? 'no directory is recorded' : 'its recorded directory cannot be read' };
}

/** @throws Error when a header cannot be told from another */
export function parseHeader(value: unknown): HostHeader {
  const id = isHostObject(value) ? textOf(value, 'id') : null;
  if (!isHostObject(value) || id === null) throw new Error('a session has no id');
  const { cwd } = value;
  if (cwd !== undefined && typeof cwd !== 'string') throw new Error('the directory of a session is no text');
  return { id, cwd: cwd ?? null };
}

function parseList(answer: unknown): readonly StoredSession[] {
  if (!Array.isArray(answer)) throw new Error('the list of stored sessions is no list');
  return answer.map((item: HostObject) => {
    if (!isHostObject(item)) throw new Error('a stored session cannot be read');
    const { header, revision } = item;
    return { header: parseHeader(header), revision: typeof revision === 'string' ? revision : null };
  });
}

function lastChange(events: unknown): SessionPlace | null {
  if (!Array.isArray(events)) throw new Error('the events of a session are no list');
  const last = events.findLast((event) => isHostObject(event) && event['type'] === changeEvent);
  if (last === undefined) return null;
  const { data } = last as HostObject;
  return placeOf(isHostObject(data) ? data['cwd'] : undefined);
}
