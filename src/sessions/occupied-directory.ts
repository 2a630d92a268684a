import type { FileCapability } from '../capability/file-capability.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';

/** A directory that is about to be taken away, if nobody is in it. */
export interface OccupiedDirectory {
  /** Canonical paths it stands under; once it was set aside, also the one it stood under. */
  readonly paths: readonly string[];
  /** Who it is, so that it is found under names nobody thought of. */
  readonly place: { readonly device: bigint; readonly inode: bigint };
  /** Canonical roots of the workspaces whose sessions may be in it: of a worktree, its main checkout. */
  readonly families: readonly string[];
}

export function directoryOf(capability: FileCapability | RepositoryCapability): OccupiedDirectory {
  const { root, held } = capability;
  return {
    paths: [root],
    place: held.directory.place(),
    families: 'repository' in capability ? [capability.repository.mainRoot] : [],
  };
}

/** Whether a path is the directory or lies below it, by its text alone. */
export function isAtOrBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
}
