import { runWriting } from '../git/run-writing.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { requireRemote } from './require-remote.ts';

/** See `RepositoryActions.fetch`. Outside the gate: it adds objects, and moves refs that no action of ours moves (W46). */
export async function fetch(context: ActionContext, selector: string, signal?: AbortSignal): Promise<void> {
  const { authority, configuration, git, network } = context;
  await using capability = await authority.authorizeRepository(selector, signal);
  const remote = await requireRemote(git, capability, 'actions.pull.noRemote', signal);
  const place = await configuration.clear(capability, 'network', signal);
  await capability.assertCurrent(signal);
  await runWriting(git, writeCommands.fetch(place, remote, network), signal);
}
