import { AuthorityError } from '../errors/index.ts';
import { abortConnection } from './connection-signal.ts';
import type { Exchange } from './exchange.ts';

/** The requests in work, and the way to stop taking more. */
export interface RunningRequests {
  readonly stopping: boolean;
  /** Fires when the stopping begins: what would go on for ever ends then. */
  readonly stopSignal: AbortSignal;
  /** @throws `shutting_down` */
  enter(exchange: Exchange, whileStopping: boolean): void;
  leave(exchange: Exchange): void;
  /**
   * Refuses new requests and resolves when the running ones have ended. After `graceMs` their waits are aborted; a change that has
   * begun is never cut off.
   */
  drain(graceMs: number): Promise<void>;
}

export function createRunningRequests(): RunningRequests {
  const running = new Set<Exchange>();
  let stopping = false;
  const stop = new AbortController();
  const idle: (() => void)[] = [];
  return {
    get stopping() {
      return stopping;
    },
    stopSignal: stop.signal,
    enter(exchange, whileStopping) {
      if (stopping && !whileStopping) throw new AuthorityError('shutting_down');
      running.add(exchange);
    },
    leave(exchange) {
      running.delete(exchange);
      if (running.size === 0) for (const resolve of idle.splice(0)) resolve();
    },
    async drain(graceMs) {
      stopping = true;
      stop.abort();
      if (running.size === 0) return;
      const timer = setTimeout(() => {
        for (const exchange of running) abortConnection(exchange.request);
      }, graceMs);
      await new Promise<void>((resolve) => idle.push(resolve));
      clearTimeout(timer);
    },
  };
}
