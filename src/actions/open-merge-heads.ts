import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { readMergeHeads } from '../git/operation-state.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import { runWriting } from '../git/run-writing.ts';
import type { CommitOid } from '../git/values.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import type { FamilyTurn } from './in-family.ts';

/** What MERGE_HEAD says. */
export interface OpenMerge {
  /** The commits of a merge that is still to be concluded. */
  readonly heads: readonly CommitOid[];
  /** Whether it speaks of a merge whose commit stands already, as a killed server leaves it. */
  readonly isConcluded: boolean;
}

/** Looks at the merge that stands in a checkout whose HEAD is at that commit. Changes nothing. */
export async function findOpenMerge(
  { git }: ActionContext,
  capability: RepositoryCapability,
  head: CommitOid | null,
  signal?: AbortSignal,
): Promise<OpenMerge> {
  const heads = await readMergeHeads(capability);
  for (const oid of heads) {
    if (head === null) return { heads, isConcluded: false };
    const command = readCommands.isAncestor(pinnedPlace(capability), oid, head);
    if ((await git.run(command, signal)).exitCode !== 0) return { heads, isConcluded: false };
  }
  return { heads: [], isConcluded: heads.length > 0 };
}

/** The commits of a merge that is still to be concluded. A merge that is concluded is forgotten. */
export async function openMergeHeads(
  context: ActionContext,
  turn: FamilyTurn,
  head: CommitOid | null,
  signal?: AbortSignal,
): Promise<readonly CommitOid[]> {
  const { heads, isConcluded } = await findOpenMerge(context, turn.capability, head, signal);
  if (isConcluded) {
    await turn.assertCurrent();
    await runWriting(context.git, writeCommands.endMerge(pinnedPlace(turn.capability)));
  }
  return heads;
}
