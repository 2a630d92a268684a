import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { oidField, okField, selectorField } from '../fields.ts';

export const archiveParameters: {
  readonly force: z.ZodOptional<z.ZodBoolean>;
  readonly token: z.ZodOptional<z.ZodString>;
  readonly deferWorkspaceDelete: z.ZodOptional<z.ZodBoolean>;
} = {
  force: z.boolean().optional().meta({
    description: 'Repeats, within ten minutes, what was refused, for the state that the refusal showed.',
  }),
  token: z.string().min(1).optional().meta({ description: 'Of a preflight: archives exactly that state.' }),
  deferWorkspaceDelete: z
    .boolean()
    .optional()
    .meta({ description: 'Leaves the row of the workspace to the client.' }),
};

/** Texts of the wire contract for parameters of another type. */
export const archiveTexts: Readonly<Record<'force' | 'deferWorkspaceDelete', string>> = {
  force: 'force must be boolean',
  deferWorkspaceDelete: 'deferWorkspaceDelete must be boolean',
};

export const archiveAnswer: {
  readonly path: z.ZodString;
  readonly branch: z.ZodNullable<z.ZodString>;
  readonly archive: z.ZodString;
  readonly workspaceDeleted: z.ZodOptional<z.ZodString>;
  readonly workspaceAlreadyAbsent: z.ZodOptional<z.ZodString>;
  readonly workspaceDeletionDeferred: z.ZodOptional<z.ZodLiteral<true>>;
  readonly workspaceDeletionToken: z.ZodOptional<z.ZodString>;
  readonly workspaceId: z.ZodOptional<z.ZodString>;
  readonly workspaceSessionIds: z.ZodOptional<z.ZodArray<z.ZodString>>;
} = {
  path: z.string(),
  branch: z.string().nullable().meta({ description: 'It stays. Null on a detached HEAD.' }),
  archive: z.string().meta({ description: 'Id of the archive that brings the worktree back.' }),
  workspaceDeleted: z
    .string()
    .optional()
    .meta({ description: 'Id of the row that was taken off the registry.' }),
  workspaceAlreadyAbsent: z.string().optional(),
  workspaceDeletionDeferred: z.literal(true).optional(),
  workspaceDeletionToken: z.string().optional(),
  workspaceId: z.string().optional(),
  workspaceSessionIds: z.array(z.string()).optional(),
};

/** `warnings` are those of this route alone: other actions have codes in theirs. */
export const worktreeArchiveRoute: Route = defineRoute({
  method: 'POST',
  path: '/worktrees/archive',
  summary: 'Take a managed worktree away; what is in no commit is kept.',
  body: z.strictObject({ path: selectorField, ...archiveParameters }),
  shapeTexts: {
    path: 'path required',
    ...archiveTexts,
  },
  answers: {
    200: {
      description: 'The worktree and its row are gone.',
      schema: z.strictObject({
        ok: okField,
        ...archiveAnswer,
        warnings: z
          .array(z.strictObject({ stage: z.literal('workspace-delete'), message: z.string() }))
          .optional(),
      }),
    },
  },
  run: async ({ service, exchange, caller }, _query, { path, ...request }) => {
    const asked = { ...request, caller: caller?.subject };
    const outcome = await service.worktreeArchives.archive(path, asked, exchange.signal);
    return { status: 200, body: { ok: true, ...outcome } };
  },
});

export const worktreesArchivedRoute: Route = defineRoute({
  method: 'GET',
  path: '/worktrees/archived',
  summary: 'Archived worktrees of a repository, oldest first.',
  query: z.strictObject({ cwd: selectorField }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'What can be restored.',
      schema: z.strictObject({
        ok: okField,
        items: z.array(
          z.strictObject({
            archive: z.string(),
            path: z.string(),
            branch: z.string().nullable(),
            head: oidField,
            files: z.number().meta({ description: 'Files that are in no commit.' }),
            archivedAt: z.string(),
            keptUntil: z.string(),
            bytes: z.number(),
          }),
        ),
      }),
    },
  },
  run: async ({ service, exchange }, { cwd }) => {
    const items = await service.worktreeArchives.archived(cwd, exchange.signal);
    return { status: 200, body: { ok: true, items } };
  },
});

export const worktreeRestoreRoute: Route = defineRoute({
  method: 'POST',
  path: '/worktrees/restore',
  summary: 'Bring an archived worktree back as it was.',
  body: z.strictObject({
    cwd: selectorField,
    archive: z.string().min(1).meta({ description: 'Id of the archive.' }),
  }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    201: {
      description: 'The worktree stands; its archive stays as well.',
      schema: z.strictObject({
        ok: okField,
        path: z.string(),
        branch: z.string().nullable(),
        head: oidField,
        files: z.number(),
        missing: z.array(z.string()).meta({ description: 'What could not be put back, at most 20 names.' }),
      }),
    },
  },
  run: async ({ service, exchange }, _query, { cwd, archive }) => {
    const outcome = await service.worktreeArchives.restore(cwd, archive, exchange.signal);
    return { status: 201, body: { ok: true, ...outcome } };
  },
});
