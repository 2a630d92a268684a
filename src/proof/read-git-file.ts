import { AuthorityError } from '../errors/index.ts';
import { type AdminFile, readAdminFile } from './admin-file.ts';
import type { CheckoutClaim } from './checkout-claim.ts';
import { establish, type FactLog } from './facts.ts';
import { gitFileLimitBytes } from './git-entry.ts';
import { type GitPointer, parseGitPointer } from './git-pointer.ts';

/**
 * Reads the file `.git` of a root, which must name the held Git dir.
 * @throws `identity_changed` | `repository_unsupported` | `busy` | `storage_failed`
 */
export async function readGitFile(
  { root, path, owner }: Pick<CheckoutClaim, 'root' | 'path' | 'owner'>,
  namesHeld: (pointer: GitPointer) => boolean,
  log: FactLog,
): Promise<AdminFile> {
  const file = await readAdminFile(root, '.git', gitFileLimitBytes, owner);
  const pointer = file === null ? null : parseGitPointer(file.bytes, path);
  const same = pointer !== null && namesHeld(pointer);
  establish(
    log,
    { fact: 'git file', expected: 'the held git dir', seen: same ? 'the held git dir' : 'another' },
    same,
    () => new AuthorityError('identity_changed', { details: { what: 'git dir' } }),
  );
  return file as AdminFile;
}
