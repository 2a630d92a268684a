import { randomBytes } from 'node:crypto';
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The least a durable replacement needs by hand: temporary file, fsync, rename over the target, fsync of the directory. */
export async function replaceByHand(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(16).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', 0o644);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

/** A name is durable only when its directory is (fsync(2)). */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
