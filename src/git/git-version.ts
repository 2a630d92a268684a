import { proofCommands } from './proof-commands.ts';
import type { GitRunner } from './run-git.ts';

/**
 * The version Git names itself by, such as `2.39.5`.
 * @throws `git_failed` when it cannot be run or says something else | `aborted`
 */
export async function readGitVersion(git: GitRunner, signal?: AbortSignal): Promise<string | null> {
  const result = await git.run(proofCommands.version(), signal);
  const match = /^git version (\d+(?:\.\d+)+)/.exec(result.stdout.toString('latin1'));
  return result.exitCode === 0 ? (match?.[1] ?? null) : null;
}
