import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { assertOwnAdministration } from '../git/own-administration.ts';
import { runWriting } from '../git/run-writing.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { requireRemote } from './require-remote.ts';

/** See `RepositoryActions.fetch`. Outside the gate: it adds objects, and moves refs that no action of ours moves (W46). */
export async function fetch(context: ActionContext, selector: string, signal?: AbortSignal): Promise<void> {
  await using capability = await context.authority.authorizeRepository(selector, signal);
  await fetchForUser(context, capability, signal);
}

/** The same for who holds the capability. @throws as `fetchOrigin` */
export async function fetchForUser(
  context: ActionContext,
  capability: RepositoryCapability,
  signal?: AbortSignal,
): Promise<void> {
  const run = () => fetchOrigin(context, capability, 'fetch', signal);
  await (context.fetches === undefined ? run() : context.fetches.byUser(capability, run, signal));
}

/** @throws `remote_missing` | `untrusted_repository_config` | `git_failed` (details.reason) | as `FileCapability.assertCurrent` */
export async function fetchOrigin(
  { configuration, git, network }: ActionContext,
  capability: RepositoryCapability,
  commandClass: 'fetch' | 'backgroundFetch',
  signal?: AbortSignal,
): Promise<void> {
  const remote = await requireRemote(git, capability, 'actions.pull.noRemote', signal);
  const place = await configuration.clear(capability, 'network', signal);
  await capability.assertCurrent(signal);
  await assertOwnAdministration(capability);
  await runWriting(git, writeCommands.fetch(place, remote, network, commandClass), signal);
}
