import { emptyFacts, isDirectoryMode, isRegularMode, modeOf, sizeOf } from '../capability/file-facts.ts';
import type { DirectoryHandle, NativeEntry } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { type AdminFile, readAdminFile } from './admin-file.ts';
import { establish, type FactLog } from './facts.ts';
import { type GitPointer, parseGitPointer } from './git-pointer.ts';
import { pastMoves } from './past-moves.ts';
import { changeOrFailure, translateStorageFailure } from './storage-failure.ts';
import { unsupported } from './unsupported.ts';

/** What stands under the name `.git` of a directory. The caller closes `directory`. */
export type GitEntry =
  | { readonly kind: 'none' }
  | { readonly kind: 'directory'; readonly directory: DirectoryHandle }
  | { readonly kind: 'file'; readonly file: AdminFile; readonly pointer: GitPointer };

/** A path of full length and the words before it. */
export const gitFileLimitBytes = 4200;

/**
 * Looks at `.git` beneath the held root `path`.
 * @throws `repository_unsupported` when `.git` is neither a directory nor a well-formed file | `storage_failed` | ...
 */
export async function readGitEntry(
  root: DirectoryHandle,
  path: string,
  owner: number,
  log: FactLog,
): Promise<GitEntry> {
  const fact = { fact: 'git entry', expected: 'none, a directory or a file' };
  const entry = await statGitEntry(root);
  if (entry === null) {
    log?.push({ ...fact, seen: 'none', holds: true });
    return { kind: 'none' };
  }
  const regular = entry.type === 'directory' || entry.type === 'file';
  establish(log, { ...fact, seen: entry.type }, regular, () => unsupported('git-entry-irregular'));
  if (entry.type === 'directory') return { kind: 'directory', directory: await openGitDirectory(root) };
  return { kind: 'file', ...(await readPointer(root, path, entry, owner, log)) };
}

/** It was a directory at the look before: another kind of entry was put there since (R06). */
async function openGitDirectory(root: DirectoryHandle): Promise<DirectoryHandle> {
  try {
    return await pastMoves(() => root.openDirectory('.git'));
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'EXDEV' || code === 'EACCES') throw unsupported('git-entry-irregular', { seen: code });
    throw changeOrFailure(error, 'git dir');
  }
}

async function statGitEntry(root: DirectoryHandle): Promise<Pick<NativeEntry, 'type' | 'size'> | null> {
  try {
    return await pastMoves(() => statCached(root) ?? root.stat('.git', null));
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return null;
    if (code === 'EXDEV') throw unsupported('git-entry-irregular', { seen: code });
    throw translateStorageFailure(error);
  }
}

const scratch = emptyFacts();

/** Null where the kernel would have to wait. @throws errno */
function statCached(root: DirectoryHandle): Pick<NativeEntry, 'type' | 'size'> | null {
  if (!root.factsCached('.git', scratch)) return null;
  const size = sizeOf(scratch);
  const mode = modeOf(scratch);
  if (isDirectoryMode(mode)) return { type: 'directory', size };
  return { type: isRegularMode(mode) ? 'file' : 'other', size };
}

async function readPointer(
  root: DirectoryHandle,
  path: string,
  entry: Pick<NativeEntry, 'size'>,
  owner: number,
  log: FactLog,
): Promise<{ readonly file: AdminFile; readonly pointer: GitPointer }> {
  const small = entry.size <= gitFileLimitBytes;
  const file = small ? await readPresent(root, owner) : null;
  const pointer = file === null ? null : parseGitPointer(file.bytes, path);
  const fact = { fact: 'git file', expected: 'gitdir: and a path', seen: pointer?.kind ?? 'malformed' };
  establish(log, fact, pointer !== null, () => unsupported('git-file-malformed'));
  return { file: file as AdminFile, pointer: pointer as GitPointer };
}

/** Reads what was a file at the look before. */
async function readPresent(root: DirectoryHandle, owner: number): Promise<AdminFile> {
  let cause: unknown;
  try {
    const file = await readAdminFile(root, '.git', gitFileLimitBytes, owner);
    if (file !== null) return file;
  } catch (error) {
    if (!isOtherKind(error)) throw error;
    cause = error;
  }
  throw new AuthorityError('identity_changed', { details: { what: 'git dir' }, cause });
}

/** Not a file any more. What may not be opened, or lies on a mount, may have been so all the time. */
function isOtherKind(error: unknown): boolean {
  if (!isAuthorityError(error) || error.details['reason'] !== 'admin-file-irregular') return false;
  return !['EACCES', 'EXDEV'].includes(String(error.details['seen']));
}
