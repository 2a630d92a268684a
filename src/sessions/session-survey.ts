import { normalize } from 'node:path/posix';
import { type DirectoryLookup, rememberLookups } from './directory-lookup.ts';
import { type FollowedPlace, followPlace, placeKey } from './followed-place.ts';
import { isAtOrBelow, type OccupiedDirectory } from './occupied-directory.ts';
import type { ProcessesInside } from './processes-inside.ts';
import type { GuardedSession, SessionPlace } from './session-guard.ts';

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

interface Located {
  readonly session: GuardedSession;
  readonly by: Occupant['by'];
  /** All spellings that count: as recorded, as followed now, and as it was when it was recorded. */
  readonly paths: readonly string[];
  readonly followed: FollowedPlace;
  readonly workspaces: readonly WorkspacePlace[];
}

interface WorkspacePlace {
  readonly paths: readonly string[];
  readonly followed: FollowedPlace;
}

/** Follows every place once. */
export async function surveySessions(
  sessions: readonly GuardedSession[],
  lookup: DirectoryLookup,
  findProcesses: (directory: OccupiedDirectory) => Promise<ProcessesInside>,
): Promise<SessionSurvey> {
  const remembered = rememberLookups(lookup);
  const located: Located[] = [];
  for (const session of sessions) {
    located.push(await locate(session, 'header', session.header, remembered));
    for (const place of session.current) located.push(await locate(session, 'current', place, remembered));
  }
  return {
    sessions: sessions.length,
    async occupants(directory) {
      const candidates = located.flatMap((place) => {
        const occupant = occupantOf(place, directory);
        return occupant === null ? [] : [{ occupant, dormant: place.session.dormant }];
      });
      if (!candidates.some(({ dormant }) => dormant)) return candidates.map(({ occupant }) => occupant);
      const { inside, unreadable } = await findProcesses(directory);
      const inUse = inside.length + unreadable > 0;
      return candidates.filter(({ dormant }) => inUse || !dormant).map(({ occupant }) => occupant);
    },
    headersOf: (sessionId) =>
      located
        .filter(({ session, by }) => session.id === sessionId && by === 'header')
        .map(({ followed }) => ('canonical' in followed ? followed.canonical : null)),
  };
}

async function locate(
  session: GuardedSession,
  by: Occupant['by'],
  place: SessionPlace,
  lookup: DirectoryLookup,
): Promise<Located> {
  const followed = 'path' in place ? await followPlace(place.path, lookup) : place;
  const workspaces: WorkspacePlace[] = [];
  if ('unknown' in followed) {
    for (const path of session.workspaces) {
      const root = await followPlace(path, lookup);
      workspaces.push({ paths: spellings({ path }, root), followed: root });
    }
  }
  return { session, by, paths: spellings(place, followed), followed, workspaces };
}

function spellings(place: SessionPlace, followed: FollowedPlace): readonly string[] {
  const paths: string[] = [];
  if ('path' in place && place.path.startsWith('/')) paths.push(plain(place.path));
  if ('path' in place && place.canonical !== undefined) paths.push(plain(place.canonical));
  if ('canonical' in followed) paths.push(followed.canonical);
  return paths;
}

/** Without `.`, `..` and slashes too many, by the text alone. */
function plain(path: string): string {
  const text = normalize(path);
  return text.length > 1 && text.endsWith('/') ? text.slice(0, -1) : text;
}

function occupantOf(
  { session, by, paths, followed, workspaces }: Located,
  directory: OccupiedDirectory,
): Occupant | null {
  const found = { sessionId: session.id, by };
  if (isInside(paths, followed, directory)) return { ...found, reason: 'inside' };
  if (!('unknown' in followed)) return null;
  const concerned = workspaces.length === 0 || workspaces.some((workspace) => mayReach(workspace, directory));
  return concerned ? { ...found, reason: 'unknown', why: followed.unknown } : null;
}

function isInside(paths: readonly string[], followed: FollowedPlace, directory: OccupiedDirectory): boolean {
  if (paths.some((path) => directory.paths.some((root) => isAtOrBelow(path, root)))) return true;
  return 'inodes' in followed && followed.inodes.has(placeKey(directory.place));
}

/** Whether a session of this workspace may be in the directory: they overlap, or the directory is a worktree of what lies there. */
function mayReach({ paths, followed }: WorkspacePlace, directory: OccupiedDirectory): boolean {
  if ('unknown' in followed || isInside(paths, followed, directory)) return true;
  return paths.some((path) =>
    [...directory.paths, ...directory.families].some(
      (root) => isAtOrBelow(path, root) || isAtOrBelow(root, path),
    ),
  );
}
