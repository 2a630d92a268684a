import type { RepositoryCapability } from '../capability/repository-capability.ts';
import type { CommandPlace } from './proof-commands.ts';

/** Keeps a command on the held directories of a capability: Git finds nothing by itself, and no path is walked by name. */
export function pinnedPlace({ held, repository }: RepositoryCapability): CommandPlace {
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
