import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { oidField, okField, selectorField } from '../fields.ts';

const archiveField = z.string().min(1).max(64).meta({ description: 'Id of the archive.' });
const shownPaths = z.array(z.string()).meta({ description: 'For people: undecodable bytes are U+FFFD.' });

export const discardedRoute: Route = defineRoute({
  method: 'GET',
  path: '/discarded',
  summary: 'What discards in this repository have kept, oldest first.',
  query: z.strictObject({ cwd: selectorField }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'All that have not been let go yet.',
      schema: z.strictObject({
        ok: okField,
        items: z.array(
          z.strictObject({
            archive: z.string(),
            createdAt: z.string(),
            keptUntil: z.string(),
            here: z.boolean().meta({
              description: 'Whether it was in this checkout; else in another one of the repository.',
            }),
            finished: z
              .boolean()
              .meta({ description: 'false: it was cut off, and part of what it has may still stand.' }),
            branch: z.string().nullable(),
            head: oidField.nullable(),
            files: z.number(),
            bytes: z.number(),
          }),
        ),
      }),
    },
  },
  run: async ({ service, exchange }, { cwd }) => {
    const items = await service.actions.discarded(cwd, exchange.signal);
    return { status: 200, body: { ok: true, items } };
  },
});

export const discardedRestoreRoute: Route = defineRoute({
  method: 'POST',
  path: '/discarded/restore',
  summary: 'Bring back what a discard destroyed. Nothing of its own is ever replaced.',
  body: z.strictObject({
    cwd: selectorField,
    archive: archiveField,
    paths: z
      .array(z.string())
      .optional()
      .meta({ description: 'Only what is at or below these; default: all.' }),
  }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'What became of each path. The archive stays.',
      schema: z.strictObject({
        ok: okField,
        restored: shownPaths,
        present: shownPaths,
        conflicts: z.array(z.strictObject({ path: z.string(), reason: z.string() })).meta({
          description: 'Left alone: something of its own stands there (`in-the-way`), or an error code.',
        }),
        staged: shownPaths,
        unstaged: shownPaths,
      }),
    },
  },
  run: async ({ service, exchange }, _query, { cwd, archive, paths }) => {
    const outcome = await service.actions.restoreDiscarded(cwd, { archive, paths }, exchange.signal);
    return { status: 200, body: { ok: true, ...outcome } };
  },
});
