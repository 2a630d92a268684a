import { isAuthorityError } from '../errors/index.ts';
import type { ArchiveContext } from './archive-context.ts';
import type { ArchiveOutcome } from './archive-contract.ts';
import type { WorktreeJournal } from './archive-journal.ts';
import { openTombstones } from './tombstones.ts';

type WorkspaceEnd = Omit<ArchiveOutcome, 'path' | 'branch' | 'archive'>;

/** What becomes of the row of a worktree that is gone. Never throws: the worktree is gone, whatever becomes of the row. */
export async function endWorkspace(
  context: Pick<ArchiveContext, 'workspaces' | 'openState'>,
  { id, mainRoot, path, workspaceId, deferWorkspaceDelete, createdAt }: WorktreeJournal,
): Promise<WorkspaceEnd> {
  try {
    if (workspaceId === null) return {};
    const { remove } = context.workspaces;
    if (deferWorkspaceDelete || remove === null) {
      using tombstones = await openTombstones(context);
      await tombstones.write({ id, mainRoot, path, workspaceId, createdAt });
      const deferred = { workspaceDeletionDeferred: true, workspaceDeletionToken: id } as const;
      return { workspaceId, workspaceSessionIds: [], ...deferred };
    }
    const removed = await remove({ id: workspaceId, path });
    return removed ? { workspaceDeleted: workspaceId } : { workspaceAlreadyAbsent: workspaceId };
  } catch (error) {
    const message = isAuthorityError(error) ? error.message : 'internal failure';
    return { warnings: [{ stage: 'workspace-delete', message }] };
  }
}
