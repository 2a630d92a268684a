import { withCleanup } from './cleanup.ts';
import { median, percentile } from './statistics.ts';
import type { Bound, Contest, ContestVariant, Growth, Outcome, Scale, Side, Trial } from './trial.ts';

/** Runs one trial in this process, line by line. */
export async function* measureTrial(trial: Trial, scale: Scale): AsyncGenerator<Outcome> {
  const { id, trial: description, against } = trial;
  const common = { id, trial: description, against };
  if (trial.kind === 'growth') {
    const growths = await withCleanup((cleanup) => trial.measure(cleanup, scale));
    for (const { name, must, goal } of trial.variants) {
      const growth = growths.find((one) => one.name === name);
      if (growth === undefined) throw new Error(`the trial counted no ${name}`);
      const figure = growthFigure(growth, must);
      yield { ...common, variant: name, must, goal, figure, oursNs: [], theirsNs: [], growth };
    }
    return;
  }
  for (const variant of trial.variants) {
    const rounds = await measureVariant(variant, scale);
    const ratio = median(rounds.oursNs) / median(rounds.theirsNs);
    const figure = variant.must.measure === 'speed' ? 1 / ratio : ratio;
    const { name, must, goal } = variant;
    yield { ...common, variant: name, must, goal, figure, ...rounds, growth: null };
  }
}

interface Rounds {
  readonly oursNs: number[];
  readonly theirsNs: number[];
}

const warmUpRounds = 20;

function measureVariant(variant: ContestVariant, scale: Scale): Promise<Rounds> {
  return withCleanup(async (cleanup) => {
    const contest = await variant.prepare(cleanup, scale);
    const sides = [contest.ours, contest.theirs];
    for (const side of sides) await warmUp(side, scale);
    const rounds: Rounds = { oursNs: [], theirsNs: [] };
    for (let round = 0; round < scale.rounds; round += 1) await measureRound(contest, scale, rounds);
    for (const side of sides) await side.verify();
    return rounds;
  });
}

/** A service runs for days: what its first seconds cost, while the compiler still works, is no property of a path. */
async function warmUp(side: Side, scale: Scale): Promise<void> {
  await side.verify();
  await side.sample(scale.budgetMs * warmUpRounds);
}

async function measureRound(contest: Contest, scale: Scale, rounds: Rounds): Promise<void> {
  const entrants: [Side, number[]][] = [
    [contest.ours, rounds.oursNs],
    [contest.theirs, rounds.theirsNs],
  ];
  if (Math.random() < 0.5) entrants.reverse();
  for (const [side, figures] of entrants) {
    // Neither side pays for the other's garbage.
    globalThis.gc?.();
    const sample = await side.sample(scale.budgetMs);
    figures.push(contest.statistic === 'p99' ? percentile(sample, 0.99) : median(sample));
  }
}

function growthFigure(growth: Growth, bound: Bound): number {
  const grown = growth.after - growth.before;
  return bound.measure === 'growthShare' ? grown / growth.before : grown;
}
