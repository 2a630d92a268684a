import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';

const countField = z.int().nonnegative();

const changes = ['modified', 'added', 'deleted', 'renamed', 'copied', 'type-changed'] as const;

const lineSchema = z.strictObject({
  type: z
    .enum(['add', 'del', 'ctx', 'meta'])
    .meta({ description: 'meta: says that the line before it has no newline.' }),
  content: z.string().meta({
    description: 'Without mark and newline; U+FFFD stands for what is not UTF-8.',
  }),
  base64: z.string().optional().meta({ description: 'The exact bytes, only where they are not UTF-8.' }),
});

const hunkSchema = z.strictObject({
  oldStart: countField,
  oldCount: countField,
  newStart: countField,
  newCount: countField,
  header: z.string().meta({ description: 'What Git says the hunk is in.' }),
  lines: z.array(lineSchema),
});

const modeField = z
  .string()
  .nullable()
  .meta({ description: 'Octal digits, as Git keeps them; null where this side has no file.' });

const fileSchema = z.strictObject({
  path: z.string(),
  oldPath: z.string().nullable(),
  status: z
    .enum([...changes, 'binary', 'too_large'])
    .meta({ description: 'too_large: over 1 MiB, or over what was left of 2 MiB for all files.' }),
  change: z.enum(changes).meta({ description: 'What happened, also where the lines are not shown.' }),
  additions: countField,
  deletions: countField,
  hunks: z.array(hunkSchema).meta({ description: 'Empty for binary and too_large.' }),
  oldMode: modeField,
  newMode: modeField,
  untracked: z.literal(true).optional(),
  unreadable: z.literal(true).optional(),
  undecodable: z.literal(true).optional().meta({ description: 'A name or a line is not UTF-8.' }),
  pathBase64: z.string().optional(),
  oldPathBase64: z.string().optional(),
});

const filesField = z
  .array(fileSchema)
  .meta({ description: 'Directories before files on each level, then by name.' });
const tooLargeField = z
  .boolean()
  .meta({ description: 'Whether files are too_large because all of them together are.' });

const modeDiffSchema = z.strictObject({
  ok: okField,
  mode: z.enum(['uncommitted', 'session', 'base', 'task']),
  refs: z.strictObject({
    baseRef: z.string().meta({ description: 'The commit that is compared with, or the empty tree.' }),
    targetRef: z.string().nullable().meta({ description: 'Null: the files as they are.' }),
    label: z.string(),
  }),
  files: filesField,
  tooLarge: tooLargeField,
  untrackedOmitted: countField.meta({
    description: 'Untracked files that are not listed; at most 200 are.',
  }),
  nestedRepositories: z
    .array(z.string())
    .meta({ description: 'Untracked directories that are repositories of their own.' }),
});

const commitDiffSchema = z.strictObject({
  ok: okField,
  sha: z.string(),
  isMerge: z.boolean().meta({ description: 'Compared with its first parent.' }),
  isRoot: z.boolean().meta({ description: 'Compared with nothing.' }),
  files: filesField,
  tooLarge: tooLargeField,
});

/** Values have their own errors, which come after the selector is authorised. */
export const diffRoute: Route = defineRoute({
  method: 'GET',
  path: '/diff',
  summary: 'What differs, line by line.',
  query: z.strictObject({
    cwd: selectorField,
    mode: z.string().optional().meta({
      description: 'uncommitted (default), session, task: the files; base: HEAD.',
    }),
    base: z.string().optional().meta({
      description: 'Full object name, refs/heads/x, refs/remotes/origin/x, origin/x, or a branch.',
    }),
    commit: z.string().optional().meta({
      description: 'Full object name of one commit to show, whatever the mode.',
    }),
    path: z.string().optional().meta({ description: 'Only files at or below this path.' }),
    w: z
      .enum(['0', '1'])
      .optional()
      .meta({ description: '1: lines that differ in white space only are equal.' }),
  }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'A diff by mode, or one commit.',
      schema: z.union([modeDiffSchema, commitDiffSchema]),
    },
  },
  run: async ({ service, exchange }, query) => {
    const { mode, base, commit, path } = query;
    const asked = { mode, base, commit, path, ignoreWhitespace: query.w === '1' };
    const diff = await service.reads.diff(query.cwd, asked, exchange.signal);
    return { status: 200, body: { ok: true, ...diff } };
  },
});
