import { type DirectoryHandle, fileFacts } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { lookAt } from './preflight-survey.ts';
import { stageName, type WorktreeParent } from './quarantine.ts';
import { removeRow, rowNames } from './quarantine-row.ts';
import { removeContents } from './quarantine-tree.ts';

const pointerLimitBytes = 4200;

/**
 * The administrative directory of a worktree that is being restored: Git names it after the directory, which has the random name of the
 * transaction.
 */
async function arrivingRow(common: DirectoryHandle, transaction: string): Promise<string | null> {
  const names = await rowNames(common);
  return names.find((name) => name.includes(`wa-arriving-${transaction}`)) ?? null;
}

/** Whether a restoration came to its last change of names: the worktree stands, and Git looks for it there. */
export async function hasArrived(
  common: DirectoryHandle,
  parent: WorktreeParent,
  transaction: string,
): Promise<boolean> {
  const arriving = stageName('arriving', transaction);
  if (!(await parent.isFree(arriving))) return false;
  const row = await arrivingRow(common, transaction);
  if (row === null) return false;
  try {
    const facts = new BigInt64Array(fileFacts.count);
    const bytes = await common.read(
      Buffer.from(`worktrees/${row}/gitdir`, 'latin1'),
      pointerLimitBytes,
      facts,
      null,
    );
    return !Buffer.from(bytes).toString('utf8').includes(`/${arriving}/`);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw refusalOf(error);
  }
}

/** Removes what nobody was ever told of; all of it is in the archive. Answers with how much could not be removed. */
export async function discardArrival(
  common: DirectoryHandle,
  parent: WorktreeParent,
  transaction: string,
): Promise<number> {
  const arriving = stageName('arriving', transaction);
  try {
    if ((await lookAt(parent.directory, arriving)) !== null) {
      const directory = await parent.directory.openDirectory(arriving);
      try {
        const { count } = await removeContents(directory);
        if (count > 0) return count;
      } finally {
        directory.close();
      }
      await parent.directory.removeDirectory(arriving, null);
    }
    const row = await arrivingRow(common, transaction);
    if (row === null) return 0;
    const directory = await common.openDirectory(Buffer.from(`worktrees/${row}`, 'latin1'));
    try {
      return (await removeRow(common, row, directory)).count;
    } finally {
      directory.close();
    }
  } catch (error) {
    throw refusalOf(error);
  }
}
