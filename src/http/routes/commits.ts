import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { baseField, oidField, okField, selectorField } from '../fields.ts';

const commitSchema = z.strictObject({
  sha: oidField,
  short: z.string().regex(/^[0-9a-f]{7}$/),
  author: z.string(),
  at: z.number().meta({ description: 'Time of authorship, milliseconds since 1970.' }),
  subject: z.string(),
  unpushed: z.boolean().meta({ description: 'True also where it is not known.' }),
});

export const commitsRoute: Route = defineRoute({
  method: 'GET',
  path: '/commits',
  summary: 'Commits that a checkout has over its base, newest first.',
  query: z.strictObject({ cwd: selectorField, base: baseField.optional() }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'At most 200 commits.',
      schema: z.strictObject({
        ok: okField,
        base: z
          .string()
          .nullable()
          .meta({ description: 'What the base is called; null when there is none.' }),
        baseRef: oidField
          .nullable()
          .meta({ description: 'Best common ancestor; null on an unborn branch, or when there is none.' }),
        remoteRef: z.string().nullable().meta({ description: 'The ref that remembers what was pushed.' }),
        commits: z.array(commitSchema),
        truncated: z.literal(true).optional().meta({ description: 'There are more commits.' }),
        degraded: z.tuple([z.literal('unpushed')]).optional(),
      }),
    },
  },
  run: async ({ service, exchange }, { cwd, base }) => {
    const query = base === undefined ? {} : { base };
    const listing = await service.reads.commits(cwd, query, exchange.signal);
    return { status: 200, body: { ok: true, ...listing } };
  },
});
