import type { GuardedSession, SessionGuard, SessionPlace } from '../../src/sessions/session-guard.ts';

/** One session as the agent host keeps it: a header that never changes and a log of events. */
export interface HarnessSession {
  readonly id: string;
  /** As the client gave it; left out for a session that has no directory yet. */
  readonly cwd?: string;
  readonly live?: boolean;
  /** Values of its `working-directory/change` events. Null: its log cannot be read. */
  readonly changes?: readonly string[] | null;
}

export interface Harness {
  readonly sessions: readonly HarnessSession[];
  /** Session directories on disk; more than `sessions` when the list leaves unreadable headers out. */
  readonly directories?: number;
  readonly archived?: readonly string[];
  readonly workspaces?: readonly { readonly path: string; readonly sessionIds: readonly string[] }[];
  /** Whether the host records directories at all (its versions before 0.2.1 do not). */
  readonly projects?: boolean;
}

/** How an adapter over such a host answers: nothing is made canonical, nothing is left out. */
export function harnessGuard(host: () => Harness): SessionGuard {
  return {
    async list() {
      const {
        sessions,
        directories = sessions.length,
        archived = [],
        workspaces = [],
        projects = true,
      } = host();
      if (directories !== sessions.length) throw new Error('the list of sessions is not complete');
      return sessions.map(({ id, cwd, live = false, changes = [] }): GuardedSession => {
        const header: SessionPlace = cwd === undefined ? { unknown: 'no directory yet' } : { path: cwd };
        const last = changes?.at(-1);
        const projected: SessionPlace = last === undefined ? header : { path: last };
        const current: SessionPlace = changes === null ? { unknown: 'its log cannot be read' } : projected;
        return {
          id,
          header,
          current: projects ? [current] : [],
          workspaces: workspaces.filter(({ sessionIds }) => sessionIds.includes(id)).map(({ path }) => path),
          dormant: archived.includes(id) && !live,
        };
      });
    },
  };
}
