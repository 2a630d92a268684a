import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { readSymbolicFile } from './symbolic-file.ts';

/** What commands write in the directory of a checkout (gitrepository-layout(5)); Git follows a link under any of these names. */
const ofCheckout = [
  'index',
  'logs',
  'logs/HEAD',
  'MERGE_HEAD',
  'MERGE_MODE',
  'MERGE_MSG',
  'SQUASH_MSG',
  'COMMIT_EDITMSG',
  'AUTO_MERGE',
  'ORIG_HEAD',
];

/** What they write in the directory that checkouts share, beside the branch and its log. */
const ofAll = [
  'refs',
  'refs/heads',
  'refs/remotes',
  'refs/remotes/origin',
  'logs',
  'logs/refs',
  'logs/refs/heads',
  'logs/refs/remotes',
  'logs/refs/remotes/origin',
];

/** How a name looks that only a link, or something that is no directory, can lead past. */
const passedThrough = new Set(['ELOOP', 'EXDEV', 'ENOTDIR']);

/**
 * Proves that Git, which follows links, writes index, refs and logs within the held directories: a repository that someone made could lead
 * it out of the workspace, or to a pipe that is never read. To be called right before a change; who may write there can still be faster.
 * The file of a branch may be a link, which Git takes for a symbolic ref and replaces.
 * @throws `repository_unsupported` (details.reason `linked-administration`, details.file) | `storage_failed` | ...
 */
export async function assertOwnAdministration({ repository }: RepositoryCapability): Promise<void> {
  const { gitDirectory, commonDirectory } = repository;
  for (const name of ofCheckout) await assertOwn(gitDirectory, name);
  const head = await readSymbolicFile(gitDirectory, 'HEAD');
  const branch = head?.kind === 'symbolic' ? head.ref : null;
  for (const name of [...ofAll, ...(branch === null ? [] : placesOf(branch))]) {
    await assertOwn(commonDirectory, name);
  }
}

/** The directories that hold a ref, those of its log, and the log. */
function placesOf(latin1Ref: string): readonly Buffer[] {
  const parts = latin1Ref.split('/');
  const above = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
  const places = [...above, ...above.map((place) => `logs/${place}`), `logs/${latin1Ref}`];
  return places.map((place) => Buffer.from(place, 'latin1'));
}

async function assertOwn(directory: DirectoryHandle, name: string | Buffer): Promise<void> {
  try {
    const { type } = await directory.stat(name, null);
    if (type === 'file' || type === 'directory') return;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    if (!passedThrough.has(codeOf(error) ?? '')) throw refusalOf(error);
  }
  const details = { reason: 'linked-administration', file: name.toString() };
  throw new AuthorityError('repository_unsupported', { details });
}
