import { type Trial, timeAtMost } from './harness/trial.ts';

/** The trials of what Git is asked for. */
export const gitTrials: readonly Trial[] = [
  {
    kind: 'contest',
    id: 'git-branches',
    trial: 'branches of a repository, authorised and proven current',
    against: 'the Git commands that tell the same',
    variants: [
      {
        name: '40 branches here and on origin, 8 differ',
        must: timeAtMost(1.2),
        goal: timeAtMost(1),
        prepare: async (cleanup) => (await import('./trials/git-reads.ts')).prepareBranches(cleanup),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'git-commits',
    trial: 'commits over the base, authorised and proven current',
    against: 'the Git commands that tell the same',
    variants: [
      {
        name: '100 commits, half of them pushed',
        must: timeAtMost(1.2),
        goal: timeAtMost(1),
        prepare: async (cleanup) => (await import('./trials/git-reads.ts')).prepareCommits(cleanup),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'diff-5k',
    trial: 'diff of 5,000 changed files, read into files and hunks',
    against: '`git diff` itself, its output thrown away',
    variants: [
      {
        name: 'files as they are',
        must: timeAtMost(1.5),
        goal: timeAtMost(1.15),
        prepare: async (cleanup) => (await import('./trials/diff-5k.ts')).prepareFiles(cleanup),
      },
      {
        name: 'one commit',
        must: timeAtMost(1.5),
        goal: timeAtMost(1.15),
        prepare: async (cleanup) => (await import('./trials/diff-5k.ts')).prepareCommit(cleanup),
      },
    ],
  },
  {
    kind: 'contest',
    id: 'snapshot-200',
    trial: 'snapshots of 200 worktrees, nothing changed since',
    against: 'the same Git commands, 8 at a time',
    variants: [
      {
        name: '100 files in 10 directories each',
        must: timeAtMost(0.2),
        goal: timeAtMost(0.02),
        prepare: async (cleanup) => (await import('./trials/snapshot-200.ts')).prepare(cleanup),
      },
    ],
  },
];
