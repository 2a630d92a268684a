import { z } from 'zod';
import { AuthorityError } from '../../errors/index.ts';
import { type Answer, defineRoute, type Route } from '../define-route.ts';
import { okField, selectorField } from '../fields.ts';
import { readShape } from '../gates/shape.ts';
import type { RouteContext } from '../route-context.ts';

/** An action whose parameters have passed its strict schema. */
type Action = (context: RouteContext, selector: string, params: unknown) => Promise<Answer>;

const nameShown = 64;

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
  ...Object.fromEntries(
    [
      'pull',
      'discard',
      'mergeToBase',
      'updateFromBase',
      'createPr',
      'mergePr',
      'autoMergeOff',
      'archive',
    ].map((name) => [name, notOffered]),
  ),
};

/** One of the actions of the wire contract (1.6). Whether there is such an action, and its parameters, are judged before anything is done. */
export const actionRoute: Route = defineRoute({
  method: 'POST',
  path: '/action',
  summary: 'Commit, fetch or push.',
  body: z.strictObject({
    cwd: selectorField,
    name: z.string().min(1).meta({ description: 'commit, fetch or push.' }),
    params: z.record(z.string(), z.unknown()).optional().meta({
      description: 'Of commit: message (required), addAll (default true). Of the others: none.',
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
        oid: z
          .string()
          .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
          .optional()
          .meta({ description: 'Of commit: the new commit.' }),
        warnings: z.array(z.strictObject({ stage: z.string(), code: z.string() })).optional(),
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

/** Only who may act on the repository learns what this server could do there. */
async function notOffered({ service, exchange }: RouteContext, selector: string): Promise<never> {
  await using _capability = await service.authority.authorizeRepository(selector, exchange.signal);
  throw new AuthorityError('not_offered');
}
