import { statSync } from 'node:fs';
import { createOccupation, type Occupation } from '../../src/sessions/occupation.ts';
import type { OccupiedDirectory } from '../../src/sessions/occupied-directory.ts';
import type { GuardedSession, SessionGuard, SessionPlace } from '../../src/sessions/session-guard.ts';
import type { Occupant } from '../../src/sessions/session-survey.ts';

/** A session as a host would tell of it. A place given as text is a recorded path. */
export function session(
  id: string,
  header: string | SessionPlace,
  current: readonly (string | SessionPlace)[] = [],
  rest: Partial<GuardedSession> = {},
): GuardedSession {
  return {
    id,
    header: placeOf(header),
    current: current.map(placeOf),
    workspaces: [],
    dormant: false,
    ...rest,
  };
}

function placeOf(place: string | SessionPlace): SessionPlace {
  return typeof place === 'string' ? { path: place } : place;
}

export function guardOf(...sessions: readonly GuardedSession[]): SessionGuard {
  return { list: async () => sessions };
}

export function occupationOf(...sessions: readonly GuardedSession[]): Occupation {
  return createOccupation(guardOf(...sessions));
}

/** A directory that exists, as a worktree of `main` when that is given. */
export function directoryAt(path: string, main?: string): OccupiedDirectory {
  const { dev, ino } = statSync(path, { bigint: true });
  return { paths: [path], place: { device: dev, inode: ino }, families: main === undefined ? [] : [main] };
}

export async function occupantsOf(
  sessions: readonly GuardedSession[],
  directory: OccupiedDirectory,
): Promise<readonly Occupant[]> {
  return (await occupationOf(...sessions).survey()).occupants(directory);
}
