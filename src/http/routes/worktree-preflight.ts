import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { oidField, okField, selectorField } from '../fields.ts';

const filesSchema = z.strictObject({
  count: z.number(),
  paths: z.array(z.string()).meta({ description: 'The first 200.' }),
});
const commitsShape = {
  count: z.number().meta({ description: 'Counted up to 1,000.' }),
  newest: z.array(oidField).meta({ description: 'At most 20.' }),
};

const preflightSchema = z.strictObject({
  path: z.string(),
  branch: z.string().nullable().meta({ description: 'Null on a detached HEAD.' }),
  head: oidField.nullable(),
  token: z.string().meta({ description: 'Stands for exactly this state.' }),
  safe: z.boolean().meta({ description: 'Whether an archive needs neither `force` nor the token.' }),
  blockers: z
    .array(z.enum(['session', 'locked', 'index-locked', 'repositories', 'mounts', 'unborn']))
    .meta({ description: 'What no force covers.' }),
  staged: filesSchema,
  unstaged: filesSchema,
  untracked: filesSchema,
  ignored: filesSchema,
  hidden: filesSchema.meta({ description: 'Tracked files that Git was told not to look at.' }),
  repositories: filesSchema.meta({
    description: 'Repositories of their own inside, submodules and damaged ones included.',
  }),
  mounts: filesSchema.meta({ description: 'Other file systems mounted inside.' }),
  unpushed: z.strictObject({
    ...commitsShape,
    against: z.string().nullable().meta({ description: 'A ref, a commit, or null where nothing tells.' }),
  }),
  unreachable: z.strictObject(commitsShape),
  operation: z.enum(['rebase', 'cherry-pick', 'revert', 'bisect', 'merge', 'unknown']).nullable(),
  locks: z.strictObject({ worktree: z.boolean(), index: z.boolean() }),
  occupants: z.array(
    z.strictObject({
      sessionId: z.string(),
      by: z.enum(['header', 'current']),
      reason: z.enum(['inside', 'unknown']),
      why: z.string().optional(),
    }),
  ),
  processes: z.strictObject({ inside: z.array(z.number()), unreadable: z.number() }),
});

export const worktreePreflightRoute: Route = defineRoute({
  method: 'GET',
  path: '/worktrees/preflight',
  summary: 'What would be lost with a managed worktree.',
  query: z.strictObject({ path: selectorField }),
  shapeTexts: { path: 'path required' },
  answers: {
    200: {
      description: 'Everything that is in no commit or nowhere else, and who is there.',
      schema: z.strictObject({ ok: okField, preflight: preflightSchema }),
    },
  },
  run: async ({ service, exchange }, { path }) => {
    const preflight = await service.worktreeArchives.preflight(path, exchange.signal);
    exchange.root = preflight.path;
    return { status: 200, body: { ok: true, preflight } };
  },
});
