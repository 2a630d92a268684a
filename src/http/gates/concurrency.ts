import { AuthorityError } from '../../errors/index.ts';
import type { Caller } from '../caller.ts';

/** Bounds the requests one caller has in work, so that one caller cannot take every thread and descriptor from the others. */
export interface ConcurrencyGate {
  /** @throws `rate_limited` */
  enter(caller: Caller): void;
  leave(caller: Caller): void;
}

export function createConcurrencyGate(limit: number): ConcurrencyGate {
  const running = new Map<string, number>();
  return {
    enter(caller) {
      const count = running.get(caller.subject) ?? 0;
      if (count >= limit) throw new AuthorityError('rate_limited', { details: { limit } });
      running.set(caller.subject, count + 1);
    },
    leave(caller) {
      const count = (running.get(caller.subject) ?? 1) - 1;
      if (count === 0) running.delete(caller.subject);
      else running.set(caller.subject, count);
    },
  };
}
