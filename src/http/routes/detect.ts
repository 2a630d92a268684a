import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';

export const detectRoute: Route = defineRoute({
  method: 'GET',
  path: '/detect',
  summary: 'What kind of place a selector is.',
  query: z.strictObject({ path: selectorField }),
  shapeTexts: { path: 'path required' },
  answers: {
    200: {
      description: 'A plain directory, or a Git root.',
      schema: z.union([
        z.strictObject({ ok: okField, isGit: z.literal(false) }),
        z.strictObject({
          ok: okField,
          isGit: z.literal(true),
          repoRoot: z.string(),
          mainRepoRoot: z.string(),
          isLinkedWorktree: z.boolean(),
          managed: z.boolean(),
          defaultBranch: z.string().nullable(),
          branch: z.string().nullable(),
          sourceWorkspaceTitle: z
            .string()
            .optional()
            .meta({ description: 'Title of the workspace that a managed worktree was created from.' }),
        }),
      ]),
    },
  },
  run: async ({ service, exchange }, query) => {
    const detection = await service.repositories.detect(query.path, exchange.signal);
    return { status: 200, body: { ok: true, ...detection } };
  },
});
