import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { lineOf, runExpectingOrNone } from './expect-success.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import { type CommitOid, parseCommitOid } from './values.ts';

/**
 * The commit of that name, or the one that the tag of that name leads to; null when the repository has neither.
 * @throws `git_failed` | `aborted` | `shutting_down`
 */
export async function findCommit(
  capability: RepositoryCapability,
  git: GitRunner,
  oid: CommitOid,
  signal?: AbortSignal,
): Promise<CommitOid | null> {
  const command = readCommands.resolveCommit(pinnedPlace(capability), oid);
  const found = parseCommitOid(lineOf(await runExpectingOrNone(git, command, signal)));
  // Digits of the other object format can only be the name of a ref.
  return found?.length === oid.length ? found : null;
}
