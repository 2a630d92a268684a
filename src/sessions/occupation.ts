import { AuthorityError } from '../errors/index.ts';
import { readSessions } from './check-sessions.ts';
import { createDirectoryLookup, type DirectoryLookup } from './directory-lookup.ts';
import type { OccupiedDirectory } from './occupied-directory.ts';
import { findProcessesInside } from './processes-inside.ts';
import type { SessionGuard } from './session-guard.ts';
import { type SessionSurvey, surveySessions } from './session-survey.ts';

/** Says who is in a directory (R28). */
export interface Occupation {
  /**
   * Asks the guard now and follows every recorded place. Good for a dry run over many directories; before one is taken away, ask again.
   * @throws `session_guard_unavailable` | `aborted`
   */
  survey(signal?: AbortSignal): Promise<SessionSurvey>;
  /**
   * Refuses unless a fresh survey finds nobody. Not promised: that nobody comes a moment later; set the directory aside, then ask again.
   * @throws `session_active` (details.sessions, details.occupants) | as `survey`
   */
  assertUnoccupied(directory: OccupiedDirectory, signal?: AbortSignal): Promise<void>;
  /**
   * Refuses unless the session exists and was created in exactly this canonical directory (wire contract 1.2, step 6).
   * @throws `creation_source_changed` | as `survey`
   */
  assertCreationSource(sessionId: string, directory: string, signal?: AbortSignal): Promise<void>;
}

/** A refusal names at most so many occupants; `details.sessions` counts all sessions. */
const namedOccupants = 20;

/** @param guard null where the host has none: then everything is refused (R27) */
export function createOccupation(
  guard: SessionGuard | null,
  lookup: DirectoryLookup = createDirectoryLookup(),
): Occupation {
  const survey = async (signal?: AbortSignal): Promise<SessionSurvey> =>
    surveySessions(await readSessions(guard, signal), lookup, findProcessesInside);
  return {
    survey,
    async assertUnoccupied(directory, signal) {
      const found = await (await survey(signal)).occupants(directory);
      if (found.length === 0) return;
      const sessions = new Set(found.map(({ sessionId }) => sessionId)).size;
      const occupants = found.slice(0, namedOccupants);
      throw new AuthorityError('session_active', { details: { sessions, occupants } });
    },
    async assertCreationSource(sessionId, directory, signal) {
      const headers = (await survey(signal)).headersOf(sessionId);
      if (headers.length > 0 && headers.every((header) => header === directory)) return;
      throw new AuthorityError('creation_source_changed');
    },
  };
}
