import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { malformedOutput, runExpecting } from './expect-success.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import { parseSettings, type Setting } from './setting.ts';

/**
 * The address that is fetched from as `origin`: of several Git takes the first (git-config(1), `remote.<name>.url`). Null without one. As it
 * is written, before `url.<base>.insteadOf`.
 */
export function originAddressIn(settings: readonly Setting[]): string | null {
  const setting = settings.find(
    ({ section, subsection, variable }) =>
      section === 'remote' && subsection === 'origin' && variable === 'url',
  );
  return setting?.value ? Buffer.from(setting.value, 'latin1').toString('utf8') : null;
}

/** The same, read now. @throws `git_failed` | `aborted` */
export async function readOriginAddress(
  capability: RepositoryCapability,
  git: GitRunner,
  signal?: AbortSignal,
): Promise<string | null> {
  const command = readCommands.configuration(pinnedPlace(capability));
  const settings = parseSettings(await runExpecting(git, command, signal));
  if (settings === null) throw malformedOutput(command);
  return originAddressIn(settings);
}
