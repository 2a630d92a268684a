import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';

/**
 * The careful way without an addon: canonical path, containment, open without following a final link, regular file, size limit,
 * bytes. It is not safe against a process that swaps a directory between the calls; it is what programs do today.
 */
export async function readBehindJavascriptGuard(root: string, path: string, limit: number): Promise<Buffer> {
  const canonical = await realpath(join(root, path));
  const fromRoot = relative(root, canonical);
  if (fromRoot === '..' || fromRoot.startsWith('../') || isAbsolute(fromRoot)) throw new Error('outside');
  const file = await open(canonical, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const facts = await file.stat();
    if (!facts.isFile() || facts.size > limit) throw new Error('not a file to serve');
    return await readWhole(file, facts.size);
  } finally {
    await file.close();
  }
}

async function readWhole(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
