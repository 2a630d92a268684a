import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { type AllowedDriver, pinnedKeys, settingsOfDrivers } from './allowed-drivers.ts';
import type { ClearedPlace, CommandUse } from './cleared-place.ts';
import { malformedOutput, runExpecting } from './expect-success.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import { parseSettings, type Setting } from './setting.ts';
import { handlingOf } from './setting-rules.ts';

/** Lets a repository's configuration through, use by use. */
export interface ConfigurationGate {
  /**
   * Reads the configuration of the repository itself (its own file, that of the worktree, and what they include) and clears it for one use.
   * Clear anew for each command: what was read is as old as the answer.
   * @throws `untrusted_repository_config` (details.use, details.keys: at most 20, addresses left out) | `git_failed` | `aborted` |
   *   `shutting_down`
   */
  clear<Use extends CommandUse>(
    capability: RepositoryCapability,
    use: Use,
    signal?: AbortSignal,
  ): Promise<ClearedPlace<Use>>;
}

/** @throws TypeError when an allowed driver is not well formed */
export function createConfigurationGate(
  git: GitRunner,
  allowed: readonly AllowedDriver[] = [],
): ConfigurationGate {
  const settings = settingsOfDrivers(allowed);
  const pinned = pinnedKeys(settings);
  return {
    async clear<Use extends CommandUse>(
      capability: RepositoryCapability,
      use: Use,
      signal?: AbortSignal,
    ): Promise<ClearedPlace<Use>> {
      const place = pinnedPlace(capability);
      const command = readCommands.configuration(place);
      const found = parseSettings(await runExpecting(git, command, signal));
      if (found === null) throw malformedOutput(command);
      const keys = untrustedKeys(found, use, pinned);
      if (keys.length > 0) {
        const details = { use, keys: keys.slice(0, shownKeys) };
        throw new AuthorityError('untrusted_repository_config', { details });
      }
      return { ...place, settings } as unknown as ClearedPlace<Use>;
    },
  };
}

/** Of a configuration made to be long, some keys say enough. */
const shownKeys = 20;
const shownCharacters = 120;

/** The keys that stand against a use, each once; `pinned` ones are set by the operator. Only our own settings, on the command line, need no judgement. */
export function untrustedKeys(
  settings: readonly Setting[],
  use: CommandUse,
  pinned: ReadonlySet<string> = new Set(),
): string[] {
  const untrusted = settings.filter((setting) => {
    const { scope, section, subsection, variable } = setting;
    if (scope === 'command' || pinned.has(`${section}.${subsection}.${variable}`)) return false;
    const handling = handlingOf(setting);
    return handling === null || (typeof handling !== 'string' && handling.includes(use));
  });
  return [...new Set(untrusted.map(printableKey))];
}

/** A subsection can be an address with a password in it; those are not shown. */
function printableKey({ section, subsection, variable }: Setting): string {
  const middle = subsection === null ? '' : `.${isAddress(subsection) ? '*' : decode(subsection)}`;
  return `${section}${middle}.${variable}`.slice(0, shownCharacters);
}

function isAddress(subsection: string): boolean {
  return /[:/@]/.test(subsection);
}

function decode(latin1: string): string {
  return Buffer.from(latin1, 'latin1').toString('utf8');
}
