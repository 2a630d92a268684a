import { commandClasses, makeCommand } from './command-class.ts';
import { type HooksDirectory, hooksSetting } from './hook-settings.ts';
import type { PinnedPlace } from './pinned-place.ts';
import type { GitCommand } from './run-git.ts';
import type { UserIdentity } from './user-configuration.ts';
import { identityEnvironment, locksAllowed } from './write-commands.ts';

/** Hooks that our changes call, each where Git would (githooks(5)). */
export type HookName =
  | 'pre-commit'
  | 'prepare-commit-msg'
  | 'commit-msg'
  | 'post-commit'
  | 'pre-merge-commit'
  | 'post-merge';

interface HookCall {
  readonly name: HookName;
  readonly words: readonly string[];
  readonly identity: UserIdentity;
}

/** Runs one hook as Git does, and nothing where there is none (git-hook(1)). Its exit status is that of the hook. */
export function hookCommand(
  place: PinnedPlace,
  directory: HooksDirectory,
  { name, words, identity }: HookCall,
): GitCommand {
  return makeCommand(`hook-${name}`, commandClasses.change, place, {
    settings: [hooksSetting(directory)],
    words: ['hook', 'run', '--ignore-missing', name, '--', ...words],
    environment: { ...locksAllowed, ...identityEnvironment(identity) },
  });
}
