import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';

const itemSchema = z.strictObject({
  path: z.string().meta({ description: 'Canonical path; a selector.' }),
  branch: z.string().nullable(),
  head: z.string().nullable().meta({ description: 'Full object name; null on an unborn branch.' }),
  detached: z.boolean(),
  bare: z.literal(false),
  managed: z.boolean(),
  baseRefName: z
    .string()
    .nullable()
    .meta({ description: 'The branch that a managed worktree was created from.' }),
  createdAt: z.number().meta({ description: 'Last change of the directory, milliseconds since 1970.' }),
  current: z.boolean().meta({ description: 'Whether it is the one that was asked about.' }),
  isMain: z.boolean(),
});

/** Only what is authorised on its own is listed; a row that cannot be judged fails the answer. */
export const worktreesRoute: Route = defineRoute({
  method: 'GET',
  path: '/worktrees',
  summary: 'The authorised checkouts of a repository.',
  query: z.strictObject({ cwd: selectorField }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'A plain directory, or the main checkout and its worktrees.',
      schema: z.union([
        z.strictObject({ ok: okField, isGit: z.literal(false), items: z.tuple([]) }),
        z.strictObject({
          ok: okField,
          isGit: z.literal(true),
          mainRepoRoot: z
            .string()
            .nullable()
            .meta({ description: 'Null unless the main checkout itself is authorised.' }),
          root: z
            .string()
            .nullable()
            .meta({ description: 'The directory for its managed worktrees, which may not be there yet.' }),
          items: z.array(itemSchema),
        }),
      ]),
    },
  },
  run: async ({ service, exchange }, query) => {
    const listing = await service.repositories.worktrees(query.cwd, exchange.signal);
    return { status: 200, body: { ok: true, ...listing } };
  },
});
