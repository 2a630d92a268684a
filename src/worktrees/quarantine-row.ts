import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { lookAt } from './preflight-survey.ts';
import { type Remains, removeContents } from './quarantine-tree.ts';

const rowsAtMost = 100_000;
const lockName = 'locked';

/** Names of the administrative directories of a repository, beneath its common directory. */
export async function rowNames(common: DirectoryHandle): Promise<readonly string[]> {
  try {
    const { names } = await common.list('worktrees', { rootPath: '/', limit: rowsAtMost }, null);
    return Buffer.from(names).toString('latin1').split('\0').slice(0, -1);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw refusalOf(error);
  }
}

/** The name of the administrative directory that is held; null when it has none any more. */
export async function nameOfRow(
  common: DirectoryHandle,
  { inode, device }: { readonly inode: bigint; readonly device: bigint },
): Promise<string | null> {
  for (const name of await rowNames(common)) {
    const entry = await lookAt(common, `worktrees/${name}`);
    if (entry?.inode === inode && entry.device === device) return name;
  }
  return null;
}

/** Who may not take a row away while a worktree stands aside: `git worktree prune` and `remove` pass over a locked one. */
export interface RowLock {
  /** False: somebody else has it locked. */
  take(): Promise<boolean>;
  /** Takes away our lock, and no other one. */
  release(): Promise<void>;
}

export function rowLock(gitDirectory: DirectoryHandle, transaction: string): RowLock {
  const text = Buffer.from(`workspace-authority ${transaction}\n`);
  return {
    async take() {
      const temporaryName = `.wa-${transaction}.tmp`;
      const { outcome } = await gitDirectory
        .create(lockName, { bytes: text, mode: 0o600, temporaryName }, null)
        .catch(refuse);
      return outcome === 'created';
    },
    async release() {
      const entry = await lookAt(gitDirectory, lockName);
      if (entry === null || entry.size !== text.length) return;
      try {
        const file = await gitDirectory.openFile(lockName, null);
        try {
          if (!text.equals(await file.readAt(0, text.length))) return;
        } finally {
          file.close();
        }
        await gitDirectory.unlinkIfSame(lockName, entry.inode, entry.device);
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw refusalOf(error);
      }
    },
  };
}

/**
 * Removes the administrative directory that is held, and that alone; Git does not see it from the first step on. Its branch stays.
 * @throws `storage_failed` | ...
 */
export async function removeRow(
  common: DirectoryHandle,
  name: string,
  gitDirectory: DirectoryHandle,
): Promise<Remains> {
  const { inode, device } = gitDirectory.place();
  const path = `worktrees/${name}`;
  const entry = await lookAt(common, path);
  if (entry === null) return { count: 0, paths: [] };
  if (entry.inode !== inode || entry.device !== device)
    return { count: 1, paths: ['the row of the worktree'] };
  try {
    const pointer = await lookAt(gitDirectory, 'gitdir');
    if (pointer !== null) await gitDirectory.unlinkIfSame('gitdir', pointer.inode, pointer.device);
    const remains = await removeContents(gitDirectory);
    if (remains.count === 0) await common.removeDirectory(path, null);
    return remains;
  } catch (error) {
    throw refusalOf(error);
  }
}

function refuse(error: unknown): never {
  throw refusalOf(error);
}
