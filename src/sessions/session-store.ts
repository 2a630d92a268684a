import type { SessionGuard } from './session-guard.ts';
import type { SessionLife } from './session-life.ts';
import type { SessionMove, SessionRow } from './session-table.ts';

export interface NewSession {
  readonly id: string;
  /** Canonical. */
  readonly workspace: string;
  /** Canonical. */
  readonly directory: string;
  readonly life: SessionLife;
}

/**
 * Sessions of this package's own. A session comes to a directory in two steps, so that whoever takes the directory away meanwhile sees it, or
 * is seen: its place is written down, then the directory is proven to be there still, then the move is settled or taken back.
 *
 * All throw `session_guard_unavailable`, `state_unavailable`, and what the gate throws.
 */
export interface SessionStore extends SessionGuard {
  /** Those that have not ended. */
  rows(): Promise<readonly SessionRow[]>;
  /** Writes a session that works in its directory at once. @throws `session_already_exists` */
  create(session: NewSession, signal?: AbortSignal): Promise<SessionRow>;
  /** Adds a place that counts from now on beside the others. @throws `session_not_found` */
  beginMove(id: string, directory: string, signal?: AbortSignal): Promise<SessionMove>;
  /** Makes the begun move's directory the one it works in, and renews the session. @throws `session_not_found` */
  settleMove(id: string, move: SessionMove): Promise<SessionRow>;
  /** Takes a begun move back. A session that ended meanwhile is left as it is. */
  abandonMove(id: string, move: SessionMove): Promise<void>;
  /** @throws `session_not_found` when it ended meanwhile: it must be created anew */
  renew(id: string, signal?: AbortSignal): Promise<SessionRow>;
  /** @throws `session_not_found` */
  close(id: string, signal?: AbortSignal): Promise<SessionRow>;
}
