import { createHash } from 'node:crypto';
import type { DirectoryHandle, NativeEntry } from '../capability/handles.ts';
import type { ArchiveEntry } from './archives.ts';
import { readLinkAt } from './keep-member.ts';
import { bytesOf } from './latin-path.ts';

const chunkBytes = 1024 * 1024;
const executableBits = 0o111;

/** Whether what stands there is what the entry would put there: kind, content, and whether it can be run. */
export async function sameContent(
  directory: DirectoryHandle,
  { path, type, size, sha256, mode }: ArchiveEntry,
  standing: NativeEntry,
): Promise<boolean> {
  if (standing.type !== type || standing.size !== size) return false;
  if (type === 'symlink') return hashOf([await readLinkAt(directory, path)]) === sha256;
  if ((standing.mode & executableBits) !== (mode & executableBits)) return false;
  return (await hashOfFile(directory, path)) === sha256;
}

/** SHA-256 in hex of a regular file beneath a directory, read a mebibyte at a time. @throws errno */
async function hashOfFile(directory: DirectoryHandle, path: string): Promise<string> {
  const file = await directory.openFile(bytesOf(path), null);
  const hash = createHash('sha256');
  try {
    for (let position = 0; ; ) {
      const chunk = await file.readAt(position, chunkBytes);
      if (chunk.length === 0) return hash.digest('hex');
      position += chunk.length;
      hash.update(chunk);
    }
  } finally {
    file.close();
  }
}

function hashOf(parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
