import { homedir } from 'node:os';
import { isAbsolute } from 'node:path/posix';
import type { GitRunner } from '../git/run-git.ts';
import { readUserConfiguration, type UserConfiguration, type UserPlace } from '../git/user-configuration.ts';

/** Reads the user's configuration when it is first needed, and once; again only while it does not name the user. */
export function createUserReader(
  git: GitRunner,
  home?: string,
): (signal?: AbortSignal) => Promise<UserConfiguration> {
  const place = home === undefined ? ownPlace() : { home };
  let known: UserConfiguration | null = null;
  return async (signal) => {
    if (known !== null) return known;
    const found = await readUserConfiguration(git, place, signal);
    if (found.name !== null && found.email !== null) known = found;
    return found;
  };
}

function ownPlace(): UserPlace {
  const configurationHome = process.env['XDG_CONFIG_HOME'];
  const home = process.env['HOME'] || homedir();
  if (configurationHome === undefined || !isAbsolute(configurationHome)) return { home };
  return { home, configurationHome };
}
