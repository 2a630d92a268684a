import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { describeApi } from '../openapi.ts';

/** Describes the routes it is made with and itself. */
export function openapiRoute(others: readonly Route[]): Route {
  const texts = new Map<string, object>();
  const route: Route = defineRoute({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This description.',
    answers: {
      200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) },
    },
    run: ({ exchange }) => {
      let description = texts.get(exchange.base);
      if (description === undefined) {
        description = describeApi([...others, route], exchange.base);
        texts.set(exchange.base, description);
      }
      return { status: 200, body: description };
    },
  });
  return route;
}
