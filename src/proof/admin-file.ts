import { emptyFacts, isRegularMode, modeOf, ownerOf, sizeOf } from '../capability/file-facts.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import { pastMoves } from './past-moves.ts';
import { type Stamp, stampOfFacts } from './stamp.ts';
import { translateStorageFailure } from './storage-failure.ts';
import { unsupported } from './unsupported.ts';

/** One small file of a Git directory as it was read. */
export interface AdminFile {
  readonly bytes: Uint8Array;
  readonly stamp: Stamp;
}

/**
 * Reads a file that Git would read, after it was opened beneath the held directory and found harmless: regular (a FIFO would stop Git
 * for ever), not larger than `limit` bytes (libgit2 reads a `.git` file of 3 GB whole), and owned by `owner`. Null when there is none.
 * @throws `repository_unsupported` | `storage_failed` | `too_many_open_files` | `busy`
 */
export async function readAdminFile(
  directory: DirectoryHandle,
  path: string,
  limit: number,
  owner: number,
): Promise<AdminFile | null> {
  const lookedAtMs = Date.now();
  const known = readKnown(directory, path, limit, owner, lookedAtMs);
  if (known !== undefined) return known;
  const file = await openAdminFile(directory, path);
  if (file === null) return null;
  try {
    if (file.identity().uid !== owner) throw unsupported('foreign-owner', { file: path });
    const stamp = stampOfFacts(file.facts(), lookedAtMs);
    if (stamp.size > BigInt(limit)) throw unsupported('admin-file-too-large', { file: path });
    // One byte more than there should be shows a file that grows while it is read.
    const bytes = await file.readAt(0, Number(stamp.size) + 1);
    if (bytes.length > limit) throw unsupported('admin-file-too-large', { file: path });
    // A copy: the addon's small results share memory, and this one is kept.
    return { bytes: Buffer.from(bytes), stamp };
  } catch (error) {
    throw translateStorageFailure(error);
  } finally {
    file.close();
  }
}

/**
 * The same examination for a file whose content is none of our business.
 * @throws as `readAdminFile`
 */
export async function examineAdminFile(
  directory: DirectoryHandle,
  path: string,
  limit: number,
  owner: number,
): Promise<void> {
  if (isKnownHarmless(directory, path, limit, owner)) return;
  const file = await openAdminFile(directory, path);
  if (file === null) return;
  try {
    if (file.identity().uid !== owner) throw unsupported('foreign-owner', { file: path });
    if (sizeOf(file.facts()) > limit) throw unsupported('admin-file-too-large', { file: path });
  } finally {
    file.close();
  }
}

/** Reused: nothing waits between filling and reading it. */
const scratch = emptyFacts();

/**
 * The answer that can be given without a trip to the thread pool, which is most of what a proof costs; undefined where the kernel would
 * have to wait, and for whatever is wrong with the file: then the way with all the words is taken.
 */
function readKnown(
  directory: DirectoryHandle,
  path: string,
  limit: number,
  owner: number,
  lookedAtMs: number,
): AdminFile | null | undefined {
  try {
    const bytes = directory.readCached(path, limit, scratch, null);
    if (bytes === undefined || ownerOf(scratch) !== owner) return undefined;
    return { bytes: Buffer.from(bytes), stamp: stampOfFacts(scratch, lookedAtMs) };
  } catch (error) {
    return isMissing(error) ? null : undefined;
  }
}

function isKnownHarmless(directory: DirectoryHandle, path: string, limit: number, owner: number): boolean {
  try {
    const found = directory.factsCached(path, scratch, true);
    if (found !== true) return found === null;
    return isRegularMode(modeOf(scratch)) && sizeOf(scratch) <= limit && ownerOf(scratch) === owner;
  } catch {
    return false;
  }
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

type OpenedFile = Awaited<ReturnType<DirectoryHandle['openFile']>>;

/** Symbolic links, mount points, FIFOs, sockets and devices where Git expects a file. */
const irregular = new Set(['ELOOP', 'EXDEV', 'ENXIO', 'EACCES', 'EISDIR', 'WA_NOT_REGULAR']);

async function openAdminFile(directory: DirectoryHandle, path: string): Promise<OpenedFile | null> {
  try {
    return await pastMoves(() => directory.openFile(path, null));
  } catch (error) {
    if (isMissing(error)) return null;
    const code = codeOf(error) ?? '';
    if (irregular.has(code)) throw unsupported('admin-file-irregular', { file: path, seen: code });
    throw translateStorageFailure(error);
  }
}
