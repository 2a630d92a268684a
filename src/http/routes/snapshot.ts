import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';
import { snapshotSchema } from '../snapshot-schema.ts';

export const snapshotRoute: Route = defineRoute({
  method: 'GET',
  path: '/snapshot',
  summary: 'The state of one workspace, always read anew.',
  query: z.strictObject({ cwd: selectorField }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'A plain directory, or a Git root.',
      schema: z.strictObject({ ok: okField, snapshot: snapshotSchema }),
    },
  },
  run: async ({ service, exchange, caller }, query) => {
    const snapshot = await service.snapshots.read(query.cwd, exchange.signal);
    if (caller !== null) service.events.note(caller.subject, [query.cwd]);
    return { status: 200, body: { ok: true, snapshot } };
  },
});
