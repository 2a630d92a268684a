import { readlink } from 'node:fs/promises';
import type { NativePath } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';

/**
 * The words of a symbolic link beneath a held root; nothing is followed: the directory is opened beneath the root without links, and
 * readlink(2) looks at its entry alone.
 * @throws errno, `ENOENT` when it is gone | `EINVAL` when it is no link any more | `WA_CLOSED_DIRECTORY`
 */
export async function readLink(held: HeldRoot, path: Buffer): Promise<Buffer> {
  const slash = path.lastIndexOf('/');
  const parent: NativePath = slash === -1 ? '.' : path.subarray(0, slash);
  await held.guard.check(path);
  const directory = await held.directory.openDirectory(parent);
  try {
    const prefix = Buffer.from(`${directory.descriptorPath()}/`);
    return await readlink(Buffer.concat([prefix, path.subarray(slash + 1)]), { encoding: 'buffer' });
  } finally {
    directory.close();
  }
}
