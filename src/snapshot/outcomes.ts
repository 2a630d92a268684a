import { AuthorityError, isAuthorityError } from '../errors/index.ts';

/** What came of one of several selectors. */
export type Outcome<Result> =
  | { readonly ok: true; readonly value: Result }
  | { readonly ok: false; readonly error: AuthorityError };

/** Waits for all, also after one failed: what they work under is let go afterwards. */
export async function allOf<Result>(work: readonly Promise<Result>[]): Promise<readonly Result[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** A caller that went away and a server that ends are no answers about a selector. */
export async function outcomeOf<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Outcome<Result>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (!isAuthorityError(error) || signal?.aborted || error.code === 'shutting_down') throw error;
    return { ok: false, error };
  }
}

export function throwFirst(
  outcomes: readonly Outcome<unknown>[],
  distinct: readonly string[],
  selectors: readonly string[],
): void {
  const failed = outcomes.findIndex((outcome) => !outcome.ok);
  const outcome = outcomes[failed];
  if (outcome === undefined || outcome.ok) return;
  const { code, details, legacy } = outcome.error;
  const index = selectors.indexOf(distinct[failed] as string);
  throw new AuthorityError(code, { details: { ...details, index }, legacy, cause: outcome.error });
}
