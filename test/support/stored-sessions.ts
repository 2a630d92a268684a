import { join } from 'node:path';
import { type FileSessionsOptions, openFileSessions } from '../../src/sessions/file-sessions.ts';
import type { Instant, SessionLife } from '../../src/sessions/session-life.ts';
import type { NewSession, SessionStore } from '../../src/sessions/session-store.ts';
import { openState, temporaryDirectory } from './state.ts';

export interface OpenedSessions {
  readonly store: SessionStore;
  /** Path of the state directory. */
  readonly path: string;
  /** Path of sessions.json. */
  readonly file: string;
}

export async function openSessions(path?: string, options?: FileSessionsOptions): Promise<OpenedSessions> {
  const directory = path ?? join(await temporaryDirectory(), 'state');
  const { state, gate } = await openState(directory);
  return {
    store: await openFileSessions(state, gate, options),
    path: directory,
    file: join(directory, 'sessions.json'),
  };
}

export function newSession(
  id: string,
  directory = '/srv/app',
  life: SessionLife = { ends: 'closed' },
): NewSession {
  return { id, workspace: '/srv/app', directory, life };
}

/** A clock that a test sets. */
export class TestClock {
  now: Instant = { wallMs: 1_700_000_000_000, monotonicMs: 500_000, boot: '0123abcd' };

  readonly read = (): Instant => this.now;

  /** As time goes by while the machine runs. */
  pass(seconds: number): void {
    this.set({
      wallMs: this.now.wallMs + seconds * 1000,
      monotonicMs: this.now.monotonicMs + seconds * 1000,
    });
  }

  set(change: Partial<Instant>): void {
    this.now = { ...this.now, ...change };
  }

  lease(seconds: number): SessionLife {
    return { ends: 'lease', seconds, renewed: this.now };
  }
}
