import { normalize } from 'node:path/posix';
import type { DirectoryLookup } from './directory-lookup.ts';
import { type FollowedPlace, followPlace, placeKey } from './followed-place.ts';
import { isAtOrBelow, type OccupiedDirectory } from './occupied-directory.ts';
import type { GuardedSession, SessionPlace } from './session-guard.ts';

/** One place of one session, as far as it could be followed. */
export interface LocatedSession {
  readonly session: GuardedSession;
  readonly by: 'header' | 'current';
  readonly spot: Spot;
  /** Of the session's workspaces, where the place is unknown. */
  readonly workspaces: readonly Spot[];
}

interface Spot {
  /** All spellings that count: as recorded, as it was when it was recorded, and as followed now. */
  readonly paths: readonly string[];
  readonly followed: FollowedPlace;
}

export async function locateSessions(
  sessions: readonly GuardedSession[],
  lookup: DirectoryLookup,
): Promise<readonly LocatedSession[]> {
  const located: LocatedSession[] = [];
  for (const session of sessions) {
    located.push(await locate(session, 'header', session.header, lookup));
    for (const place of session.current) located.push(await locate(session, 'current', place, lookup));
  }
  return located;
}

async function locate(
  session: GuardedSession,
  by: LocatedSession['by'],
  place: SessionPlace,
  lookup: DirectoryLookup,
): Promise<LocatedSession> {
  const spot = await spotOf(place, lookup);
  const workspaces: Spot[] = [];
  if ('unknown' in spot.followed) {
    for (const path of session.workspaces) workspaces.push(await spotOf({ path }, lookup));
  }
  return { session, by, spot, workspaces };
}

async function spotOf(place: SessionPlace, lookup: DirectoryLookup): Promise<Spot> {
  if (!('path' in place)) return { paths: [], followed: place };
  const followed = await followPlace(place.path, lookup);
  const paths = new Set<string>();
  if (place.path.startsWith('/')) paths.add(plain(place.path));
  if (place.canonical !== undefined) paths.add(plain(place.canonical));
  if ('canonical' in followed) paths.add(followed.canonical);
  return { paths: [...paths], followed };
}

/** Without `.`, `..` and slashes too many, by the text alone. */
function plain(path: string): string {
  const text = normalize(path);
  return text.length > 1 && text.endsWith('/') ? text.slice(0, -1) : text;
}

/** Finds the places in or below a directory without a look at all the others. */
export class PlaceIndex {
  /** By every path at or above a place, and by the identity of every directory there. */
  readonly #places = new Map<string, Set<LocatedSession>>();

  constructor(located: readonly LocatedSession[]) {
    for (const place of located) {
      const { paths, followed } = place.spot;
      for (const path of paths) for (const above of pathsAbove(path)) this.#add(above, place);
      if ('inodes' in followed) for (const key of followed.inodes) this.#add(key, place);
    }
  }

  inside(directory: OccupiedDirectory): ReadonlySet<LocatedSession> {
    const keys = [...directory.paths, placeKey(directory.place)];
    return new Set(keys.flatMap((key) => [...(this.#places.get(key) ?? [])]));
  }

  #add(key: string, place: LocatedSession): void {
    const places = this.#places.get(key);
    if (places === undefined) this.#places.set(key, new Set([place]));
    else places.add(place);
  }
}

function* pathsAbove(path: string): Generator<string> {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) yield path.slice(0, end);
}

/** Why a place that is unknown may be in the directory; null when its session's workspaces say that it is not. */
export function mayBeInside(
  { spot, workspaces }: LocatedSession,
  directory: OccupiedDirectory,
): string | null {
  if (!('unknown' in spot.followed)) return null;
  const reaches = workspaces.length === 0 || workspaces.some((workspace) => mayReach(workspace, directory));
  return reaches ? spot.followed.unknown : null;
}

/** Whether a session of this workspace may be in the directory: they overlap, or the directory is a worktree of what lies there. */
function mayReach({ paths, followed }: Spot, directory: OccupiedDirectory): boolean {
  if ('unknown' in followed || followed.inodes.has(placeKey(directory.place))) return true;
  return paths.some((path) =>
    [...directory.paths, ...directory.families].some(
      (root) => isAtOrBelow(path, root) || isAtOrBelow(root, path),
    ),
  );
}
