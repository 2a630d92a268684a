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
  /** Fires when it begins to. */
  readonly stopSignal: AbortSignal;
  /** Who calls. Only routes that anyone may use have none. */
  readonly caller: Caller | null;
  /** Whether the credentials of the request still are those of its caller. A failure of the authentication is a no. */
  readonly stillCalls: () => Promise<boolean>;
  /** Asks who calls on a route that anyone may use. Wrong credentials count as a failed authentication and give null. */
  readonly identify: () => Promise<Caller | null>;
  /** Counts a failed authentication and refuses. @throws `authentication_required` | `rate_limited` */
  readonly refuse: () => Promise<never>;
}
