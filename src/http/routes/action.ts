import { z } from 'zod';
import type { MergeOutcome } from '../../actions/repository-actions.ts';
import { AuthorityError } from '../../errors/index.ts';
import { type Answer, defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';
import { readShape } from '../gates/shape.ts';
import type { RouteContext } from '../route-context.ts';
import { archiveAnswer, archiveParameters, archiveTexts } from './worktree-archive.ts';

/** An action whose parameters have passed its strict schema. */
type Action = (context: RouteContext, selector: string, params: unknown) => Promise<Answer>;

const nameShown = 64;
const oidText = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

const archiveSchema = z.strictObject({ path: z.string().optional(), ...archiveParameters });

const actions: Readonly<Record<string, Action>> = {
  commit: action(
    z.strictObject({ message: z.string().optional(), addAll: z.boolean().optional() }),
    async ({ service, exchange }, selector, params) => {
      const { oid, warnings } = await service.actions.commit(selector, params, exchange.signal);
      return { ok: true, oid, ...(warnings.length === 0 ? {} : { warnings }) };
    },
  ),
  fetch: action(z.strictObject({}), async ({ service, exchange }, selector) => {
    await service.actions.fetch(selector, exchange.signal);
    return { ok: true };
  }),
  push: action(z.strictObject({}), async ({ service, exchange }, selector) => {
    await service.actions.push(selector, exchange.signal);
    return { ok: true };
  }),
  pull: action(z.strictObject({}), async ({ service, exchange }, selector) => {
    const outcome = await service.actions.pull(selector, exchange.signal);
    return { ok: true, ...merged(outcome), output: outputOf(outcome) };
  }),
  updateFromBase: action(z.strictObject({}), async ({ service, exchange }, selector) => {
    const outcome = await service.actions.updateFromBase(selector, exchange.signal);
    return { ok: true, ...merged(outcome) };
  }),
  mergeToBase: action(z.strictObject({}), async ({ service, exchange }, selector) => {
    const outcome = await service.actions.mergeToBase(selector, exchange.signal);
    return { ok: true, ...merged(outcome), mergedInto: outcome.mergedInto };
  }),
  discard: action(
    z.strictObject({
      paths: z.array(z.string()).optional(),
      ignored: z.boolean().optional(),
      token: z.string().optional(),
    }),
    async ({ service, exchange, caller }, selector, params) => {
      const request = { ...params, caller: caller?.subject };
      return { ok: true, ...(await service.actions.discard(selector, request, exchange.signal)) };
    },
  ),
  archive: async (context, selector, params) => {
    const read = readShape(archiveSchema, params, archiveTexts) as z.output<typeof archiveSchema>;
    const { path = selector, ...request } = read;
    const { service, exchange, caller } = context;
    await assertSame(context, selector, path);
    const asked = { ...request, caller: caller?.subject };
    const outcome = await service.worktreeArchives.archive(selector, asked, exchange.signal);
    return { status: 200, body: { ok: true, ...outcome } };
  },
  ...Object.fromEntries(['createPr', 'mergePr', 'autoMergeOff'].map((name) => [name, notOffered])),
};

/** One of the actions of the wire contract (1.6). Whether there is such an action, and its parameters, are judged before anything is done. */
export const actionRoute: Route = defineRoute({
  method: 'POST',
  path: '/action',
  summary: 'Commit, fetch, push, pull, merge, discard or archive.',
  body: z.strictObject({
    cwd: selectorField,
    name: z
      .string()
      .min(1)
      .meta({ description: 'commit, fetch, push, pull, updateFromBase, mergeToBase, discard or archive.' }),
    params: z.record(z.string(), z.unknown()).optional().meta({
      description:
        'Of commit: message (required), addAll (default true). Of discard: paths (default: all), ignored (default false), token (of the preview that the first request is refused with). Of archive: as POST /worktrees/archive. Of the others: none.',
    }),
  }),
  shapeTexts: {
    cwd: 'cwd and name required',
    name: 'cwd and name required',
    params: 'params must be an object',
  },
  answers: {
    200: {
      description: 'The action is done.',
      schema: z.strictObject({
        ok: okField,
        oid: oidText
          .optional()
          .meta({ description: 'Of commit: the new commit. Of a merge: where the branch is now.' }),
        mergedOid: oidText.optional().meta({ description: 'Of a merge: the commit that was merged.' }),
        merge: z
          .enum(['none', 'forward', 'merge'])
          .optional()
          .meta({ description: 'What a merge took: nothing, a fast-forward, or a commit.' }),
        output: z.string().optional().meta({ description: 'Of pull: what it did, for people.' }),
        mergedInto: z
          .string()
          .optional()
          .meta({ description: 'Of mergeToBase: root of the checkout that has the base.' }),
        archive: z.string().optional().meta({
          description:
            'What was destroyed: of discard, for /discarded/restore; of archive, for /worktrees/restore.',
        }),
        counts: z
          .strictObject({
            staged: z.number(),
            unstaged: z.number(),
            untracked: z.number(),
            ignored: z.number(),
            bytes: z.number(),
          })
          .optional()
          .meta({ description: 'Of discard: what was destroyed.' }),
        left: z
          .array(z.string())
          .optional()
          .meta({ description: 'Of discard: repositories inside, which are left alone.' }),
        ...z.object(archiveAnswer).omit({ archive: true }).partial().shape,
        warnings: z
          .array(
            z.strictObject({
              stage: z.string(),
              code: z.string().optional(),
              message: z.string().optional().meta({ description: 'Of archive, instead of a code.' }),
            }),
          )
          .optional(),
      }),
    },
  },
  run: (context, _query, { cwd, name, params = {} }) => {
    const run = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (run !== undefined) return run(context, cwd, params);
    const shown = name.slice(0, nameShown);
    throw new AuthorityError('action_unknown', {
      details: { reasonKey: 'actions.unknown', params: { name: shown } },
    });
  },
});

function action<Params extends z.ZodType>(
  schema: Params,
  run: (context: RouteContext, selector: string, params: z.output<Params>) => Promise<object>,
): Action {
  return async (context, selector, params) => {
    const read = readShape(schema, params, {}) as z.output<Params>;
    return { status: 200, body: await run(context, selector, read) };
  };
}

function merged({ kind, oid, mergedOid }: MergeOutcome) {
  return { oid, mergedOid, merge: kind };
}

/** The words that people know from `git pull`. */
function outputOf({ kind, previous, oid }: MergeOutcome): string {
  if (kind === 'none') return 'Already up to date.';
  return `Updating ${previous.slice(0, 7)}..${oid.slice(0, 7)}\n${kind === 'forward' ? 'Fast-forward' : 'Merge made.'}`;
}

/** Existing clients name the worktree twice. @throws `workspace_not_authorized` when it is not the same one */
async function assertSame(
  { service, exchange }: RouteContext,
  selector: string,
  path: string,
): Promise<void> {
  if (path === selector) return;
  await using selected = await service.authority.authorizeRepository(selector, exchange.signal);
  await using named = await service.authority.authorize(path, exchange.signal);
  if (named.root === selected.root) return;
  throw new AuthorityError('workspace_not_authorized', {
    legacy: 'archive path does not match authorized cwd',
  });
}

/** Only who may act on the repository learns what this server could do there. */
async function notOffered({ service, exchange }: RouteContext, selector: string): Promise<never> {
  await using _capability = await service.authority.authorizeRepository(selector, exchange.signal);
  throw new AuthorityError('not_offered');
}
