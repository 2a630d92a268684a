import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path/posix';

/**
 * The canonical path of the host's home: `$DSH_HOME`, else `~/.dsh` (host facts 1). As it is spelled while it does not exist: what lies
 * below it is then only ever what this package makes.
 */
export async function findHome(
  configured: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string> {
  const home = resolve(configured ?? (environment['DSH_HOME'] || join(homedir(), '.dsh')));
  try {
    return await realpath(home);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return home;
    throw error;
  }
}
