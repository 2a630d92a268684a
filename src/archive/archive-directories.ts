import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import { bytesOf } from './latin-path.ts';

/** Far more than a quota holds. */
const listingLimit = 100_000;

/** Sorts by time. */
export const idShape: RegExp = /^\d{17}-[0-9a-f]{16}$/;
/** Being written, or being removed. Only who has the turn makes such names, so that whoever has it next finds leftovers only. */
const unfinishedShape = /^\.(?:writing|dropping)-/;

export async function namesIn(directory: DirectoryHandle): Promise<readonly string[]> {
  const { names } = await directory.list('.', { rootPath: '/', limit: listingLimit }, null);
  return Buffer.from(names).toString('latin1').split('\0').slice(0, -1);
}

export async function bytesIn(directory: DirectoryHandle, names: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const name of names) bytes += (await directory.stat(name, null)).size;
  return bytes;
}

/** What the archives take, whether or not they can be read. */
export async function usageOf(root: DirectoryHandle): Promise<{ used: number; oldest: string | null }> {
  const ids = (await namesIn(root)).filter((name) => idShape.test(name));
  let used = 0;
  for (const id of ids) {
    const directory = await root.openDirectory(id);
    try {
      used += await bytesIn(directory, await namesIn(directory));
    } finally {
      directory.close();
    }
  }
  return { used, oldest: ids[0] ?? null };
}

/** Milliseconds since 1970. */
export function timeOf(id: string): number {
  const [, date, hours, minutes, seconds, fraction] = /^(\d{8})(\d\d)(\d\d)(\d\d)(\d{3})/.exec(id) ?? [];
  const day = `${date?.slice(0, 4)}-${date?.slice(4, 6)}-${date?.slice(6)}`;
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}.${fraction}Z`);
}

/** False when there is none. From the first step on it is listed no more. */
export async function removeArchive(root: DirectoryHandle, id: string): Promise<boolean> {
  const name = `.dropping-${id}`;
  try {
    await root.renameNoReplace(id, name, null);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  await removeDirectory(root, name);
  return true;
}

export async function removeUnfinished(root: DirectoryHandle): Promise<number> {
  const leftovers = (await namesIn(root)).filter((name) => unfinishedShape.test(name));
  for (const name of leftovers) await removeDirectory(root, name);
  return leftovers.length;
}

export async function removeDirectory(root: DirectoryHandle, name: string): Promise<void> {
  const directory = await root.openDirectory(bytesOf(name));
  try {
    for (const file of await namesIn(directory)) {
      const { inode, device } = await directory.stat(bytesOf(file), null);
      await directory.unlinkIfSame(bytesOf(file), inode, device);
    }
  } finally {
    directory.close();
  }
  await root.removeDirectory(bytesOf(name), null);
}
