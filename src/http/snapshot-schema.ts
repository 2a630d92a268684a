import { z } from 'zod';
import { okField } from './fields.ts';

const count = z.int().nonnegative();
const difference = z.strictObject({ ahead: count, behind: count });

const plain = z.strictObject({
  cwd: z.string().meta({ description: 'The selector as it was asked for.' }),
  isGit: z.literal(false),
  at: z.number().meta({ description: 'Milliseconds since 1970.' }),
});

export const repositorySnapshotSchema: z.ZodType = z.strictObject({
  cwd: z.string().meta({ description: 'The selector as it was asked for.' }),
  isGit: z.literal(true),
  repoRoot: z.string(),
  mainRepoRoot: z.string(),
  isLinkedWorktree: z.boolean(),
  managed: z.boolean(),
  baseRefName: z
    .string()
    .nullable()
    .meta({ description: 'The branch a managed worktree was created from, else the default branch.' }),
  baseRef: z.string().nullable().meta({ description: 'Full name of the commit that HEAD is compared with.' }),
  defaultBranch: z.string().nullable(),
  branch: z.string().nullable(),
  detached: z.boolean(),
  detachedShort: z.string().nullable(),
  sha: z.string().nullable(),
  unborn: z.boolean(),
  dirty: z.boolean().nullable().meta({ description: 'Null when it is not known; never false then.' }),
  changedFileCount: count.nullable().meta({ description: 'Untracked files included.' }),
  untrackedCount: count.nullable(),
  aheadBehind: difference.nullable().meta({ description: 'HEAD against baseRef.' }),
  upstream: z.strictObject({ ref: z.string(), ahead: count, behind: count }).nullable(),
  originDelta: difference.nullable().meta({ description: 'HEAD against the branch of its name at origin.' }),
  diffStat: z
    .strictObject({ additions: count, deletions: count, files: count })
    .nullable()
    .meta({ description: 'Tracked files as they are, against where HEAD left its base.' }),
  remote: z.string().nullable().meta({ description: 'Address of origin without user and password.' }),
  github: z.strictObject({ host: z.string(), owner: z.string(), repo: z.string() }).nullable(),
  forgeAuth: z.literal('no_remote').meta({ description: 'Always this: no forge is asked.' }),
  prHeadRef: z.null(),
  prNumber: z.null(),
  prLookupSha: z.string().nullable(),
  prRequireShaMatch: z.literal(false),
  prPollingDisabled: z.literal(true),
  pr: z.null(),
  gitKnown: z
    .strictObject({
      head: z.boolean(),
      status: z.boolean(),
      aheadBehind: z.boolean(),
      originDelta: z.boolean(),
      diffStat: z.boolean(),
    })
    .meta({ description: 'Whether a null means that there is none.' }),
  degraded: z.array(
    z.strictObject({
      stage: z.enum([
        'head',
        'status',
        'ahead-behind',
        'origin-delta',
        'diff-stat',
        'remote',
        'upstream',
        'fetch',
      ]),
      message: z.string(),
    }),
  ),
  at: z.number().meta({ description: 'Since when the facts hold; milliseconds since 1970.' }),
});

export const snapshotSchema: z.ZodType = z.union([plain, repositorySnapshotSchema]);

export const snapshotBatchSchema: z.ZodType = z.strictObject({
  ok: okField,
  byCwd: z
    .record(z.string(), snapshotSchema)
    .meta({ description: 'By the selectors as they were asked for.' }),
  failures: z
    .record(z.string(), z.looseObject({ ok: z.literal(false), code: z.string(), status: z.int() }))
    .optional()
    .meta({ description: 'With `partial`: what failed, by selector; each a Problem.' }),
});
