/**
 * A directory that a host recorded for a session, or why nobody can say which one it is: a session without a directory, a log that
 * cannot be read.
 */
export type SessionPlace =
  | {
      /** As the host recorded it, in whatever spelling; a relative one names no place. */
      readonly path: string;
      /** Its canonical path when it was recorded, where the host kept that: it outlives links that are turned later. */
      readonly canonical?: string;
    }
  | {
      /** One short phrase without paths. */
      readonly unknown: string;
    };

/** One session that has not closed, as its host knows it. */
export interface GuardedSession {
  readonly id: string;
  /** The directory it was created in, which never changes. */
  readonly header: SessionPlace;
  /** Where it works now; several while it moves, none where the host records no moves. */
  readonly current: readonly SessionPlace[];
  /** Roots of the workspaces it belongs to; none when that is unknown. Only for places that are. */
  readonly workspaces: readonly string[];
  /**
   * Put away and not running, but not closed either: it occupies a directory only while a process of this user works inside (R28).
   */
  readonly dormant: boolean;
}

/**
 * The hard dependency that says who is where (R04, R27). The answer holds every session that has not closed, running or not, as it is at
 * the time of the call. An implementation that may miss one throws `session_guard_unavailable`; one that cannot read a session names it
 * with an unknown place.
 */
export interface SessionGuard {
  list(signal?: AbortSignal): Promise<readonly GuardedSession[]>;
}
