/** The shapes that the table of trials is written in. */
import type { Cleanup } from './cleanup.ts';

/** How much work one run does. */
export interface Scale {
  readonly rounds: number;
  /** Milliseconds for one side in one round. */
  readonly budgetMs: number;
  /** Requests of the leak trial. */
  readonly leakRequests: number;
}

export const fullScale: Scale = { rounds: 11, budgetMs: 200, leakRequests: 100_000 };
/** Shows that every trial runs; its ratios prove nothing. */
export const quickScale: Scale = { rounds: 3, budgetMs: 40, leakRequests: 5_000 };

/**
 * One side of a contest. `sample` works for about the given time and returns nanoseconds per operation, one figure for each
 * timed batch. `verify` does the operation once, untimed, and throws when what it read or wrote is not right.
 */
export interface Side {
  sample(budgetMs: number): Promise<readonly number[]>;
  verify(): Promise<void>;
}

/** Both sides over one set of files. */
export interface Contest {
  readonly ours: Side;
  readonly theirs: Side;
  /** What stands for the figures of one round; the median when left out. */
  readonly statistic?: 'median' | 'p99';
}

/**
 * What a measured figure is compared with.
 * time: our time over theirs, at most `limit`. speed: their time over ours, at least `limit` ("times faster", or the ratio of requests
 * a second). growth: how much a count of ours grew, at most `limit`. growthShare: the same as a share of the count at the start.
 */
export interface Bound {
  readonly measure: 'time' | 'speed' | 'growth' | 'growthShare';
  readonly limit: number;
}

export function timeAtMost(limit: number): Bound {
  return { measure: 'time', limit };
}

export function speedAtLeast(limit: number): Bound {
  return { measure: 'speed', limit };
}

export function growthAtMost(limit: number): Bound {
  return { measure: 'growth', limit };
}

export function growthShareAtMost(limit: number): Bound {
  return { measure: 'growthShare', limit };
}

interface Bounds {
  readonly name: string;
  readonly must: Bound;
  readonly goal: Bound;
}

export interface ContestVariant extends Bounds {
  /** Everything the contest makes is given to `cleanup`, which runs also when preparing fails. */
  prepare(cleanup: Cleanup, scale: Scale): Promise<Contest>;
}

export interface ContestTrial {
  readonly kind: 'contest';
  readonly id: string;
  readonly trial: string;
  readonly against: string;
  readonly variants: readonly ContestVariant[];
}

/** Counts of one process before and after a load. */
export interface Growth {
  readonly name: string;
  readonly before: number;
  readonly after: number;
}

/** One load, several counts; every variant names one of them. */
export interface GrowthTrial {
  readonly kind: 'growth';
  readonly id: string;
  readonly trial: string;
  readonly against: string;
  readonly variants: readonly Bounds[];
  measure(cleanup: Cleanup, scale: Scale): Promise<readonly Growth[]>;
}

export type Trial = ContestTrial | GrowthTrial;

/** One line of the printed table. */
export interface Outcome {
  readonly id: string;
  readonly variant: string;
  readonly trial: string;
  readonly against: string;
  readonly must: Bound;
  readonly goal: Bound;
  /** In the measure of the bounds. */
  readonly figure: number;
  /** Nanoseconds for each operation, one figure a round; empty for growth. */
  readonly oursNs: readonly number[];
  readonly theirsNs: readonly number[];
  readonly growth: Growth | null;
}

export function meets(figure: number, bound: Bound): boolean {
  return bound.measure === 'speed' ? figure >= bound.limit : figure <= bound.limit;
}
