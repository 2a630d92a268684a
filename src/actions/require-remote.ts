import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { readOriginAddress } from '../git/origin-address.ts';
import type { GitRunner } from '../git/run-git.ts';
import { parseRemoteName, type RemoteName } from '../git/values.ts';

/**
 * The remote of all actions, once the repository has one of that name: Git would take the name for a directory otherwise.
 * @throws `remote_missing` (details.reasonKey) | `git_failed` | `aborted`
 */
export async function requireRemote(
  git: GitRunner,
  capability: RepositoryCapability,
  reasonKey: `actions.${string}`,
  signal?: AbortSignal,
): Promise<RemoteName> {
  const name = parseRemoteName('origin');
  if (name !== null && (await readOriginAddress(capability, git, signal)) !== null) return name;
  throw new AuthorityError('remote_missing', { details: { reasonKey } });
}
