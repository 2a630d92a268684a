import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';
import { repositorySnapshotSchema } from '../snapshot-schema.ts';

const entrySchema = z.strictObject({
  id: z.enum([
    'commit',
    'pull',
    'push',
    'createPr',
    'mergeToBase',
    'updateFromBase',
    'discard',
    'fetch',
    'archive',
  ]),
  disabled: z.boolean(),
  reasonKey: z
    .string()
    .startsWith('actions.')
    .nullable()
    .meta({ description: 'Why it is disabled. `actions.failed`: the state is not known.' }),
  params: z
    .record(z.string(), z.int().nonnegative())
    .optional()
    .meta({ description: '`behind` of pull and `ahead` of push, as of the last fetch.' }),
  readOnly: z.literal(true).optional().meta({ description: 'Allowed while somebody works in the checkout.' }),
  warn: z.boolean().optional().meta({ description: 'Of archive: something would be lost.' }),
});

export const actionsRoute: Route = defineRoute({
  method: 'GET',
  path: '/actions',
  summary: 'Which actions fit the state of a repository, and why the others do not.',
  query: z.strictObject({
    cwd: selectorField,
    running: z.enum(['0', '1']).optional().meta({ description: '1: somebody works in the checkout.' }),
  }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'The actions in order; the first that is enabled comes next.',
      schema: z.strictObject({
        ok: okField,
        ladder: z.array(entrySchema),
        snapshot: repositorySnapshotSchema,
      }),
    },
  },
  run: async ({ service, exchange, caller }, { cwd, running }) => {
    const answer = await service.reads.actions(cwd, { running: running === '1' }, exchange.signal);
    if (caller !== null) service.events.note(caller.subject, [cwd]);
    return { status: 200, body: { ok: true, ...answer } };
  },
});
