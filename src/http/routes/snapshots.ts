import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { selectorField } from '../fields.ts';
import { describeProblem } from '../problem.ts';
import { snapshotBatchSchema } from '../snapshot-schema.ts';

export const snapshotsRoute: Route = defineRoute({
  method: 'POST',
  path: '/snapshots',
  summary: 'The state of many workspaces; an answer may be some seconds old.',
  body: z.strictObject({
    cwds: z.array(selectorField).meta({ description: 'At most 200.' }),
    partial: z
      .boolean()
      .optional()
      .meta({ description: 'Answers each selector on its own; else the first failure answers for all.' }),
  }),
  shapeTexts: {
    cwds: 'cwds array required',
    'cwds[]': 'cwds must contain paths',
  },
  answers: { 200: { description: 'Snapshots by selector.', schema: snapshotBatchSchema } },
  run: async ({ service, exchange, caller }, _query, { cwds, partial = false }) => {
    const { found, failed } = await service.snapshots.readMany(cwds, { partial }, exchange.signal);
    if (caller !== null) service.events.note(caller.subject, [...found.keys()]);
    const scope = { requestId: exchange.requestId, root: null };
    const failures = [...failed].map(([selector, error]) => [selector, describeProblem(error, scope)]);
    const body = {
      ok: true,
      byCwd: Object.fromEntries(found),
      ...(partial ? { failures: Object.fromEntries(failures) } : {}),
    };
    return { status: 200, body };
  },
});
