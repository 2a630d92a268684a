import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { oidField, okField, selectorField } from '../fields.ts';

const branchSchema = z.strictObject({
  name: z.string(),
  committerDate: z.number().meta({ description: 'Seconds since 1970; the later one of both sides.' }),
  hasLocal: z.boolean(),
  hasRemote: z.boolean().meta({ description: 'Whether `origin` had it when it was last fetched.' }),
  localOid: oidField.optional(),
  remoteOid: oidField.optional(),
  localAhead: z
    .int()
    .nonnegative()
    .optional()
    .meta({ description: 'Given where both sides exist and differ; left out beyond 500 such pairs.' }),
  localBehind: z.int().nonnegative().optional(),
  current: z.boolean(),
});

export const branchesRoute: Route = defineRoute({
  method: 'GET',
  path: '/branches',
  summary: 'Branches of a repository and of its `origin`, latest first.',
  query: z.strictObject({ cwd: selectorField }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'A plain directory, or branches.',
      schema: z.union([
        z.strictObject({ ok: okField, isGit: z.literal(false), branches: z.tuple([]) }),
        z.strictObject({
          ok: okField,
          isGit: z.literal(true),
          defaultBranch: z
            .string()
            .nullable()
            .meta({ description: '`origin/<name>` when there is no local branch of that name.' }),
          current: z.string().nullable().meta({ description: 'Null when HEAD is detached.' }),
          branches: z.array(branchSchema),
        }),
      ]),
    },
  },
  run: async ({ service, exchange }, query) => {
    const listing = await service.reads.branches(query.cwd, exchange.signal);
    const facts = listing === null ? { isGit: false, branches: [] } : { isGit: true, ...listing };
    return { status: 200, body: { ok: true, ...facts } };
  },
});
