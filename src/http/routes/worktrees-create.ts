import { z } from 'zod';
import { defineRoute, type Route } from '../define-route.ts';
import { baseField, okField, selectorField, sessionIdField } from '../fields.ts';

const name = z.string().min(1);
const wrong = 'invalid worktree request';

const pullSchema = z.strictObject({
  host: name,
  owner: name,
  repo: name,
  number: z.int().min(1),
  headRef: name,
  baseRef: z.string().nullable().optional(),
  forkOwner: z.string().nullable().optional(),
});

const createdSchema = z.strictObject({
  ok: okField,
  txId: z.string().optional(),
  path: z.string().meta({ description: 'Canonical path; a selector.' }),
  branch: z.string(),
  baseRef: z.string().nullable().meta({ description: 'Full object name of the commit that it began at.' }),
  baseRefName: z.string().nullable(),
  copiedFrom: z
    .string()
    .nullable()
    .meta({ description: 'The branch that was asked for, where it is checked out elsewhere.' }),
  upstream: z.string().nullable().meta({ description: 'The branch of origin that the new one follows.' }),
  pullNumber: z.number().optional().meta({ description: 'Of a pull request.' }),
  prHeadSha: z.string().optional(),
  workspaceId: z.string().optional().meta({ description: 'Absent where the host makes the rows itself.' }),
  replayed: z
    .literal(true)
    .optional()
    .meta({ description: 'This is the answer to an earlier request of the same transaction.' }),
  warnings: z.array(z.strictObject({ stage: z.string(), message: z.string() })).optional(),
});

export const worktreesCreateRoute: Route = defineRoute({
  method: 'POST',
  path: '/worktrees',
  summary: 'Make a worktree for a branch of its own, and register it.',
  body: z.strictObject({
    cwd: selectorField,
    intent: z
      .enum(['checkout', 'branch-off'])
      .meta({ description: 'An existing branch (default), or a new one.' })
      .optional(),
    base: baseField.optional(),
    branchName: z
      .string()
      .meta({ description: 'The branch, or the new one; it gets a number when it is taken.' })
      .optional(),
    slug: z.string().meta({ description: 'A text to name the new branch by.' }).optional(),
    sourceTitle: z.string().optional(),
    pull: pullSchema.meta({ description: 'A pull request of the repository.' }).optional(),
    txId: z
      .string()
      .regex(/^[A-Za-z0-9_-]{16,100}$/)
      .meta({ description: 'A second request with the same id gets the answer of the first.' })
      .optional(),
    sourceSessionId: sessionIdField.optional(),
  }),
  shapeTexts: {
    cwd: 'cwd required',
    intent: wrong,
    base: wrong,
    branchName: wrong,
    slug: wrong,
    sourceTitle: wrong,
    txId: wrong,
    sourceSessionId: wrong,
    pull: 'invalid pull request selector',
  },
  answers: {
    201: { description: 'The worktree is made.', schema: createdSchema },
    200: { description: 'It was made by an earlier request of the same transaction.', schema: createdSchema },
  },
  run: async ({ service, exchange }, _query, { cwd, ...asked }) => {
    const request = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    const created = await service.worktrees.create(cwd, request, exchange.signal);
    const { replayed, warnings, workspaceId, pullNumber, prHeadSha, ...result } = created;
    const body = {
      ok: true,
      ...(asked.txId === undefined ? {} : { txId: asked.txId }),
      ...result,
      ...(pullNumber === null ? {} : { pullNumber, prHeadSha }),
      ...(workspaceId === null ? {} : { workspaceId }),
      ...(replayed ? { replayed } : {}),
      ...(warnings.length === 0 ? {} : { warnings }),
    };
    return { status: replayed ? 200 : 201, body };
  },
});
