import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';

const occupantSchema = z.strictObject({
  sessionId: z.string(),
  by: z
    .enum(['header', 'current'])
    .meta({ description: 'The directory it was created in, or the one it works in.' }),
  reason: z
    .enum(['inside', 'unknown'])
    .meta({ description: 'unknown: nobody can say that the place of the session is not in it.' }),
  why: z.string().optional().meta({ description: 'Why a place is unknown.' }),
});

/** Offered over the sessions of a host, too. */
export const sessionOccupantsRoute: Route = defineRoute({
  method: 'GET',
  path: '/sessions/occupants',
  summary: 'Who keeps a workspace or worktree from being archived.',
  query: z.strictObject({ cwd: selectorField }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'One entry for each place of a session; none when nobody is in it.',
      schema: z.strictObject({ ok: okField, occupied: z.boolean(), occupants: z.array(occupantSchema) }),
    },
  },
  run: async ({ service, exchange }, query) => {
    const occupants = await service.occupants(query.cwd, exchange.signal);
    return { status: 200, body: { ok: true, occupied: occupants.length > 0, occupants } };
  },
});
