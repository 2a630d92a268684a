import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { countDivergence } from '../git/divergence.ts';
import type { GitRunner } from '../git/run-git.ts';
import type { CommitOid } from '../git/values.ts';
import type { HeadFacts } from './head-facts.ts';
import type { Difference, RepositoryFacts } from './snapshot.ts';
import type { Stages } from './stages.ts';

/** What comparing commits of one repository takes. */
export interface Comparison {
  readonly capability: RepositoryCapability;
  readonly git: GitRunner;
  readonly signal: AbortSignal;
}

export type Differences = Pick<RepositoryFacts, 'aheadBehind' | 'originDelta' | 'upstream'>;

/** Counts HEAD against its base, its branch at origin and its upstream; each pair of commits once, equal ones not at all. */
export async function readDifferences(
  comparison: Comparison,
  head: HeadFacts | undefined,
  stages: Stages,
): Promise<Differences> {
  const { sha, base, origin, upstream } = head ?? {};
  if (!sha) return { aheadBehind: null, originDelta: null, upstream: null };
  const counted = new Map<CommitOid, Promise<Difference>>();
  const count = (other: CommitOid): Promise<Difference> => {
    const known = counted.get(other) ?? countAgainst(comparison, sha, other);
    counted.set(other, known);
    return known;
  };
  const [aheadBehind, originDelta, tracked] = await Promise.all([
    base ? stages.attempt('ahead-behind', () => count(base)) : null,
    origin ? stages.attempt('origin-delta', () => count(origin)) : null,
    upstream ? stages.attempt('upstream', () => count(upstream.tip)) : null,
  ]);
  return {
    aheadBehind: aheadBehind ?? null,
    originDelta: originDelta ?? null,
    upstream: upstream && tracked ? { ref: upstream.name, ...tracked } : null,
  };
}

async function countAgainst(
  { capability, git, signal }: Comparison,
  head: CommitOid,
  other: CommitOid,
): Promise<Difference> {
  if (head === other) return { ahead: 0, behind: 0 };
  return countDivergence(capability, git, head, other, signal);
}
