import { z } from 'zod';
import { AuthorityError, isAuthorityError } from '../../errors/index.ts';
import { defineRoute, type Route } from '../define-route.ts';
import { oidField, okField, selectorField } from '../fields.ts';
import { invalidField } from '../gates/shape.ts';

const [fewest, usual, most] = [1, 20, 50];

const identity = { host: z.string(), owner: z.string(), repo: z.string() };

const itemSchema = z.strictObject({
  ...identity,
  kind: z.enum(['change_request', 'issue']),
  number: z.int().positive(),
  title: z.string(),
  url: z.string(),
  state: z.enum(['open', 'closed', 'merged']),
  body: z.string().nullable(),
  labels: z.array(z.string()),
  updatedAt: z.string().nullable(),
  isDraft: z.boolean().optional().meta({ description: 'This and what follows: of pull requests only.' }),
  baseRefName: z.string().nullable().optional(),
  headRefName: z.string().nullable().optional(),
  headOwnerLogin: z.string().nullable().optional(),
  fork: z.boolean().nullable().optional(),
  headRefOid: oidField.optional(),
  headRepositoryId: z.string().nullable().optional(),
  nodeId: z.string().optional(),
});

export const pullsRoute: Route = defineRoute({
  method: 'GET',
  path: '/pulls',
  summary: 'Open pull requests and issues of the repository that origin names.',
  query: z.strictObject({
    cwd: selectorField,
    limit: z
      .string()
      .regex(/^-?\d{1,9}$/)
      .optional()
      .meta({ description: 'Of each kind; 1 to 50, default 20. What is beyond is taken for the nearest.' }),
  }),
  shapeTexts: { cwd: 'cwd required' },
  answers: {
    200: {
      description: 'Newest first. Unless authState is authenticated or partial, nothing was asked.',
      schema: z.strictObject({
        ok: okField,
        isGit: z.boolean(),
        items: z.array(itemSchema),
        authState: z.enum(['authenticated', 'partial', 'cli_missing', 'unauthenticated', 'no_remote']),
        repository: z.strictObject(identity).optional(),
        partialSide: z.enum(['pulls', 'issues']).optional(),
        error: z.string().optional(),
      }),
    },
  },
  run: async ({ service, exchange }, { cwd, limit }) => {
    const asked = Math.min(most, Math.max(fewest, limit === undefined ? usual : Number(limit)));
    return { status: 200, body: { ok: true, ...(await service.pulls.list(cwd, asked, exchange.signal)) } };
  },
});

export const pullRoute: Route = defineRoute({
  method: 'GET',
  path: '/pull',
  summary: 'One pull request or issue, as the forge has it now.',
  query: z.strictObject({
    cwd: selectorField,
    number: z
      .string()
      .regex(/^[1-9]\d{0,15}$/)
      .refine((text) => Number.isSafeInteger(Number(text)))
      .meta({ description: 'A positive integer below 2^53.' }),
    kind: z.enum(['change_request', 'issue']).optional(),
    host: z.string().min(1).optional().meta({ description: 'With owner and repo, or none of the three.' }),
    owner: z.string().min(1).optional(),
    repo: z.string().min(1).optional(),
  }),
  shapeTexts: {
    cwd: 'cwd required',
    number: 'number required',
    kind: 'invalid forge kind',
    host: 'incomplete repository identity',
    owner: 'incomplete repository identity',
    repo: 'incomplete repository identity',
  },
  answers: {
    200: { description: 'The item.', schema: z.strictObject({ ok: okField, item: itemSchema }) },
  },
  run: async ({ service, exchange }, { cwd, number, kind, host, owner, repo }) => {
    const query = {
      number: Number(number),
      ...(kind === undefined ? {} : { kind }),
      ...expectedOf(host, owner, repo),
    };
    try {
      const item = await service.pulls.find(cwd, query, exchange.signal);
      return { status: 200, body: { ok: true, item } };
    } catch (error) {
      throw withState(error);
    }
  },
});

/** @throws `invalid_request` unless all or none are given */
function expectedOf(host?: string, owner?: string, repo?: string) {
  if (host === undefined && owner === undefined && repo === undefined) return {};
  if (host !== undefined && owner !== undefined && repo !== undefined)
    return { expected: { host, owner, repo } };
  const missing = host === undefined ? 'host' : owner === undefined ? 'owner' : 'repo';
  throw invalidField(missing, 'missing', { [missing]: 'incomplete repository identity' });
}

/** Existing clients go by `authState`, and show `reason` (wire contract, 1.1). */
function withState(error: unknown): unknown {
  if (!isAuthorityError(error)) return error;
  const facts = factsOf(error);
  if (facts === null) return error;
  const { code, details, legacy } = error;
  return new AuthorityError(code, { details: { ...facts, ...details }, legacy, cause: error });
}

function factsOf({ code }: AuthorityError): Readonly<Record<string, string>> | null {
  if (code === 'git_repository_required' || code === 'forge_remote_missing')
    return { authState: 'no_remote' };
  if (code === 'forge_not_found') return { authState: 'error', reason: 'not_found' };
  if (code === 'forge_not_configured') return { authState: 'cli_missing', reason: 'dependency' };
  if (code === 'forge_unauthenticated') return { authState: 'unauthenticated', reason: 'dependency' };
  const failures = ['forge_rate_limited', 'forge_unavailable', 'forge_response_invalid', 'forge_refused'];
  return failures.includes(code) ? { authState: 'error', reason: 'dependency' } : null;
}
