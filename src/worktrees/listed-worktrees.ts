import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { malformedOutput, runExpecting } from '../git/expect-success.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { proofCommands } from '../git/proof-commands.ts';
import type { GitRunner } from '../git/run-git.ts';
import { parseWorktreeRows, type WorktreeRow } from '../git/worktree-table.ts';

/** All rows of Git's worktree list, prunable ones as well; the first is the main checkout. */
export async function readListed(
  capability: RepositoryCapability,
  git: GitRunner,
): Promise<readonly WorktreeRow[]> {
  const command = proofCommands.worktreeList(pinnedPlace(capability));
  const rows = parseWorktreeRows(await runExpecting(git, command));
  if (rows === null) throw malformedOutput(command);
  return rows;
}
