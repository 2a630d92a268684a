import { isAuthorityError } from '../errors/index.ts';
import type { ArchiveContext } from './archive-context.ts';
import type { ArchiveOutcome } from './archive-contract.ts';
import type { WorktreeJournal } from './archive-journal.ts';
import { openTombstones } from './tombstones.ts';

type WorkspaceEnd = Omit<ArchiveOutcome, 'path' | 'branch' | 'archive'>;

/** What becomes of the row of a worktree that is gone. Never throws: the worktree is gone, whatever becomes of the row. */
export async function endWorkspace(
  context: Pick<ArchiveContext, 'workspaces' | 'openState'>,
  { id, mainRoot, path, deferWorkspaceDelete, createdAt }: WorktreeJournal,
): Promise<WorkspaceEnd> {
  try {
    const row = await context.workspaces.find(path);
    if (row === null) return {};
    if (deferWorkspaceDelete || context.workspaces.remove === null) {
      using tombstones = await openTombstones(context);
      await tombstones.write({ id, mainRoot, path, workspaceId: row.id, createdAt });
      const deferred = { workspaceDeletionDeferred: true, workspaceDeletionToken: id } as const;
      return { workspaceId: row.id, workspaceSessionIds: [], ...deferred };
    }
    await context.workspaces.remove(path);
    return { workspaceDeleted: row.id };
  } catch (error) {
    const message = isAuthorityError(error) ? error.message : 'internal failure';
    return { warnings: [{ stage: 'workspace-delete', message }] };
  }
}
