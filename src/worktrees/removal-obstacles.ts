import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';

/** What stands in a worktree and is never taken away with it. Paths are Latin-1, relative. */
export interface RemovalObstacles {
  /** Directories that hold something called `.git`, whether or not Git takes it for a repository: it never says what is in there. */
  readonly repositories: readonly string[];
  /** Where another file system is mounted. */
  readonly mounts: readonly string[];
}

const listedAtOnce = 10_000;
/** As `NativeListing.types` has them; a directory that another one is mounted over is told as neither. */
const noDirectory = new Set([0, 2]);
const gitName = '.git';

/**
 * Looks at the name of everything beneath a held directory, links not followed, without looking into mounts and repositories.
 * @throws `storage_failed` | `permission_denied` | ... for a directory that cannot be read: what is in it would be gone unseen
 */
export async function findObstacles(root: DirectoryHandle): Promise<RemovalObstacles> {
  const found = { repositories: [] as string[], mounts: [] as string[] };
  await lookBelow(root, root.identity().mountId, '', found);
  return found;
}

async function lookBelow(
  directory: DirectoryHandle,
  mountId: bigint,
  prefix: string,
  found: { readonly repositories: string[]; readonly mounts: string[] },
): Promise<void> {
  const names = await directoriesIn(
    directory,
    prefix === '' ? null : () => found.repositories.push(prefix.slice(0, -1)),
  );
  for (const name of names ?? []) {
    const below = await openOrNull(directory, name);
    if (below === 'gone') continue;
    const path = prefix + name;
    if (below === 'mount') {
      found.mounts.push(path);
      continue;
    }
    try {
      if (below.identity().mountId !== mountId) found.mounts.push(path);
      else await lookBelow(below, mountId, `${path}/`, found);
    } finally {
      below.close();
    }
  }
}

/** Null where `onRepository` was told: something in it is called `.git`. */
async function directoriesIn(
  directory: DirectoryHandle,
  onRepository: (() => void) | null,
): Promise<readonly string[] | null> {
  const directories: string[] = [];
  for (let after: Uint8Array | null = null; ; ) {
    const options = { rootPath: '/', limit: listedAtOnce, ...(after === null ? {} : { after }) };
    const listing = await directory.list('.', options, null).catch((error: unknown) => {
      throw refusalOf(error);
    });
    const names = Buffer.from(listing.names).toString('latin1').split('\0').slice(0, -1);
    for (const [at, name] of names.entries()) {
      if (name === gitName) {
        if (onRepository === null) continue;
        onRepository();
        return null;
      }
      if (!noDirectory.has(listing.types[at] ?? 0)) directories.push(name);
    }
    if (!listing.more) return directories;
    after = bytesOf(names.at(-1) ?? '');
  }
}

async function openOrNull(
  parent: DirectoryHandle,
  name: string,
): Promise<DirectoryHandle | 'gone' | 'mount'> {
  try {
    return await parent.openDirectory(bytesOf(name));
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'EXDEV') return 'mount';
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) return 'gone';
    throw refusalOf(error);
  }
}

function bytesOf(latin1: string): Buffer {
  return Buffer.from(latin1, 'latin1');
}
