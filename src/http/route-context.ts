import type { Service } from '../service.ts';
import type { Caller } from './caller.ts';
import type { Exchange } from './exchange.ts';
import type { HttpLimits } from './limits.ts';

/** What a route works with, once the gates before it are passed. */
export interface RouteContext {
  readonly exchange: Exchange;
  readonly service: Service;
  readonly limits: HttpLimits;
  /** Whether the server has begun to stop. */
  readonly stopping: boolean;
  /** Asks who calls on a route that anyone may use. Wrong credentials count as a failed authentication and give null. */
  readonly identify: () => Promise<Caller | null>;
  /** Counts a failed authentication and refuses. @throws `authentication_required` | `rate_limited` */
  readonly refuse: () => Promise<never>;
}
