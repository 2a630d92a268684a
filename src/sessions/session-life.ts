import { currentProcess, type ProcessOwner, stateOf } from '../capability/process-owner.ts';
import { isAuthorityError } from '../errors/index.ts';
import { guardUnavailable } from './check-sessions.ts';

/** What ends a session whose client never closes it. */
export type SessionLife =
  /** Nothing but closing it. */
  | { readonly ends: 'closed' }
  /** The end of a process, too. */
  | { readonly ends: 'process'; readonly process: ProcessOwner }
  /** Also that its client did not renew it for so many seconds. */
  | { readonly ends: 'lease'; readonly seconds: number; readonly renewed: Instant };

/** A moment by both clocks, so that neither setting one of them nor sleeping over it ends a lease. */
export interface Instant {
  /** Milliseconds since 1970. */
  readonly wallMs: number;
  /** Milliseconds of CLOCK_MONOTONIC (clock_gettime(2)): since boot, without suspension, the same in all processes. */
  readonly monotonicMs: number;
  /** First digits of the boot id. */
  readonly boot: string;
}

export type Clock = () => Instant;

/** @throws `session_guard_unavailable` where /proc is not mounted */
export function readClock(): Instant {
  const monotonicMs = Number(process.hrtime.bigint() / 1_000_000n);
  return underProc(() => ({ wallMs: Date.now(), monotonicMs, boot: currentProcess().boot }));
}

/**
 * Whether a session ended without being closed. A process of which nothing is known has not; a lease has only by both clocks, and after a
 * restart of the machine not before its clients had their time to renew it.
 * @throws `session_guard_unavailable` where /proc is not mounted
 */
export function hasEnded(life: SessionLife, now: Instant): boolean {
  switch (life.ends) {
    case 'closed':
      return false;
    case 'process':
      return underProc(() => stateOf(life.process) === 'dead');
    case 'lease': {
      const lease = life.seconds * 1000;
      const since =
        life.renewed.boot === now.boot ? now.monotonicMs - life.renewed.monotonicMs : now.monotonicMs;
      return since > lease && now.wallMs - life.renewed.wallMs > lease;
    }
  }
}

function underProc<Result>(ask: () => Result): Result {
  try {
    return ask();
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    throw guardUnavailable('/proc cannot be read', error);
  }
}
