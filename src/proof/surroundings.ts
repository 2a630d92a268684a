import type { DirectoryHandle } from '../capability/handles.ts';
import { isAdministrativeName } from '../git/administrative-name.ts';
import { gitDirectoryShape, worktreeAdministrationShape } from '../git/git-directory-shape.ts';
import { establish, type FactLog } from './facts.ts';
import { NameWatch } from './name-watch.ts';
import { changeOrFailure } from './storage-failure.ts';
import { type UnsupportedReason, unsupported } from './unsupported.ts';

/** A directory by path and identity: a root, or one on the way from `/` to it. */
export interface Ancestor {
  readonly path: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/** What stands around a root: its ancestors and, up to the mount point, whether a repository's work tree encloses it. */
export interface Surroundings {
  /** What stands under the root's path. */
  readonly root: Ancestor;
  /** Nearest first; the root itself is not among them. */
  readonly ancestors: readonly Ancestor[];
  /** Whether an ancestor has an entry named `.git`, whatever it is. */
  readonly nested: boolean;
  /** Together they tell whether all of this is still so. */
  readonly watches: readonly NameWatch[];
}

/** Looked at in each directory. The other names of the shapes matter only where HEAD stands. */
const shapeNames = [...new Set([...gitDirectoryShape, ...worktreeAdministrationShape])];

/**
 * Looks at the names around a root, never at their content (decisions 1.10). `top` is `/`, held open with mounts allowed; `path` is the
 * canonical path of the root.
 * @throws `repository_unsupported` (`git-directory`, `bare-repository`) when the root is, or lies in, something that has the name or
 *   the shape of a Git directory | `identity_changed` (root moved) | `storage_failed` | `busy` | ...
 */
export async function surveySurroundings(
  top: DirectoryHandle,
  path: string,
  log: FactLog,
): Promise<Surroundings> {
  establishNames(path, 'git-directory', log);
  const own = await watchDirectory(top, path);
  const { device } = own.directory;
  const above = await Promise.all(
    [...ancestorsOf(path)].map(async (place) => ({
      path: place,
      watch: await watchDirectory(top, place, device),
    })),
  );
  // Git does not look for a repository beyond the mount point either (git(1), GIT_DISCOVERY_ACROSS_FILESYSTEM).
  const beyond = above.findIndex(({ watch }) => watch.directory.device !== device);
  const enclosing = beyond === -1 ? above : above.slice(0, beyond);
  refuseGitShape(own, path, 'bare-repository', log);
  for (const { path: place, watch } of enclosing) refuseGitShape(watch, place, 'git-directory', log);
  const nested = enclosing.some(({ watch }) => watch.find('.git') !== null);
  log?.push({ fact: 'enclosing repository', expected: 'any', seen: nested ? 'yes' : 'none', holds: true });
  return {
    root: ancestorAt(path, own),
    ancestors: above.map(({ path: place, watch }) => ancestorAt(place, watch)),
    nested,
    watches: [own, ...enclosing.map(({ watch }) => watch)],
  };
}

function ancestorAt(path: string, { directory: { device, inode } }: NameWatch): Ancestor {
  return { path, device, inode };
}

/**
 * Looks at the names on the way to a separate Git dir: it may lie anywhere but in what is part of another repository's
 * administration, where a submodule or another checkout has its own (gitrepository-layout(5)).
 * @throws `repository_unsupported` (`separate-git-dir`) | `identity_changed` (root) | `storage_failed` | `busy` | ...
 */
export async function surveyGitDirectory(
  top: DirectoryHandle,
  path: string,
  log: FactLog,
): Promise<readonly NameWatch[]> {
  establishNames(path, 'separate-git-dir', log);
  const above = [...ancestorsOf(path)];
  const watches = await Promise.all(above.map((place) => watchDirectory(top, place)));
  for (const [index, watch] of watches.entries()) {
    refuseGitShape(watch, above[index] as string, 'separate-git-dir', log);
  }
  return watches;
}

function establishNames(path: string, reason: UnsupportedReason, log: FactLog): void {
  const administrative = path.split('/').some(isAdministrativeName);
  establish(
    log,
    {
      fact: 'names of the path',
      expected: 'none administrative',
      seen: administrative ? 'administrative' : 'none',
    },
    !administrative,
    () => unsupported(reason),
  );
}

function refuseGitShape(watch: NameWatch, path: string, reason: UnsupportedReason, log: FactLog): void {
  const bare = gitDirectoryShape.every((name) => watch.find(name) !== null);
  const administration = worktreeAdministrationShape.every((name) => watch.find(name) !== null);
  establish(
    log,
    {
      fact: `shape of ${path}`,
      expected: 'no Git directory',
      seen: bare || administration ? 'Git directory' : 'other',
    },
    !bare && !administration,
    () => unsupported(bare || reason === 'separate-git-dir' ? reason : 'git-directory'),
  );
}

/** Looks at no name in a directory of another device than `near`: it lies beyond the mount point. */
async function watchDirectory(top: DirectoryHandle, path: string, near?: bigint): Promise<NameWatch> {
  const first = await begin(top, path, ({ device }) => (device === (near ?? device) ? ['.git', 'HEAD'] : []));
  return first.find('HEAD') === null ? first : begin(top, path, ['.git', ...shapeNames]);
}

/** A root whose path leads nowhere by now was moved away while it was looked at. */
async function begin(
  top: DirectoryHandle,
  path: string,
  names: Parameters<typeof NameWatch.begin>[2],
): Promise<NameWatch> {
  return NameWatch.begin(top, path === '/' ? '.' : path.slice(1), names).catch((error: unknown) => {
    throw changeOrFailure(error, 'root');
  });
}

function* ancestorsOf(path: string): Generator<string> {
  for (let end = path.lastIndexOf('/'); path !== '/'; end = path.lastIndexOf('/', end - 1)) {
    yield end <= 0 ? '/' : path.slice(0, end);
    if (end <= 0) return;
  }
}
