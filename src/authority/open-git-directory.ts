import type { DirectoryHandle, NativeBinding } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import { translateStorageFailure } from '../proof/storage-failure.ts';
import { type UnsupportedReason, unsupported } from '../proof/unsupported.ts';
import { isNotInPlace } from './not-in-place.ts';

/** Opens the Git dir that a `.git` file names. @throws `repository_unsupported` (`separate-git-dir`) | `storage_failed` | ... */
export function openSeparateGitDirectory(native: NativeBinding, path: string): Promise<DirectoryHandle> {
  return openOrRefuse(() => native.openRoot(path, {}), 'separate-git-dir');
}

/**
 * Opens the administrative directory of a worktree beneath the held Git dir of its main checkout.
 * @throws `repository_unsupported` (`worktree-not-listed`) | `storage_failed` | ...
 */
export function openAdministration(common: DirectoryHandle, name: string): Promise<DirectoryHandle> {
  return openOrRefuse(() => common.openDirectory(`worktrees/${name}`), 'worktree-not-listed');
}

async function openOrRefuse(
  open: () => Promise<DirectoryHandle>,
  reason: UnsupportedReason,
): Promise<DirectoryHandle> {
  try {
    return await open();
  } catch (error) {
    const seen = codeOf(error) ?? '';
    throw isNotInPlace(seen) ? unsupported(reason, { seen }) : translateStorageFailure(error);
  }
}
