import { z } from 'zod';
import { AuthorityError } from '../errors/index.ts';
import type {
  BranchPullAnswer,
  IssueAnswer,
  MergeAnswer,
  MergedPullAnswer,
  PartsAnswer,
  PullAnswer,
  RepositoryAnswer,
} from './github-answer-types.ts';

const id = z.union([z.int().positive(), z.bigint().positive()]).transform(String);
const number = z.int().positive();
const text = z.string().max(1_000_000);
const label = z.union([text, z.object({ name: text.nullish() })]);
const repositoryName = z.object({ name: text, owner: z.object({ login: text }) });

export const repositoryAnswer: z.ZodType<RepositoryAnswer> = repositoryName.extend({
  id,
  default_branch: text.nullish(),
  parent: repositoryName.nullish(),
});

const item = z.object({
  number,
  title: text,
  html_url: text,
  state: z.enum(['open', 'closed']),
  body: text.nullish(),
  labels: z.array(label).max(1000),
  updated_at: z.iso.datetime({ offset: true }).nullish(),
});

export const issueAnswer: z.ZodType<IssueAnswer> = item.extend({ pull_request: z.unknown().optional() });
export const issuesAnswer: z.ZodType<readonly IssueAnswer[]> = z.array(issueAnswer).max(100);

export const pullAnswer: z.ZodType<PullAnswer> = item.extend({
  node_id: z.string().min(1).max(200),
  draft: z.boolean().optional(),
  merged_at: z.iso.datetime({ offset: true }).nullable(),
  base: z.object({ ref: text, repo: z.object({ id }) }),
  head: z.object({
    ref: text,
    sha: text,
    repo: z.object({ id, owner: z.object({ login: text }) }).nullable(),
  }),
});
export const pullsAnswer: z.ZodType<readonly PullAnswer[]> = z.array(pullAnswer).max(100);
export const mergeAnswer: z.ZodType<MergeAnswer> = z.object({ merged: z.literal(true), sha: text.nullish() });

const countByState = z.array(z.object({ state: text, count: z.int().nonnegative() })).nullish();

export const branchPullAnswer: z.ZodType<BranchPullAnswer> = z.object({
  number,
  url: text,
  title: text,
  state: z.enum(['OPEN', 'CLOSED', 'MERGED']),
  isDraft: z.boolean(),
  isCrossRepository: z.boolean(),
  baseRefName: text,
  headRefName: text,
  headRefOid: text,
  headRepositoryOwner: z.object({ login: text }).nullable(),
  mergeable: z.enum(['MERGEABLE', 'CONFLICTING', 'UNKNOWN']),
  reviewDecision: text.nullable(),
  commits: z.object({
    nodes: z
      .array(
        z.object({
          commit: z.object({
            statusCheckRollup: z
              .object({
                state: z.enum(['SUCCESS', 'FAILURE', 'ERROR', 'PENDING', 'EXPECTED']),
                contexts: z.object({
                  totalCount: z.int().nonnegative(),
                  checkRunCountsByState: countByState,
                  statusContextCountsByState: countByState,
                }),
              })
              .nullable(),
          }),
        }),
      )
      .max(1),
  }),
});

export const mergedPullAnswer: z.ZodType<MergedPullAnswer> = z.object({
  number,
  isCrossRepository: z.boolean(),
  headRefName: text,
  headRefOid: text,
});

/** The answer to a question with one part for each branch. */
export function partsOf<Part>(part: z.ZodType<Part>): z.ZodType<PartsAnswer<Part>> {
  const nodes = z.object({ nodes: z.array(part).max(100) });
  return z.object({ repository: z.record(z.string().regex(/^b\d+$/), nodes) });
}

/** @throws `forge_response_invalid` (details.path: where it differs) */
export function checked<Value>(schema: z.ZodType<Value>, data: unknown): Value {
  const parsed = schema.safeParse(data);
  if (parsed.success) return parsed.data;
  const path = parsed.error.issues[0]?.path.map(String).join('.') ?? '';
  throw new AuthorityError('forge_response_invalid', {
    details: { reason: 'shape', path: path.slice(0, 100) },
  });
}
