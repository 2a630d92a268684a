import type { RepositoryCapability } from '../capability/repository-capability.ts';
import type { CommandPlace } from './command-class.ts';
import type { GitPins } from './environment.ts';

/** A place where Git looks for nothing by itself. */
export interface PinnedPlace extends CommandPlace {
  readonly pins: GitPins;
}

/** Keeps a command on the held directories of a capability: Git finds nothing by itself, and no path is walked by name. */
export function pinnedPlace({ held, repository }: RepositoryCapability): PinnedPlace {
  const workTree = held.directory.descriptorPath();
  return {
    directory: workTree,
    pins: {
      gitDirectory: repository.gitDirectory.descriptorPath(),
      commonDirectory: repository.commonDirectory.descriptorPath(),
      workTree,
    },
  };
}
