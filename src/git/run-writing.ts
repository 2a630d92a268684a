import { AuthorityError, type ErrorCode } from '../errors/index.ts';
import { findStandingLock } from './lock-file.ts';
import type { GitProgress } from './progress-lines.ts';
import type { GitCommand, GitResult, GitRunner } from './run-git.ts';

interface KnownFailure {
  readonly said: RegExp;
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
}

/** What Git says on standard error, in the C locale, when a change fails for a reason that the caller can act on. The first row decides. */
const knownFailures: readonly KnownFailure[] = [
  { said: /No space left on device|Disk quota exceeded/, code: 'no_space', details: {} },
  { said: /index\.lock': File exists/, code: 'repository_locked', details: { what: 'index' } },
  {
    said: /cannot lock ref '[^']*': (?:is at|reference already exists|unable to resolve|reference is missing)/,
    code: 'ref_moved',
    details: { reason: 'stale-target' },
  },
  { said: /\.lock': File exists/, code: 'repository_locked', details: { what: 'ref' } },
  {
    // What unpack-trees.c says before it changes anything.
    said: /would be overwritten by merge|would lose untracked files in|not uptodate\. Cannot merge/,
    code: 'action_refused',
    details: { reason: 'files-in-the-way' },
  },
  // For which reason, refs/files-backend.c never says, and entry.c not always; a full disk is the usual one.
  { said: /couldn't write '[^']*\.lock'/, code: 'git_failed', details: { reason: 'ref-not-written' } },
  { said: /unable to (?:write|create) file/, code: 'git_failed', details: { reason: 'files-not-written' } },
  { said: /transport '[^']*' not allowed/, code: 'git_failed', details: { reason: 'protocol-not-allowed' } },
  {
    said: /Authentication failed|could not read (?:Username|Password)|Permission denied \(|Host key verification failed/,
    code: 'git_failed',
    details: { reason: 'authentication' },
  },
  {
    said: /Could not resolve host|Could not resolve hostname|Connection (?:refused|timed out|reset)|Failed to connect/,
    code: 'git_failed',
    details: { reason: 'unreachable' },
  },
  {
    said: /does not appear to be a git repository|[Rr]epository .*not found|Could not read from remote/,
    code: 'git_failed',
    details: { reason: 'no-remote-repository' },
  },
];

/**
 * Runs a command that changes something and gives what it printed.
 * @throws `git_failed` (details.reason) | `no_space` | `action_refused` (details.reason `files-in-the-way`) | `repository_locked` (details.what, details.recovery) |
 *   `ref_moved` | as `GitRunner.run`
 */
export async function runWriting(git: GitRunner, command: GitCommand, signal?: AbortSignal): Promise<Buffer> {
  const result = await git.run(command, signal);
  if (result.exitCode !== 0) throw writingFailure(command, result);
  return result.stdout;
}

/** The same for a command that says how far it has come. @throws as `runWriting` */
export async function runWritingTelling(
  git: GitRunner,
  command: GitCommand,
  onProgress: (progress: GitProgress) => void,
  signal?: AbortSignal,
): Promise<void> {
  const result = await git.runTelling(command, onProgress, signal);
  if (result.exitCode !== 0) throw writingFailure(command, result);
}

/** The same for a command whose status 1 is an answer as well: whether the status was 0. @throws as `runWriting` */
export async function runWritingOrNot(
  git: GitRunner,
  command: GitCommand,
  signal?: AbortSignal,
): Promise<boolean> {
  const result = await git.run(command, signal);
  if (result.exitCode > 1) throw writingFailure(command, result);
  return result.exitCode === 0;
}

/** The failure that a result of another exit status than 0 stands for. */
export function writingFailure(command: GitCommand, { exitCode, stderr }: GitResult): AuthorityError {
  const text = stderr.toString('utf8');
  const known = knownFailures.find(({ said }) => said.test(text));
  const recovery = known?.code === 'repository_locked' ? findStandingLock(command, text) : null;
  const details = {
    command: command.name,
    reason: 'exit-status',
    exitCode,
    ...known?.details,
    ...(recovery === null ? {} : { recovery }),
  };
  return new AuthorityError(known?.code ?? 'git_failed', { details, cause: text });
}
