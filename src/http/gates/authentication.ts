import type { IncomingMessage, ServerResponse } from 'node:http';
import { ipKeyGenerator, MemoryStore, rateLimit } from 'express-rate-limit';
import { AuthorityError } from '../../errors/index.ts';
import type { Authenticate, Caller } from '../caller.ts';
import type { Exchange } from '../exchange.ts';
import type { HttpLimits } from '../limits.ts';

/**
 * Gate 5 (R01). Says who is calling, never where the call may act. Only failures are counted against the caller's address: right
 * credentials always pass, so nobody behind the same address can lock an operator out.
 */
export interface AuthenticationGate {
  /** @throws `authentication_required` | `rate_limited` | what `authenticate` throws */
  readonly require: (exchange: Exchange) => Caller | Promise<Caller>;
  /** The same without refusing: null for no or wrong credentials. Wrong ones are counted. */
  readonly identify: (exchange: Exchange) => Promise<Caller | null>;
  /** @throws `authentication_required` | `rate_limited` */
  readonly refuse: (exchange: Exchange) => Promise<never>;
  /** Asks again for a request that was let in. Credentials that ended meanwhile are no guess at others, so that nothing is counted. */
  readonly stillHolds: (exchange: Exchange) => Promise<boolean>;
  /** Ends the timer that forgets old failures. */
  readonly close: () => void;
}

/** @param challenge value of `WWW-Authenticate` (RFC 9110, 11.6.1) */
export function createAuthenticationGate(
  authenticate: Authenticate,
  challenge: string,
  limits: HttpLimits,
): AuthenticationGate {
  const failures = new MemoryStore();
  const countFailure = createFailureCounter(limits, failures);

  async function refuse(exchange: Exchange): Promise<never> {
    exchange.response.setHeader('WWW-Authenticate', challenge);
    await countFailure(exchange.request, exchange.response);
    throw new AuthorityError('authentication_required');
  }

  async function requireLater(exchange: Exchange, answer: Promise<Caller | null>): Promise<Caller> {
    return (await answer) ?? refuse(exchange);
  }

  return {
    require: (exchange) => {
      const answer = ask(authenticate, exchange);
      return answer instanceof Promise ? requireLater(exchange, answer) : (answer ?? refuse(exchange));
    },
    identify: async (exchange) => {
      const caller = await ask(authenticate, exchange);
      if (caller !== null) return caller;
      const { authorization, cookie } = exchange.request.headers;
      if (authorization === undefined && cookie === undefined) return null;
      await countFailure(exchange.request, exchange.response);
      return null;
    },
    refuse,
    stillHolds: async (exchange) => {
      try {
        const caller = await ask(authenticate, exchange);
        return caller !== null && caller.subject === exchange.caller?.subject;
      } catch {
        return false;
      }
    },
    close: () => failures.shutdown(),
  };
}

/** Two `Authorization` lines are no credentials: which of them counts would depend on the reader. */
function ask(authenticate: Authenticate, exchange: Exchange): ReturnType<Authenticate> {
  return exchange.repeats('authorization') ? null : authenticate(exchange.request);
}

type FailureCounter = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Sets the RateLimit headers, and Retry-After with `rate_limited` when the window is used up. */
function createFailureCounter(limits: HttpLimits, store: MemoryStore): FailureCounter {
  const limiter = rateLimit({
    windowMs: limits.failedAuthenticationWindowMs,
    limit: limits.failedAuthentications,
    store,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    // Its checks concern the proxy settings of an Express application, which are not used here.
    validate: false,
    keyGenerator: (request) => ipKeyGenerator((request as IncomingMessage).socket.remoteAddress ?? '', 56),
    handler: (_request, _response, next) => next(new AuthorityError('rate_limited')),
  });
  const run = limiter as unknown as (
    request: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ) => unknown;
  return (request, response) =>
    new Promise((resolve, reject) => {
      run(request, response, (error) => (error === undefined ? resolve() : reject(error)));
    });
}
