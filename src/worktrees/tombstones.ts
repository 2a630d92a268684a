import { RecordReader } from '../capability/record-reader.ts';
import type { ArchiveContext } from './archive-context.ts';
import { isId, isText, Records } from './archive-records.ts';

/**
 * A row of the registry whose worktree is gone, and whose client wanted to end the workspace itself. Written only after the worktree is
 * gone (W9).
 */
export interface Tombstone {
  /** The token that ends it. */
  readonly id: string;
  readonly mainRoot: string;
  readonly path: string;
  readonly workspaceId: string;
  readonly createdAt: string;
}

const directoryName = 'worktree-tombstones';

export async function openTombstones({
  openState,
}: Pick<ArchiveContext, 'openState'>): Promise<Records<Tombstone>> {
  return new Records(await openState(directoryName), directoryName, parseTombstone);
}

function parseTombstone(body: Record<string, unknown>): Tombstone {
  const reader = new RecordReader(body, 'tombstone');
  const tombstone = {
    id: reader.take('id', 'an id', isId),
    mainRoot: reader.path('mainRoot'),
    path: reader.path('path'),
    workspaceId: reader.take('workspaceId', 'an id', isText),
    createdAt: reader.time('createdAt'),
  };
  reader.end();
  return tombstone;
}
