import type { DirectoryHandle } from '../capability/handles.ts';
import { isAuthorityError } from '../errors/index.ts';
import { type AdminFile, examineAdminFile, readAdminFile } from './admin-file.ts';
import { ProvenCheckout } from './checkout.ts';
import {
  administrationPath,
  gitFileOf,
  type WorktreeClaim,
  type WorktreePointers,
} from './checkout-claim.ts';
import { establish, type FactLog } from './facts.ts';
import { FileWatch } from './file-watch.ts';
import { gitFileLimitBytes } from './git-entry.ts';
import { parsePathLine } from './git-pointer.ts';
import {
  configLimitBytes,
  establishClearPath,
  establishFormat,
  establishOwner,
  readHead,
  watchHeld,
  watchRoot,
} from './read-git-directory.ts';
import { readGitFile } from './read-git-file.ts';
import { unsupported } from './unsupported.ts';

/** Far more than anybody's reason for a lock. */
const lockLimitBytes = 64 * 1024;

/** Their coming or going changes what the worktree is; the last two hold the metadata of managed worktrees. */
const administrationNames = ['gitdir', 'commondir', 'config.worktree', 'dsh-worktree', 'workspace-authority'];

/**
 * Our own round trip for a linked worktree, from the proven main checkout outwards: its administrative directory lies under the held
 * Git dir of the main checkout, leads back to exactly this root and on to exactly that Git dir, and the root's `.git` leads to it.
 * That is what makes a row live and not prunable (git-worktree(1), gitrepository-layout(5)); whether it is locked does not matter.
 * @throws `repository_unsupported` | `identity_changed` | `busy` | `storage_failed`
 */
export async function readLinkedWorktree(claim: WorktreeClaim, log: FactLog): Promise<ProvenCheckout> {
  const { root, path, gitDirectory, main, name, owner } = claim;
  establishClearPath(path, log);
  const place = administrationPath(name);
  const administration = await watchHeld(main.root, place, administrationNames, gitDirectory, owner, log);
  const names = [administration, await watchRoot(root, owner)];
  establishOwner('root', root, owner, log);
  establishOwner('git dir', gitDirectory, owner, log);
  const { gitFile, backPointer } = claim.pointers ?? (await readPointers(claim, log));
  const commonPointer = await readCommonPointer(claim, log);
  const head = await readHead(gitDirectory, owner, log);
  const worktreeConfig =
    administration.find('config.worktree') === null
      ? null
      : await readAdminFile(gitDirectory, 'config.worktree', configLimitBytes, owner);
  // libgit2 ignores the settings of one worktree, Git obeys them; so they are held to the rules of the common ones.
  if (worktreeConfig !== null) establishFormat(new Uint8Array(), worktreeConfig.bytes, log);
  // Provers read the reason of a lock to tell whether the row is prunable.
  await examineAdminFile(gitDirectory, 'locked', lockLimitBytes, owner);
  const files = [
    new FileWatch(root, '.git', gitFile),
    new FileWatch(main.root, `${place}/gitdir`, backPointer),
    new FileWatch(main.root, `${place}/commondir`, commonPointer),
  ];
  if (worktreeConfig !== null)
    files.push(new FileWatch(main.root, `${place}/config.worktree`, worktreeConfig));
  return new ProvenCheckout({
    format: main.checkout.format,
    configurationStamp: main.checkout.configurationStamp,
    names,
    files,
    head: { directory: main.root, path: `${place}/HEAD`, file: head, owner },
  });
}

/** The same question as `readBackPointer`, by name below `/` and without an answer that could be relied on. */
export async function listsRoot(
  top: DirectoryHandle,
  { mainRoot, name, path, owner }: Record<'mainRoot' | 'name' | 'path', string> & { readonly owner: number },
): Promise<boolean> {
  const base = `${mainRoot}/${administrationPath(name)}`;
  try {
    const file = await readAdminFile(top, `${base.slice(1)}/gitdir`, gitFileLimitBytes, owner);
    return file !== null && parsePathLine(file.bytes, '', base) === gitFileOf(path);
  } catch (error) {
    // Whoever made the pointer up chose the name: no file has one that is too long, alone or with its way (path_resolution(7)).
    if (isAuthorityError(error) && error.details['errno'] === 'ENAMETOOLONG') return false;
    throw error;
  }
}

async function readPointers(claim: WorktreeClaim, log: FactLog): Promise<WorktreePointers> {
  const { main, name } = claim;
  const backPointer = await readBackPointer(claim, log);
  const gitFile = await readGitFile(
    claim,
    (pointer) => pointer.kind === 'worktree' && pointer.mainRoot === main.path && pointer.name === name,
    log,
  );
  return { gitFile, backPointer };
}

/** Whether the main checkout lists this root at all: the pointer in its own administration, which only its owner can write. */
export async function readBackPointer(
  { gitDirectory, main, name, path, owner }: Omit<WorktreeClaim, 'root' | 'pointers'>,
  log: FactLog,
): Promise<AdminFile> {
  const file = await readAdminFile(gitDirectory, 'gitdir', gitFileLimitBytes, owner);
  const base = `${main.path}/${administrationPath(name)}`;
  const here = file !== null && parsePathLine(file.bytes, '', base) === gitFileOf(path);
  establish(
    log,
    { fact: 'worktree list', expected: 'this root', seen: here ? 'this root' : 'another or none' },
    here,
    () => unsupported('worktree-not-listed'),
  );
  return file as AdminFile;
}

async function readCommonPointer({ gitDirectory, main, name, owner }: WorktreeClaim, log: FactLog) {
  const file = await readAdminFile(gitDirectory, 'commondir', gitFileLimitBytes, owner);
  const base = `${main.path}/${administrationPath(name)}`;
  const same = file !== null && parsePathLine(file.bytes, '', base) === `${main.path}/.git`;
  establish(
    log,
    { fact: 'common dir', expected: 'of the main checkout', seen: same ? 'of the main checkout' : 'another' },
    same,
    () => unsupported('worktree-not-listed', { what: 'common dir' }),
  );
  return file as AdminFile;
}
