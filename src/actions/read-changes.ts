import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { malformedOutput, runExpecting } from '../git/expect-success.ts';
import { readCommands } from '../git/read-commands.ts';
import { parseStatusRecords, type StatusRecord } from '../git/status-records.ts';
import type { UserConfiguration } from '../git/user-configuration.ts';
import type { ActionContext } from './action-context.ts';

/** Paths that a refusal names at most. */
const namedPaths = 20;

/** What differs from HEAD in index and work tree; what is ignored, also by the user's own file, is left out. */
export async function readChanges(
  { git, configuration }: ActionContext,
  capability: RepositoryCapability,
  { excludesFile }: UserConfiguration,
  signal?: AbortSignal,
): Promise<readonly StatusRecord[]> {
  const place = await configuration.clear(capability, 'work-tree', signal);
  const command = readCommands.status(place, { ignored: false, excludesFile });
  const records = parseStatusRecords(await runExpecting(git, command, signal));
  if (records === null) throw malformedOutput(command);
  return records;
}

export function unmergedIndex(records: readonly StatusRecord[]): AuthorityError {
  const paths = namesOf(records.map(({ path }) => path));
  return new AuthorityError('unmerged_index', { details: { reasonKey: 'actions.merge.conflict', paths } });
}

/** Some paths, as a refusal names them. */
export function namesOf(latin1Paths: readonly string[]): readonly string[] {
  return latin1Paths.slice(0, namedPaths).map((path) => Buffer.from(path, 'latin1').toString('utf8'));
}
