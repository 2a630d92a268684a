import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { malformedOutput, runExpecting } from '../git/expect-success.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import type { GitRunner } from '../git/run-git.ts';
import { parseSettings } from '../git/setting.ts';
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
  const command = readCommands.configuration(pinnedPlace(capability));
  const settings = parseSettings(await runExpecting(git, command, signal));
  if (settings === null) throw malformedOutput(command);
  const name = parseRemoteName('origin');
  const isThere = settings.some(
    ({ section, subsection, variable, value }) =>
      section === 'remote' && subsection === name && variable === 'url' && Boolean(value),
  );
  if (name !== null && isThere) return name;
  throw new AuthorityError('remote_missing', { details: { reasonKey } });
}
