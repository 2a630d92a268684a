import type { SessionPlace } from '../sessions/session-guard.ts';
import { type HostServices, isHostObject, methodOf } from './host-services.ts';
import { type HostHeader, parseHeader, placeOf } from './stored-sessions.ts';

/** A session that runs in this host, whether or not anything of it was written. */
export interface LiveSession {
  readonly header: HostHeader;
  /** Where it works now; null where the host records no directories. */
  readonly current: SessionPlace | null;
}

/** @throws Error when the host has no store of sessions, or it answers with something else */
export function readLiveSessions(host: HostServices): ReadonlyMap<string, LiveSession> {
  const answer = methodOf(host.get('sessions'), 'list')?.();
  if (!Array.isArray(answer)) throw new Error('the host has no store of running sessions');
  const live = new Map<string, LiveSession>();
  for (const session of answer) {
    if (!isHostObject(session)) throw new Error('a running session cannot be read');
    const header = parseHeader(session['header']);
    live.set(header.id, { header, current: projectedDirectory(host, session) });
  }
  return live;
}

/**
 * The projection `workingDirectory` (0.2.1), read without side effects: `stateOf` (0.1.1 and later) or the whole snapshot (0.1.0). Never
 * `ctx.workingDirectory.ensure`, which writes to the log. A key that is not there is a capability that is not mounted.
 */
function projectedDirectory(host: HostServices, session: object): SessionPlace | null {
  const projections = host.get('sessionProjections');
  const isMounted = host.get('workingDirectory') !== undefined;
  const unreadable: SessionPlace = { unknown: 'its directory cannot be read' };
  const snapshot = methodOf(projections, 'snapshot');
  if (snapshot === undefined) return isMounted ? unreadable : null;
  try {
    const answer = snapshot(session);
    const values = isHostObject(answer) ? answer['values'] : undefined;
    if (!isHostObject(values)) return unreadable;
    if (!Object.hasOwn(values, 'workingDirectory')) return isMounted ? unreadable : null;
    const stateOf = methodOf(projections, 'stateOf');
    return placeOf(stateOf === undefined ? values['workingDirectory'] : stateOf(session, 'workingDirectory'));
  } catch {
    return unreadable;
  }
}
