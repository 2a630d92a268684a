import { AuthorityError } from '../errors/index.ts';
import type { GitCommand, GitResult, GitRunner } from './run-git.ts';

/**
 * Runs a command of which no other exit status than 0 is an answer, and gives what it printed.
 * @throws `git_failed` (details.reason also `exit-status`, then with details.exitCode) | as `GitRunner.run`
 */
export async function runExpecting(
  git: GitRunner,
  command: GitCommand,
  signal?: AbortSignal,
): Promise<Buffer> {
  return (await runSuccessfully(git, command, signal)).stdout;
}

/** The same for who reads its warnings as well. @throws as `runExpecting` */
export async function runSuccessfully(
  git: GitRunner,
  command: GitCommand,
  signal?: AbortSignal,
): Promise<GitResult> {
  const result = await git.run(command, signal);
  if (result.exitCode !== 0) throw unexpectedStatus(command, result.exitCode, result.stderr);
  return result;
}

/** The same for a command whose status 1 means that there is none: null then. @throws as `runExpecting` */
export async function runExpectingOrNone(
  git: GitRunner,
  command: GitCommand,
  signal?: AbortSignal,
): Promise<Buffer | null> {
  const { exitCode, stdout, stderr } = await git.run(command, signal);
  if (exitCode > 1) throw unexpectedStatus(command, exitCode, stderr);
  return exitCode === 0 ? stdout : null;
}

/** The line that a command prints, without its end; empty when it printed nothing. */
export function lineOf(output: Buffer | null): string {
  return output?.toString('latin1').trimEnd() ?? '';
}

/** Git printed something else than its manual says: never guessed at. */
export function malformedOutput(command: GitCommand): AuthorityError {
  return new AuthorityError('git_failed', {
    details: { command: command.name, reason: 'malformed-output' },
  });
}

/** Git ended with a status that is no answer. */
export function unexpectedStatus(command: GitCommand, exitCode: number, stderr: Buffer): AuthorityError {
  return new AuthorityError('git_failed', {
    details: { command: command.name, reason: 'exit-status', exitCode },
    cause: stderr.toString('utf8'),
  });
}
