import { programSearchPath } from './environment.ts';
import { malformedOutput, runExpecting } from './expect-success.ts';
import type { GitCommand, GitRunner } from './run-git.ts';
import { parseSettings, type Setting } from './setting.ts';

/** Whom commits name as author and committer. */
export interface UserIdentity {
  readonly name: string;
  readonly email: string;
}

/** What is taken from the Git configuration of the server's user; nothing else of it reaches a command. */
export interface UserConfiguration {
  readonly name: string | null;
  readonly email: string | null;
  /** Absolute path of the user's ignore file, whether it exists or not (gitignore(5)). */
  readonly excludesFile: string;
}

export interface UserPlace {
  /** Absolute path of the user's home. */
  readonly home: string;
  /** `$XDG_CONFIG_HOME`, where the user has set it. */
  readonly configurationHome?: string;
}

/** Reads the files that git-config(1) names for the machine and the user, with what they include. @throws `git_failed` | `aborted` */
export async function readUserConfiguration(
  git: GitRunner,
  place: UserPlace,
  signal?: AbortSignal,
): Promise<UserConfiguration> {
  const { home, configurationHome = `${home}/.config` } = place;
  const command = listCommand(home, configurationHome);
  const settings = parseSettings(await runExpecting(git, command, signal));
  if (settings === null) throw malformedOutput(command);
  const last = (section: string, variable: string) => lastValue(settings, section, variable);
  const file = last('core', 'excludesfile');
  return {
    name: printable(last('user', 'name')),
    email: printable(last('user', 'email')),
    excludesFile: absolute(file, home) ?? `${configurationHome}/git/ignore`,
  };
}

/** Outside of any repository; the only command that sees a home. */
function listCommand(home: string, configurationHome: string): GitCommand {
  return {
    name: 'user-configuration',
    arguments: ['--no-pager', 'config', '--list', '-z', '--show-scope', '--includes'],
    environment: {
      PATH: programSearchPath,
      HOME: home,
      XDG_CONFIG_HOME: configurationHome,
      LC_ALL: 'C.UTF-8',
      GIT_CEILING_DIRECTORIES: '/',
    },
    directory: '/',
    deadlineMs: 5000,
    dataLimitBytes: 256 * 1024 * 1024,
    outputLimitBytes: 1024 * 1024,
  };
}

function lastValue(settings: readonly Setting[], section: string, variable: string): string | null {
  const found = settings.findLast(
    (setting) =>
      (setting.scope === 'global' || setting.scope === 'system') &&
      setting.section === section &&
      setting.subsection === null &&
      setting.variable === variable,
  );
  return found?.value == null ? null : Buffer.from(found.value, 'latin1').toString('utf8');
}

/** Git drops these characters of a name, and has no name when nothing is left (git-commit-tree(1)). */
function printable(text: string | null): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that break the header of a commit.
  const kept = text?.replace(/[\x00-\x1f\x7f<>]/g, '').trim() ?? '';
  return /[^.,:;"'\\\s]/.test(kept) ? kept : null;
}

function absolute(path: string | null, home: string): string | null {
  if (path === null || path.includes('\0')) return null;
  if (path.startsWith('~/')) return `${home}${path.slice(1)}`;
  return path.startsWith('/') ? path : null;
}
