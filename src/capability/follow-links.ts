import { AuthorityError } from '../errors/index.ts';
import type { NativePath } from '../native/binding.ts';
import type { BeneathPath } from './beneath-path.ts';
import { assertOpenNames } from './closed-names.ts';
import type { HeldRoot } from './held-root.ts';
import { displayPath, parentOf, rootPath } from './native-path.ts';
import { codeOf, refusalOf } from './refusal.ts';

/**
 * Each round is lost only when somebody swaps a directory for a link between two system calls of ours; a tight loop of swaps wins a
 * round about every second time, so all of these about once in 10^9.
 */
const rounds = 32;

/**
 * Reads what stands under a path, symbolic links that stay inside included (R11). The attempt always opens without links: first the
 * path as given, then the canonical path that the links led to, so nothing is ever opened through a link.
 * @throws `path_outside_workspace` | `administrative_path` | `busy` | `not_found` for a loop of links | what the attempt throws
 */
export async function followLinks<Result>(
  held: HeldRoot,
  path: BeneathPath | typeof rootPath,
  attempt: (canonical: NativePath) => Promise<Result>,
): Promise<Result> {
  if (path !== rootPath) assertOpenNames(path, held.confinement);
  try {
    return await attempt(path);
  } catch (error) {
    if (codeOf(error) !== 'ELOOP') throw error;
  }
  for (let round = 0; round < rounds; round += 1) {
    const canonical = await canonicalPath(held, path);
    assertOpenNames(displayPath(canonical), held.confinement);
    try {
      return await attempt(canonical);
    } catch (error) {
      if (codeOf(error) !== 'ELOOP') throw error;
    }
  }
  throw new AuthorityError('busy');
}

/** As `followLinks`, for an attempt that wants a file: a link may lead to the root itself. */
export function followLinksToFile<Result>(
  held: HeldRoot,
  path: BeneathPath,
  attempt: (canonical: NativePath) => Promise<Result>,
): Promise<Result> {
  return followLinks(held, path, async (canonical) => {
    if (canonical === rootPath) throw new AuthorityError('not_regular_file');
    return attempt(canonical);
  });
}

async function canonicalPath(held: HeldRoot, path: string): Promise<NativePath> {
  try {
    const canonical = await held.directory.resolveLinks(path, held.path);
    return displayPath(canonical) === rootPath ? rootPath : canonical;
  } catch (error) {
    if (codeOf(error) !== 'ELOOP') throw refusalOf(error);
    throw new AuthorityError('not_found', { details: { reason: 'loop of symbolic links' }, cause: error });
  }
}

/**
 * Chooses the refusal for a change that met a symbolic link. Where the link leads only decides which refusal it is: nothing is ever
 * changed through a link (R11).
 */
export async function linkRefusal(held: HeldRoot, path: string): Promise<AuthorityError> {
  let canonical: Uint8Array;
  try {
    canonical = await held.directory.resolveLinks(path, held.path);
  } catch (error) {
    if (codeOf(error) === 'EXDEV') return new AuthorityError('path_outside_workspace', { cause: error });
    // A name that does not exist yet is judged by the place it would come to.
    const isNew = codeOf(error) === 'ENOENT' && path.includes('/');
    return isNew
      ? linkRefusal(held, parentOf(path))
      : new AuthorityError('symlink_not_writable', { cause: error });
  }
  try {
    assertOpenNames(displayPath(canonical), held.confinement);
    await held.guard.check(canonical);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.code === 'administrative_path') return refusal;
  }
  return new AuthorityError('symlink_not_writable');
}
