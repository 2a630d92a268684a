import type { AuthorityError } from '../errors/index.ts';

/** One fact that was looked at, for people who ask why. */
export interface ProofFact {
  readonly fact: string;
  readonly expected: string;
  readonly seen: string;
  readonly holds: boolean;
}

/** Where facts are written in the order they were looked at; null when nobody asked. */
export type FactLog = ProofFact[] | null;

/** Notes the fact and refuses when it does not hold, so that no refusal is without its fact. */
export function establish(
  log: FactLog,
  fact: Omit<ProofFact, 'holds'>,
  holds: boolean,
  refuse: () => AuthorityError,
): void {
  log?.push({ ...fact, holds });
  if (!holds) throw refuse();
}
