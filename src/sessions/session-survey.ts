import { type DirectoryLookup, rememberLookups } from './directory-lookup.ts';
import { type LocatedSession, locateSessions, mayBeInside, PlaceIndex } from './located-session.ts';
import type { OccupiedDirectory } from './occupied-directory.ts';
import type { ProcessesInside } from './processes-inside.ts';
import type { GuardedSession } from './session-guard.ts';

/** Why a session occupies a directory. */
export interface Occupant {
  readonly sessionId: string;
  /** By the directory it was created in, or by the one it works in. */
  readonly by: 'header' | 'current';
  /** `inside`: the place is the directory or lies below it. `unknown`: nobody can say that it does not. */
  readonly reason: 'inside' | 'unknown';
  /** Of an unknown place: why it is. */
  readonly why?: string;
}

/** Where all sessions were at one time. */
export interface SessionSurvey {
  readonly sessions: number;
  /** Empty: nobody is in it. @throws `session_guard_unavailable` when it depends on processes that cannot be listed */
  occupants(directory: OccupiedDirectory): Promise<readonly Occupant[]>;
  /** Canonical paths that the sessions of this id were created in, null for an unknown one; empty without such a session. */
  headersOf(sessionId: string): readonly (string | null)[];
}

/** Follows every place once. */
export async function surveySessions(
  sessions: readonly GuardedSession[],
  lookup: DirectoryLookup,
  findProcesses: (directory: OccupiedDirectory) => Promise<ProcessesInside>,
): Promise<SessionSurvey> {
  const located = await locateSessions(sessions, rememberLookups(lookup));
  const index = new PlaceIndex(located);
  const unknown = located.filter(({ spot }) => 'unknown' in spot.followed);
  return {
    sessions: sessions.length,
    async occupants(directory) {
      const inside = index.inside(directory);
      const found = [...inside].map((place) => ({ place, occupant: occupantOf(place, null) }));
      for (const place of unknown) {
        const why = inside.has(place) ? null : mayBeInside(place, directory);
        if (why !== null) found.push({ place, occupant: occupantOf(place, why) });
      }
      const active = found.filter(({ place }) => !place.session.dormant);
      const isInUse = async (): Promise<boolean> => {
        const processes = await findProcesses(directory);
        return processes.inside.length + processes.unreadable > 0;
      };
      const counted = active.length < found.length && (await isInUse()) ? found : active;
      return counted.map(({ occupant }) => occupant);
    },
    headersOf: (sessionId) =>
      located
        .filter(({ session, by }) => session.id === sessionId && by === 'header')
        .map(({ spot: { followed } }) => ('canonical' in followed ? followed.canonical : null)),
  };
}

function occupantOf({ session, by }: LocatedSession, why: string | null): Occupant {
  const occupant = { sessionId: session.id, by };
  return why === null ? { ...occupant, reason: 'inside' } : { ...occupant, reason: 'unknown', why };
}
