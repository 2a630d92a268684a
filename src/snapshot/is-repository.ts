import type { FileCapability } from '../capability/file-capability.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';

export function isRepository(capability: FileCapability): capability is RepositoryCapability {
  return capability.gitBoundary === 'root';
}
