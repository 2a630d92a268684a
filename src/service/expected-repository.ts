import { AuthorityError } from '../errors/index.ts';
import type { ForgeIdentity } from '../git/remote-address.ts';

/**
 * Refuses unless `origin` is the repository that a caller means, so that a number is never taken for that of another one (R21). Forges tell
 * the case of no name apart.
 * @throws `identity_changed` (details.what `origin`)
 */
export function assertExpectedRepository(
  origin: ForgeIdentity | null,
  expected: ForgeIdentity,
): asserts origin is ForgeIdentity {
  if (origin !== null && textOf(origin) === textOf(expected)) return;
  throw new AuthorityError('identity_changed', {
    details: { what: 'origin' },
    legacy: 'repository identity changed',
  });
}

function textOf({ host, owner, repo }: ForgeIdentity): string {
  return `${host}/${owner}/${repo}`.toLowerCase();
}
