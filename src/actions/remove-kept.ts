import { createHash } from 'node:crypto';
import type { KeptEntry } from '../archive/archives.ts';
import { sameContent } from '../archive/same-content.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { keptName, Transactions } from '../capability/transaction-name.ts';

/** Compared whole, in memory and by the addon, which also refuses what another program has open for writing. */
const comparedBytes = 8 * 1024 * 1024;
const keptNames = 64;
const transactions = new Transactions();

/** `changed`: it is not what was kept, so it stays. `gone`: nothing stands there any more. */
export type Removal = 'removed' | 'changed' | 'gone';

/**
 * Removes a file or link that is exactly what an archive has. A file is moved aside before it is compared, so that who writes it by its name
 * meanwhile writes another one.
 * @throws `permission_denied` | `file_busy` | `storage_failed` | ...
 */
export async function removeKept(held: HeldRoot, entry: KeptEntry): Promise<Removal> {
  const slash = entry.path.lastIndexOf('/');
  const parent = slash === -1 ? '.' : entry.path.slice(0, slash);
  const name = entry.path.slice(slash + 1);
  try {
    await held.guard.check(bytesOf(entry.path));
    const directory = await held.directory.openDirectory(bytesOf(parent));
    try {
      if (entry.type === 'symlink') return await removeLink(directory, name, entry);
      const content = { base: entry.sha256.slice(0, 16), next: null };
      return await transactions.run(bytesOf(name).toString('utf8'), content, (temporary) =>
        entry.size <= comparedBytes
          ? removeCompared(directory, name, entry, temporary)
          : removeAside(directory, name, entry, temporary),
      );
    } finally {
      directory.close();
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return 'gone';
    throw refusalOf(error);
  }
}

async function removeCompared(
  directory: DirectoryHandle,
  name: string,
  { sha256, size, version }: KeptEntry,
  temporaryName: string,
): Promise<Removal> {
  const file = await directory.openFile(bytesOf(name), null);
  let bytes: Uint8Array;
  try {
    bytes = await file.readAt(0, size + 1);
  } finally {
    file.close();
  }
  if (createHash('sha256').update(bytes).digest('hex') !== sha256 || version === null) return 'changed';
  const base = { baseBytes: bytes, baseInode: version.inode, baseDevice: version.device, temporaryName };
  const { outcome } = await directory.remove(bytesOf(name), base, null);
  return outcome === 'removed' ? 'removed' : 'changed';
}

/** The words of a link never change: another link is another inode. */
async function removeLink(
  directory: DirectoryHandle,
  name: string,
  { version }: KeptEntry,
): Promise<Removal> {
  const { inode, device, changedNs } = await directory.stat(bytesOf(name), null);
  if (inode !== version?.inode || device !== version.device || changedNs !== version.changedNs)
    return 'changed';
  return (await directory.unlinkIfSame(bytesOf(name), inode, device)) ? 'removed' : 'changed';
}

async function removeAside(
  directory: DirectoryHandle,
  name: string,
  entry: KeptEntry,
  temporary: string,
): Promise<Removal> {
  await directory.renameNoReplace(bytesOf(name), temporary, null);
  const moved = await directory.stat(temporary, null);
  const { version } = entry;
  const isThatOne =
    version !== null &&
    moved.inode === version.inode &&
    moved.device === version.device &&
    moved.modifiedNs === version.modifiedNs &&
    (await sameContent(directory, { ...entry, path: temporary }, moved));
  if (isThatOne && (await directory.unlinkIfSame(temporary, moved.inode, moved.device))) return 'removed';
  await putBack(directory, temporary, name);
  return 'changed';
}

/** Under its own name, or, when that was taken meanwhile, under one that people find. */
async function putBack(directory: DirectoryHandle, temporary: string, name: string): Promise<void> {
  for (let attempt = -1; attempt < keptNames; attempt += 1) {
    const to = attempt === -1 ? bytesOf(name) : keptName(temporary, attempt);
    try {
      return await directory.renameNoReplace(temporary, to, null);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** Removes the directories that are empty now, from the given ones upwards; the root stays. */
export async function removeEmptied(held: HeldRoot, paths: readonly string[]): Promise<void> {
  const directories = new Set<string>();
  for (const path of paths) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      directories.add(path.slice(0, slash));
    }
  }
  // What lies deeper has the longer path.
  const deepestFirst = [...directories].sort((left, right) => right.length - left.length);
  for (const path of deepestFirst) {
    try {
      await held.directory.removeDirectory(bytesOf(path), held.guard);
    } catch (error) {
      if (!['ENOTEMPTY', 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EBUSY'].includes(codeOf(error) ?? ''))
        throw refusalOf(error);
    }
  }
}

function bytesOf(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}
