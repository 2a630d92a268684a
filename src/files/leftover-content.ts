import { createHash } from 'node:crypto';
import { deviceOf, inodeOf, sizeOf, stateKeyOf } from '../capability/file-facts.ts';
import type { NativePath } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { codeOf } from '../capability/refusal.ts';
import { digestDigits } from '../capability/transaction-name.ts';
import type { Standing } from './leftover-decision.ts';

const chunkBytes = 1024 * 1024;
const permissionBits = 0o7777;

/** What stands under a name, and which inode in which state it was. */
export interface ExaminedFile extends Standing {
  readonly inode: bigint;
  readonly device: bigint;
  /** Changes with every later change of a regular file; empty for anything else. */
  readonly state: string;
}

export const nothingThere: ExaminedFile = {
  type: 'missing',
  digest: null,
  size: 0,
  mode: 0,
  inode: 0n,
  device: 0n,
  state: '',
};

/** An unreadable or changing file is a file without a digest. @throws errno when not even the name can be looked at */
export async function examine(held: HeldRoot, path: NativePath): Promise<ExaminedFile> {
  const entry = await statOrNull(held, path);
  if (entry === null) return nothingThere;
  const { inode, device, size } = entry;
  const found = { inode, device, size, mode: entry.mode & permissionBits, digest: null, state: '' };
  if (entry.type !== 'file') return { ...found, type: 'other' };
  try {
    return { ...found, type: 'file', ...(await digestOf(held, path, found)) };
  } catch {
    return { ...found, type: 'file' };
  }
}

/** Whether the name still leads to the inode, unchanged since it was examined. */
export async function isUnchanged(
  held: HeldRoot,
  path: NativePath,
  examined: ExaminedFile,
): Promise<boolean> {
  const now = await statOrNull(held, path);
  if (now === null) return examined.type === 'missing';
  if (now.inode !== examined.inode || now.device !== examined.device) return false;
  return examined.state === '' || stateOfEntry(now) === examined.state;
}

async function digestOf(
  held: HeldRoot,
  path: NativePath,
  expected: Pick<ExaminedFile, 'inode' | 'device'>,
): Promise<Pick<ExaminedFile, 'digest' | 'state' | 'size'>> {
  const file = await held.directory.openFile(path, held.guard);
  try {
    const before = file.facts();
    if (inodeOf(before) !== expected.inode || deviceOf(before) !== expected.device)
      throw new Error('swapped');
    const hash = createHash('sha256');
    for (let position = 0; ; ) {
      const bytes = await file.readAt(position, chunkBytes);
      if (bytes.length === 0) break;
      hash.update(bytes);
      position += bytes.length;
    }
    const state = stateKeyOf(before);
    if (stateKeyOf(file.facts()) !== state) throw new Error('changing');
    return { digest: hash.digest('hex').slice(0, digestDigits), state, size: sizeOf(before) };
  } finally {
    file.close();
  }
}

async function statOrNull(held: HeldRoot, path: NativePath) {
  try {
    return await held.directory.stat(path, held.guard);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function stateOfEntry(entry: {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: number;
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
}): string {
  return `${entry.device}:${entry.inode}:${entry.size}:${entry.modifiedNs}:${entry.changedNs}`;
}
