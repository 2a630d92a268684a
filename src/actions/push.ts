import { managedFactsOf } from '../authority/managed-facts.ts';
import { AuthorityError } from '../errors/index.ts';
import { captureHead } from '../git/captured-head.ts';
import { malformedOutput } from '../git/expect-success.ts';
import { assertOwnAdministration } from '../git/own-administration.ts';
import { parsePushLines } from '../git/push-lines.ts';
import { writingFailure } from '../git/run-writing.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused } from './action-refusal.ts';
import { requireRemote } from './require-remote.ts';

/** See `RepositoryActions.push`. Outside the gate: it changes nothing here but the ref that remembers the remote's branch. */
export async function push(context: ActionContext, selector: string, signal?: AbortSignal): Promise<void> {
  const { authority, configuration, git, network } = context;
  await using capability = await authority.authorizeRepository(selector, signal);
  if (managedFactsOf(capability)?.intent === 'pr-checkout') throw actionRefused('actions.push.prCheckout');
  const { branch, commit } = await captureHead(capability, git, signal);
  if (branch === null || commit === null) throw actionRefused('actions.push.noBranch');
  const remote = await requireRemote(git, capability, 'actions.push.noRemote', signal);
  const place = await configuration.clear(capability, 'network', signal);
  await capability.assertCurrent(signal);
  await assertOwnAdministration(capability);
  using hooks = await context.hooks(capability);
  const command = writeCommands.push(place, remote, branch, network, hooks.directory);
  const result = await git.run(command, signal);
  const answer = parsePushLines(result.stdout).find(({ to }) => to === branch);
  if (answer?.rejection != null) {
    const details = { command: command.name, reason: 'rejected', rejection: answer.rejection };
    throw new AuthorityError('git_failed', { details, cause: result.stderr.toString('utf8') });
  }
  if (result.exitCode !== 0) {
    const failure = writingFailure(command, result);
    // Git has asked the remote before it asks the hook, and prints nothing when the hook refuses.
    const isHook =
      hooks.directory !== null && answer === undefined && failure.details['reason'] === 'exit-status';
    throw isHook ? prePushRefused(failure) : failure;
  }
  if (answer === undefined) throw malformedOutput(command);
}

function prePushRefused(cause: AuthorityError): AuthorityError {
  const { exitCode } = cause.details;
  return new AuthorityError('hook_refused', { details: { hook: 'pre-push', exitCode }, cause });
}
