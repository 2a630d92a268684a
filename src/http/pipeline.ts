import type { IncomingMessage, ServerResponse } from 'node:http';
import { AuthorityError } from '../errors/index.ts';
import type { Service } from '../service.ts';
import type { Caller } from './caller.ts';
import type { Route } from './define-route.ts';
import { sendError } from './error-response.ts';
import { Exchange } from './exchange.ts';
import { createAuthenticationGate } from './gates/authentication.ts';
import { readJsonBody } from './gates/body.ts';
import { createConcurrencyGate } from './gates/concurrency.ts';
import { createHostGate } from './gates/host.ts';
import { mediaTypeGate } from './gates/media-type.ts';
import { parseQuery } from './gates/query.ts';
import { createRouteGate } from './gates/route-table.ts';
import { createSameOriginGate } from './gates/same-origin.ts';
import { defaultLimits, type HttpLimits } from './limits.ts';
import type { Drainable, HttpOptions } from './options.ts';
import { asAuthorityError } from './problem.ts';
import { createDefaultLogger, createRequestLog } from './request-log.ts';
import type { RouteContext } from './route-context.ts';
import { createRunningRequests } from './running-requests.ts';
import { sendAnswer } from './send-answer.ts';
import { boundReading, untilRead } from './unread-answer.ts';

const defaultChallenge = 'Bearer realm="workspace-authority"';
const defaultGraceMs = 10_000;

/** Takes one request from its head to its answer. */
export interface Pipeline extends Drainable {
  /**
   * Never rejects: every failure becomes an answer or a broken connection.
   * @param base path under which the routes are mounted; @param target what follows it in the request, query included
   */
  handle(request: IncomingMessage, response: ServerResponse, base: string, target: string): Promise<void>;
}

/** The gates in the order in which they stand on every request; each has its own file. */
export function createPipeline(service: Service, routes: readonly Route[], options: HttpOptions): Pipeline {
  if (typeof options.authenticate !== 'function') throw new TypeError('authenticate must be a function');
  const limits: HttpLimits = { ...defaultLimits, ...options.limits };
  const checkHost = createHostGate(options.allowedHosts ?? []);
  const findRoute = createRouteGate(routes);
  const checkOrigin = createSameOriginGate(options.trustedProxyHosts ?? []);
  const challenge = options.challenge ?? defaultChallenge;
  const authentication = createAuthenticationGate(options.authenticate, challenge, limits);
  const concurrency = createConcurrencyGate(limits.requestsPerCaller);
  const running = createRunningRequests();
  const log = createRequestLog(options.logger ?? createDefaultLogger(), options.audit ?? null);

  async function authenticate(exchange: Exchange, route: Route): Promise<Caller> {
    const answer = authentication.require(exchange);
    const caller = answer instanceof Promise ? await answer : answer;
    exchange.caller = caller;
    if (route.access === 'operator' && !caller.operator) throw new AuthorityError('operator_required');
    return caller;
  }

  async function runRoute(exchange: Exchange, route: Route): Promise<void> {
    const body = route.changes ? await readJsonBody(exchange, limits) : undefined;
    const query = parseQuery(exchange.queryText);
    const context: RouteContext = {
      exchange,
      service,
      limits,
      stopping: running.stopping,
      stopSignal: running.stopSignal,
      caller: exchange.caller,
      stillCalls: () => authentication.stillHolds(exchange),
      identify: () => authentication.identify(exchange),
      refuse: () => authentication.refuse(exchange),
    };
    const answer = await route.run(context, query, body);
    if (answer !== null) sendAnswer(exchange, answer);
  }

  async function pass(exchange: Exchange, route: Route): Promise<void> {
    running.enter(exchange, route.whileStopping);
    try {
      if (route.changes) mediaTypeGate(exchange);
      if (route.originChecked) checkOrigin(exchange);
      if (route.access === 'anyone') return await runRoute(exchange, route);
      const caller = await authenticate(exchange, route);
      concurrency.enter(caller);
      try {
        await runRoute(exchange, route);
        await untilRead(exchange, limits.stallTimeoutMs);
      } finally {
        concurrency.leave(caller);
      }
    } finally {
      running.leave(exchange);
    }
  }

  return {
    async handle(request, response, base, target) {
      const exchange = new Exchange(request, response, base, target);
      let route: Route | null = null;
      let error: AuthorityError | null = null;
      try {
        checkHost(exchange);
        route = findRoute(exchange);
        await pass(exchange, route);
        if (response.destroyed && !response.writableFinished) error = new AuthorityError('aborted');
      } catch (thrown) {
        error = asAuthorityError(thrown, () => exchange.signal);
        sendError(exchange, error);
      }
      boundReading(exchange, limits.stallTimeoutMs);
      log.finished(exchange, { route: route?.name ?? null, changes: route?.changes ?? false, error });
    },
    drain: async (drainOptions) => {
      await running.drain(drainOptions?.graceMs ?? defaultGraceMs);
      authentication.close();
    },
  };
}
