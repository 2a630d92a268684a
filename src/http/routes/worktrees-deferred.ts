import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';

export const worktreesDeferredRoute: Route = defineRoute({
  method: 'GET',
  path: '/worktrees/deferred',
  summary: 'Rows of worktrees that are gone, which were left to the client.',
  query: z.strictObject({ cwd: selectorField }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'Those of this registered main checkout, oldest first.',
      schema: z.strictObject({
        ok: okField,
        items: z.array(
          z.strictObject({
            token: z.string(),
            workspaceId: z.string(),
            path: z.string(),
            sessionIds: z.array(z.string()),
            createdAt: z.string(),
          }),
        ),
      }),
    },
  },
  run: async ({ service, exchange }, { cwd }) => {
    const items = await service.worktreeArchives.deferred(cwd, exchange.signal);
    return { status: 200, body: { ok: true, items } };
  },
});

export const worktreesFinalizeRoute: Route = defineRoute({
  method: 'POST',
  path: '/worktrees/finalize-delete',
  summary: 'Take the row of a worktree that is gone off the registry.',
  body: z.strictObject({
    cwd: selectorField,
    token: z.string().min(1).meta({ description: 'Of the archive, or of the list of what was left.' }),
  }),
  shapeTexts: { cwd: 'cwd required', token: 'token required' },
  answers: {
    200: {
      description: 'The row is gone, by this or before.',
      schema: z.strictObject({
        ok: okField,
        workspaceId: z.string(),
        workspaceDeleted: z.string().optional(),
        workspaceAlreadyAbsent: z.string().optional(),
      }),
    },
  },
  run: async ({ service, exchange }, _query, { cwd, token }) => {
    const outcome = await service.worktreeArchives.finalize(cwd, token, exchange.signal);
    return { status: 200, body: { ok: true, ...outcome } };
  },
});

export const worktreeWorkspacesRoute: Route = defineRoute({
  method: 'GET',
  path: '/worktree-workspaces',
  summary: 'Rows of the registry that lie where managed worktrees do.',
  answers: {
    200: {
      description: 'By their places alone: nothing is opened.',
      schema: z.strictObject({
        ok: okField,
        items: z.array(z.strictObject({ workspaceId: z.string(), path: z.string() })),
      }),
    },
  },
  run: async ({ service }) => {
    const items = await service.worktreeArchives.workspaces();
    return { status: 200, body: { ok: true, items } };
  },
});
