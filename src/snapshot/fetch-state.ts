import type { RepositoryCapability } from '../capability/repository-capability.ts';
import type { AuthorityError } from '../errors/index.ts';
import type { DegradedStage, RepositoryFacts } from './snapshot.ts';

/** What fetches in the background, as far as snapshots have to do with it. */
export interface FetchState {
  /** The checkout is asked about. */
  used(selector: string, capability: RepositoryCapability): void;
  /** Why the last fetch for its repository failed; null when none did. */
  failureOf(capability: RepositoryCapability): AuthorityError | null;
}

/** What is known of remote branches is old where the last fetch failed. */
export function withFetchFailure(facts: RepositoryFacts, failure: AuthorityError | null): RepositoryFacts {
  if (failure === null) return facts;
  const more = describe(failure);
  const message = more === null ? failure.message : `${failure.message} (${more})`;
  const stage: DegradedStage = { stage: 'fetch', message };
  return { ...facts, degraded: [...facts.degraded, stage] };
}

/** What a person has to look at: settings, a lock that nobody takes away, or what the remote said. */
function describe({ details }: AuthorityError): string | null {
  const { keys, reason, recovery } = details;
  if (Array.isArray(keys)) return keys.join(', ');
  if (isRecord(recovery) && typeof recovery['remove'] === 'string') return recovery['remove'];
  return typeof reason === 'string' ? reason : null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
