import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { AuthorityError } from '../errors/index.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where this user's state lives: `$WORKSPACE_AUTHORITY_HOME`, else `$XDG_STATE_HOME/workspace-authority`, else
 * `~/.local/state/workspace-authority`. A relative `XDG_STATE_HOME` is ignored, as the XDG Base Directory Specification demands;
 * a relative path of our own variable is a mistake and refused. An empty variable counts as unset.
 * @throws `state_unavailable` (details.reason)
 */
export function defaultStateDirectory(environment: Environment = process.env): string {
  const own = environment['WORKSPACE_AUTHORITY_HOME'];
  if (own) return assertAbsolute(own, 'WORKSPACE_AUTHORITY_HOME is not an absolute path');
  const xdg = environment['XDG_STATE_HOME'];
  if (xdg && isAbsolute(xdg)) return join(xdg, 'workspace-authority');
  const home = assertAbsolute(environment['HOME'] || homedir(), 'the home directory is not an absolute path');
  return join(home, '.local/state/workspace-authority');
}

function assertAbsolute(path: string, reason: string): string {
  if (isAbsolute(path)) return path;
  throw new AuthorityError('state_unavailable', { details: { reason } });
}
