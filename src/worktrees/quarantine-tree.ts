import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';

const listedAtOnce = 10_000;
const directoryType = 1;
const namedAtMost = 20;

/** How an entry looks that this process may not remove, or that another one made meanwhile. */
const staying = new Set(['EACCES', 'EPERM', 'EROFS', 'EXDEV', 'EBUSY', 'ENOTEMPTY', 'ELOOP', 'ENOTDIR']);

/** What could not be removed. */
export interface Remains {
  readonly count: number;
  /** Relative, the first of them, for people. */
  readonly paths: readonly string[];
}

/**
 * Removes all that is in a held directory, by names beneath it: links are removed and never followed, mounts are never entered. Goes on past
 * what cannot be removed.
 * @throws `storage_failed` | `too_many_open_files` | ...
 */
export async function removeContents(directory: DirectoryHandle): Promise<Remains> {
  const paths: string[] = [];
  let count = 0;
  const stays = (path: string): void => {
    count += 1;
    if (paths.length < namedAtMost) paths.push(path);
  };
  await removeBelow(directory, '', stays);
  return { count, paths };
}

async function removeBelow(
  directory: DirectoryHandle,
  prefix: string,
  stays: (path: string) => void,
): Promise<void> {
  for (let after: Uint8Array | null = null; ; ) {
    const listing = await directory
      .list('.', { rootPath: '/', limit: listedAtOnce, ...(after === null ? {} : { after }) }, null)
      .catch((error: unknown) => {
        throw refusalOf(error);
      });
    const names = namesOf(listing.names);
    for (const [at, name] of names.entries()) {
      const path = prefix + name.toString('utf8');
      try {
        if (listing.types[at] === directoryType) await removeDirectory(directory, name, path, stays);
        else await removeEntry(directory, name);
      } catch (error) {
        const code = codeOf(error) ?? '';
        if (code === 'ENOENT') continue;
        if (!staying.has(code)) throw refusalOf(error);
        stays(path);
      }
    }
    if (!listing.more) return;
    after = names.at(-1) ?? null;
  }
}

async function removeDirectory(
  parent: DirectoryHandle,
  name: Buffer,
  path: string,
  stays: (path: string) => void,
): Promise<void> {
  const directory = await parent.openDirectory(name);
  let kept = 0;
  try {
    await removeBelow(directory, `${path}/`, (below) => {
      kept += 1;
      stays(below);
    });
  } finally {
    directory.close();
  }
  if (kept === 0) await parent.removeDirectory(name, null);
}

async function removeEntry(directory: DirectoryHandle, name: Buffer): Promise<void> {
  const { inode, device } = await directory.stat(name, null);
  // Another one came under the name: it is met again, or it stays and is told.
  if (!(await directory.unlinkIfSame(name, inode, device)))
    throw Object.assign(new Error('EBUSY'), { code: 'EBUSY' });
}

function namesOf(names: Uint8Array): readonly Buffer[] {
  const found: Buffer[] = [];
  let start = 0;
  for (let end = names.indexOf(0, start); end !== -1; end = names.indexOf(0, start)) {
    found.push(Buffer.from(names.subarray(start, end)));
    start = end + 1;
  }
  return found;
}
