import { exchangeUnavailable } from '../capability/exchange-support.ts';
import { linkRefusal } from '../capability/follow-links.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { codeOf, refusalOf, syscallOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';

/** What renameat2(2) answers where a file system lacks the flag that the change needs. */
const flagUnknown: ReadonlySet<string | null> = new Set(['EINVAL', 'ENOSYS', 'EOPNOTSUPP', 'ENOTSUP']);

const acrossFileSystems = 'The file system cannot move this entry there in one step.';

/** The refusal for a failed change. `path` is what was opened without following links. */
export async function changeRefusal(held: HeldRoot, path: string, error: unknown): Promise<AuthorityError> {
  const code = codeOf(error);
  if (code === 'ELOOP') return linkRefusal(held, path);
  if (syscallOf(error) !== 'renameat2') return refusalOf(error);
  if (flagUnknown.has(code)) return exchangeUnavailable(code, error);
  if (code !== 'EXDEV') return refusalOf(error);
  // Both places were opened beneath the root: a mount allowed below it, or a lower directory of overlayfs.
  return new AuthorityError('not_offered', { details: { reason: acrossFileSystems }, cause: error });
}
