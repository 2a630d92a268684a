import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';

export const explainRoute: Route = defineRoute({
  method: 'GET',
  path: '/explain',
  access: 'operator',
  summary: 'Every fact checked for a selector, in order.',
  query: z.strictObject({ path: selectorField }),
  shapeTexts: { path: 'path required' },
  answers: {
    200: {
      description: 'Authorised or not, the facts are told.',
      schema: z.strictObject({
        ok: okField,
        selector: z.string(),
        authorized: z.boolean(),
        facts: z.array(
          z.strictObject({ fact: z.string(), expected: z.string(), seen: z.string(), holds: z.boolean() }),
        ),
        result: z.strictObject({ kind: z.string(), gitBoundary: z.string(), root: z.string() }).nullable(),
        refusal: z.strictObject({ code: z.string(), details: z.record(z.string(), z.unknown()) }).nullable(),
      }),
    },
  },
  run: async ({ service, exchange }, query) => {
    const { selector, authorized, facts, result, refusal } = await service.authority.explain(
      query.path,
      exchange.signal,
    );
    return { status: 200, body: { ok: true, selector, authorized, facts, result, refusal } };
  },
});
