import type { DirectoryHandle, NativeEntry } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import { readAdminFile } from './admin-file.ts';
import { establish, type FactLog } from './facts.ts';
import { translateStorageFailure } from './storage-failure.ts';
import { type UnsupportedReason, unsupported } from './unsupported.ts';

/** A path of full length and the words before it. */
const gitFileLimitBytes = 4200;

/**
 * Opens the `.git` directory of a checkout root beneath the held root; null when the root has no `.git` at all. The caller closes it.
 * @throws `repository_unsupported` when `.git` is anything but a directory | `storage_failed` | ...
 */
export async function openGitDirectory(
  root: DirectoryHandle,
  owner: number,
  log: FactLog,
): Promise<DirectoryHandle | null> {
  const entry = await statGitEntry(root);
  if (entry === null) {
    log?.push({ fact: 'git entry', expected: 'none or a directory', seen: 'none', holds: true });
    return null;
  }
  const reason = await reasonAgainst(root, entry, owner);
  establish(
    log,
    { fact: 'git entry', expected: 'none or a directory', seen: reason ?? entry.type },
    reason === null,
    () => unsupported(reason ?? 'git-entry-irregular'),
  );
  try {
    return await root.openDirectory('.git');
  } catch (error) {
    const code = codeOf(error) ?? '';
    // A link, a mount point or no directory any more: it was changed, or is not what it looked like.
    if (['ELOOP', 'EXDEV', 'ENOTDIR', 'ENOENT', 'EACCES'].includes(code)) {
      throw unsupported('git-entry-irregular', { seen: code });
    }
    throw translateStorageFailure(error);
  }
}

async function statGitEntry(root: DirectoryHandle): Promise<NativeEntry | null> {
  try {
    return await root.stat('.git', null);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return null;
    if (code === 'EXDEV') throw unsupported('git-entry-irregular', { seen: code });
    throw translateStorageFailure(error);
  }
}

async function reasonAgainst(
  root: DirectoryHandle,
  entry: NativeEntry,
  owner: number,
): Promise<UnsupportedReason | null> {
  if (entry.type === 'directory') return null;
  if (entry.type !== 'file') return 'git-entry-irregular';
  if (entry.size > gitFileLimitBytes) return 'git-file-malformed';
  const file = await readAdminFile(root, '.git', gitFileLimitBytes, owner);
  return file === null ? 'git-entry-irregular' : kindOfGitFile(file.bytes);
}

/**
 * Names the kind of checkout by the place a `.git` file points to (gitrepository-layout(5)), so that a person learns what was refused.
 * The place itself is not looked at: the pointer is only a claim.
 */
function kindOfGitFile(bytes: Uint8Array): UnsupportedReason {
  const text = Buffer.from(bytes).toString('latin1');
  const pointer = /^gitdir: ([^\n\r]+)\n$/.exec(text)?.[1];
  if (pointer === undefined) return 'git-file-malformed';
  if (/\/worktrees\/[^/]+$/.test(pointer)) return 'linked-worktree';
  return /(?:^|\/)modules\//.test(pointer) ? 'submodule' : 'separate-git-dir';
}
