import { AuthorityError } from '../../errors/index.ts';
import type { Route } from '../define-route.ts';
import type { Exchange } from '../exchange.ts';

/**
 * Gate 2. The path must equal a route's path byte by byte, and the method must be one it has; nothing overrides the method.
 * @throws `invalid_request` for a target that is no path | `route_unknown` | `method_not_allowed` (sets `Allow`)
 */
export type RouteGate = (exchange: Exchange) => Route;

interface Entry {
  readonly byMethod: ReadonlyMap<string, Route>;
  readonly allow: string;
}

export function createRouteGate(routes: readonly Route[]): RouteGate {
  const table = new Map<string, Entry>();
  for (const path of new Set(routes.map((route) => route.path))) {
    const byMethod = new Map<string, Route>();
    for (const route of routes) {
      if (route.path !== path) continue;
      byMethod.set(route.method, route);
      if (route.answersHead) byMethod.set('HEAD', route);
    }
    table.set(path, { byMethod, allow: [...byMethod.keys()].sort().join(', ') });
  }
  return (exchange) => {
    const entry = table.get(exchange.path);
    if (entry === undefined) {
      if (!exchange.path.startsWith('/')) throw new AuthorityError('invalid_request', { legacy: 'bad url' });
      throw new AuthorityError('route_unknown');
    }
    const route = entry.byMethod.get(exchange.request.method ?? '');
    if (route !== undefined) return route;
    exchange.response.setHeader('Allow', entry.allow);
    throw new AuthorityError('method_not_allowed');
  };
}
