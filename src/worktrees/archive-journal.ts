import type { StoredIdentity } from '../capability/identity.ts';
import { RecordReader } from '../capability/record-reader.ts';
import type { ArchiveContext } from './archive-context.ts';
import { isFlag, isId, isText, Records } from './archive-records.ts';

/** What a killed archive or restoration leaves behind, so that whoever comes next knows what was under way. Written before the first change. */
export interface WorktreeJournal {
  readonly id: string;
  readonly act: 'archive' | 'restore';
  readonly mainRoot: string;
  /** Where the worktree stands, or is to stand. */
  readonly path: string;
  /** Of the worktree and its administrative directory; null for one that is still to be made. */
  readonly root: StoredIdentity | null;
  readonly gitDirectory: StoredIdentity | null;
  /** Id of the archive that has everything. */
  readonly archive: string;
  /** Id of its row before anything was changed; null for a worktree that has none, and for a restoration. */
  readonly workspaceId: string | null;
  /** Whether the row of the workspace is left for its client to take away. */
  readonly deferWorkspaceDelete: boolean;
  readonly createdAt: string;
}

const directoryName = 'worktree-journals';

export async function openJournals({
  openState,
}: Pick<ArchiveContext, 'openState'>): Promise<Records<WorktreeJournal>> {
  return new Records(await openState(directoryName), directoryName, parseJournal);
}

function parseJournal(body: Record<string, unknown>): WorktreeJournal {
  const reader = new RecordReader(body, 'journal');
  const journal = {
    id: reader.take('id', 'an id', isId),
    act: reader.take('act', 'archive or restore', isAct),
    mainRoot: reader.path('mainRoot'),
    path: reader.path('path'),
    root: reader.identityOrNull('root'),
    gitDirectory: reader.identityOrNull('gitDirectory'),
    archive: reader.take('archive', 'an id of an archive', isText),
    workspaceId: reader.take('workspaceId', 'an id or null', isTextOrNull),
    deferWorkspaceDelete: reader.take('deferWorkspaceDelete', 'true or false', isFlag),
    createdAt: reader.time('createdAt'),
  };
  reader.end();
  return journal;
}

function isAct(value: unknown): value is WorktreeJournal['act'] {
  return value === 'archive' || value === 'restore';
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}
