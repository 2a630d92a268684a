import { AuthorityError } from '../errors/index.ts';
import type { UserConfiguration, UserIdentity } from '../git/user-configuration.ts';

/** Whom a commit names. @throws `identity_missing` (details.missing) */
export function requireIdentity({ name, email }: UserConfiguration): UserIdentity {
  if (name !== null && email !== null) return { name, email };
  const missing = [...(name === null ? ['user.name'] : []), ...(email === null ? ['user.email'] : [])];
  throw new AuthorityError('identity_missing', { details: { missing } });
}

/** Whom the log of a ref names, where no commit is made. */
export function loggedIdentity({ name, email }: UserConfiguration): UserIdentity {
  return { name: name ?? 'workspace-authority', email: email ?? 'workspace-authority@localhost' };
}
