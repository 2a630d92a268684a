import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { lineOf, malformedOutput, runExpectingOrNone } from './expect-success.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import { type CommitOid, parseCommitOid } from './values.ts';

/**
 * The best common ancestor; null when there is none, as may be in a shallow clone. Of several best ones Git names one, which may be another
 * one when the two are swapped: callers give the base first.
 * @throws `git_failed` | `aborted` | `shutting_down`
 */
export async function findMergeBase(
  capability: RepositoryCapability,
  git: GitRunner,
  base: CommitOid,
  head: CommitOid,
  signal?: AbortSignal,
): Promise<CommitOid | null> {
  if (base === head) return head;
  const command = readCommands.mergeBase(pinnedPlace(capability), base, head);
  const printed = await runExpectingOrNone(git, command, signal);
  if (printed === null) return null;
  const oid = parseCommitOid(lineOf(printed));
  if (oid === null) throw malformedOutput(command);
  return oid;
}
