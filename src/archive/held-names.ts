import { constants } from 'node:fs';
import { type FileHandle, open, readlink, symlink } from 'node:fs/promises';
import type { DirectoryHandle } from '../capability/handles.ts';

/**
 * What the addon does not do, on single names in held directories: links, and files that are written bit by bit. The descriptor path leads
 * to the held directory whatever became of its name, and none of these calls follows a link that is the name itself.
 */

/** A new file for writing, mode 0600. @throws errno, `EEXIST` when the name is taken */
export function createHeldFile(directory: DirectoryHandle, name: Uint8Array): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return open(held(directory, name), flags, 0o600);
}

/** @throws errno, `EEXIST` when the name is taken */
export async function createHeldLink(
  directory: DirectoryHandle,
  name: Uint8Array,
  words: Uint8Array,
): Promise<void> {
  await symlink(Buffer.from(words), held(directory, name));
}

/** The words of a link. @throws errno, `EINVAL` when it is none */
export function readHeldLink(directory: DirectoryHandle, name: Uint8Array): Promise<Buffer> {
  return readlink(held(directory, name), { encoding: 'buffer' });
}

/** Makes names in the directory outlast the machine. */
export async function syncHeldDirectory(directory: DirectoryHandle): Promise<void> {
  const file = await open(directory.descriptorPath(), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function held(directory: DirectoryHandle, name: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${directory.descriptorPath()}/`), name]);
}
