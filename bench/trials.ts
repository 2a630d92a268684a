import { gitTrials } from './git-trials.ts';
import {
  type ContestVariant,
  growthAtMost,
  growthShareAtMost,
  speedAtLeast,
  type Trial,
  timeAtMost,
} from './harness/trial.ts';

const depths = [1, 5, 12] as const;
/** More than any cache of open files would hold. */
const manyFiles = 1000;
const atDepths = (variant: (depth: number) => ContestVariant): ContestVariant[] => depths.map(variant);

/**
 * Every trial: what is measured against what, what must be reached and what is aimed at. A trial's module is loaded only when it
 * runs, so that no side shares its process with the libraries of another trial.
 */
export const trials: readonly Trial[] = [
  {
    kind: 'contest',
    id: 'read-4k',
    trial: 'guarded read of 4 KiB, one at a time',
    against: '`fs.promises.readFile`, unguarded',
    variants: [
      ...atDepths((depth) => ({
        name: `depth ${depth}`,
        must: timeAtMost(0.5),
        goal: timeAtMost(0.12),
        prepare: async (cleanup) =>
          (await import('./trials/read-4k.ts')).prepare(cleanup, { depth, width: 1 }),
      })),
      {
        name: `depth 5, ${manyFiles} files in turn`,
        must: timeAtMost(0.5),
        goal: timeAtMost(0.12),
        prepare: async (cleanup) =>
          (await import('./trials/read-4k.ts')).prepare(cleanup, { depth: 5, width: 1, files: manyFiles }),
      },
      {
        name: 'depth 5, written a moment ago',
        must: timeAtMost(0.5),
        goal: timeAtMost(0.12),
        prepare: async (cleanup) =>
          (await import('./trials/read-4k.ts')).prepare(cleanup, { depth: 5, width: 1, changing: true }),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'read-4k-64',
    trial: 'guarded read of 4 KiB, 64 at once',
    against: '`fs.promises.readFile`, unguarded',
    variants: atDepths((depth) => ({
      name: `depth ${depth}`,
      must: timeAtMost(0.5),
      goal: timeAtMost(0.2),
      prepare: async (cleanup) =>
        (await import('./trials/read-4k.ts')).prepare(cleanup, { depth, width: 64 }),
    })),
  },
  {
    kind: 'contest',
    id: 'read-guard',
    trial: 'guarded read of 4 KiB',
    against: 'realpath, containment, open with O_NOFOLLOW, stat and read in JavaScript',
    variants: [
      ...atDepths((depth) => ({
        name: `depth ${depth}`,
        must: speedAtLeast(5),
        goal: speedAtLeast(15),
        prepare: async (cleanup) => (await import('./trials/read-guard.ts')).prepare(cleanup, depth, 1),
      })),
      ...atDepths((depth) => ({
        name: `depth ${depth}, 64 at once`,
        must: speedAtLeast(4),
        goal: speedAtLeast(7),
        prepare: async (cleanup) => (await import('./trials/read-guard.ts')).prepare(cleanup, depth, 64),
      })),
    ],
  },
  {
    kind: 'contest',
    id: 'read-mcp',
    trial: 'guarded read of 4 KiB as text',
    against: '`@modelcontextprotocol/server-filesystem`, validatePath and readFileContent',
    variants: atDepths((depth) => ({
      name: `depth ${depth}`,
      must: speedAtLeast(5),
      goal: speedAtLeast(15),
      prepare: async (cleanup) => (await import('./trials/read-mcp.ts')).prepare(cleanup, depth),
    })),
  },
  {
    kind: 'contest',
    id: 'read-sync',
    trial: 'guarded read of 4 KiB by the native handle',
    against: '`fs.readFileSync`, unguarded',
    variants: [
      ...atDepths((depth) => ({
        name: `depth ${depth}`,
        must: timeAtMost(1.3),
        goal: timeAtMost(0.8),
        prepare: async (cleanup) => (await import('./trials/read-sync.ts')).prepare(cleanup, depth, 1),
      })),
      {
        name: `depth 5, ${manyFiles} files in turn`,
        must: timeAtMost(1.3),
        goal: timeAtMost(0.8),
        prepare: async (cleanup) => (await import('./trials/read-sync.ts')).prepare(cleanup, 5, manyFiles),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'read-floor',
    trial: 'guarded read of 4 KiB by the native handle',
    against: 'a C loop of openat2, fstat, read, close',
    variants: [
      ...atDepths((depth) => ({
        name: `depth ${depth}`,
        must: timeAtMost(2),
        goal: timeAtMost(1.35),
        prepare: async (cleanup) => (await import('./trials/read-floor.ts')).prepare(cleanup, depth, 1),
      })),
      {
        name: `depth 5, ${manyFiles} files in turn`,
        // Beyond the paper, which has one file: most of these are opened anew.
        must: timeAtMost(3),
        goal: timeAtMost(1.35),
        prepare: async (cleanup) => (await import('./trials/read-floor.ts')).prepare(cleanup, 5, manyFiles),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'read-1m',
    trial: 'guarded read of 1 MiB',
    against: '`fs.promises.readFile`, unguarded',
    variants: [
      {
        name: 'depth 5',
        must: timeAtMost(1.1),
        goal: timeAtMost(0.2),
        prepare: async (cleanup) => (await import('./trials/read-1m.ts')).prepare(cleanup),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'read-tail',
    trial: '99th percentile of 4 KiB reads while 8 writers commit with fsync',
    against: 'that of `fs.promises.readFile`',
    variants: [
      {
        name: 'the same writers in JavaScript on both sides',
        must: timeAtMost(0.1),
        goal: timeAtMost(0.005),
        prepare: async (cleanup) => (await import('./trials/read-tail.ts')).prepare(cleanup, 'foreign'),
      },
      {
        name: 'each side with its own way to commit',
        must: timeAtMost(0.1),
        goal: timeAtMost(0.005),
        prepare: async (cleanup) => (await import('./trials/read-tail.ts')).prepare(cleanup, 'own'),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'replace-4k',
    trial: 'commit of 4 KiB, file and directory synced',
    against: 'temporary file, fsync, rename and directory fsync in JavaScript',
    variants: [
      {
        name: 'one at a time',
        must: speedAtLeast(1.3),
        goal: speedAtLeast(1.7),
        prepare: async (cleanup) => (await import('./trials/replace-4k.ts')).prepare(cleanup, 1),
      },
      {
        name: '16 at once',
        must: speedAtLeast(0.9),
        goal: speedAtLeast(1.1),
        prepare: async (cleanup) => (await import('./trials/replace-4k.ts')).prepare(cleanup, 16),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'replace-wfa',
    trial: 'commit of 4 KiB, file and directory synced',
    against: '`write-file-atomic` and directory fsync',
    variants: [
      {
        name: 'one at a time',
        must: speedAtLeast(2.5),
        goal: speedAtLeast(4),
        prepare: async (cleanup) => (await import('./trials/replace-wfa.ts')).prepare(cleanup, 1),
      },
      {
        name: '16 at once',
        must: speedAtLeast(1.5),
        goal: speedAtLeast(2),
        prepare: async (cleanup) => (await import('./trials/replace-wfa.ts')).prepare(cleanup, 16),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'list-10k',
    trial: 'list of 10,000 entries with size and time',
    against: '`readdir` and `lstat` of each, promises',
    variants: [
      {
        name: 'all entries',
        must: speedAtLeast(4),
        goal: speedAtLeast(10),
        prepare: async (cleanup) => (await import('./trials/list-10k.ts')).prepare(cleanup),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'authorize-warm',
    trial: 'selector to usable capability, seen before',
    against: 'starting `git rev-parse` and `git worktree list`',
    variants: [
      ...(
        [
          ['plain directory', 'plain', false],
          ['plain directory, changed a moment ago', 'plain', true],
          ['repository root', 'repository', false],
        ] as const
      ).map(
        ([name, selected, changing]): ContestVariant => ({
          name,
          must: speedAtLeast(50),
          goal: speedAtLeast(200),
          prepare: async (cleanup) =>
            (await import('./trials/authorize-warm.ts')).prepare(cleanup, selected, changing),
        }),
      ),
      {
        name: 'linked worktree',
        must: speedAtLeast(50),
        goal: speedAtLeast(200),
        prepare: async (cleanup) => (await import('./trials/authorize-worktree.ts')).prepareWarm(cleanup),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'authorize-cold',
    trial: 'selector to usable capability, first time, warm prover child',
    against: 'starting `git rev-parse` and `git worktree list`',
    variants: [
      {
        name: 'linked worktree',
        must: speedAtLeast(5),
        goal: speedAtLeast(12),
        prepare: async (cleanup) => (await import('./trials/authorize-worktree.ts')).prepareCold(cleanup),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'authorize-scale',
    trial: 'selector to usable capability, seen before, in large surroundings',
    against: 'the same in small ones',
    variants: [
      {
        name: 'plain directory, 10,000 rows against 10',
        must: timeAtMost(1.5),
        goal: timeAtMost(1.1),
        prepare: async (cleanup) => (await import('./trials/authorize-scale.ts')).prepare(cleanup),
      },
      {
        name: 'linked worktree, 1,000 worktrees against 1',
        must: timeAtMost(1.5),
        goal: timeAtMost(1.1),
        prepare: async (cleanup) => (await import('./trials/authorize-worktree.ts')).prepareScale(cleanup),
      },
    ],
  },
  ...gitTrials,
  {
    kind: 'contest',
    id: 'http-read',
    trial: 'GET /file of 4 KiB through every gate, requests a second',
    against: 'an Express route with bare `fs.promises.readFile` and `res.json`',
    variants: [
      {
        name: '16 connections',
        must: speedAtLeast(0.8),
        goal: speedAtLeast(1.1),
        prepare: async (cleanup, scale) => (await import('./trials/http-read.ts')).prepare(cleanup, scale),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'http-replace',
    trial: 'POST /file of 4 KiB with its base version, requests a second',
    against: 'an Express route with `write-file-atomic`, which does not sync the directory',
    variants: [
      {
        name: '16 connections, a file each',
        must: speedAtLeast(1),
        goal: speedAtLeast(1.5),
        prepare: async (cleanup, scale) => (await import('./trials/http-replace.ts')).prepare(cleanup, scale),
      },
    ],
  },
  {
    kind: 'growth',
    id: 'leak',
    trial: 'growth over 100,000 mixed requests',
    against: 'the same server at the start',
    variants: [
      { name: 'open descriptors', must: growthAtMost(0), goal: growthAtMost(0) },
      { name: 'child processes', must: growthAtMost(0), goal: growthAtMost(0) },
      { name: 'resident memory', must: growthShareAtMost(0.1), goal: growthShareAtMost(0.03) },
    ],
    measure: async (cleanup, scale) => (await import('./trials/leak.ts')).measure(cleanup, scale),
  },
];
