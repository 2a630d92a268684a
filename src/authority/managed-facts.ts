import type { FileCapability } from '../capability/file-capability.ts';
import type { ManagedFacts, ManagedWorktreeCapability } from '../capability/managed-worktree-capability.ts';

/** What the metadata of a proven managed worktree says; null for every other capability. */
export function managedFactsOf(capability: FileCapability): ManagedFacts | null {
  return isManagedWorktree(capability) ? capability.managed : null;
}

function isManagedWorktree(capability: FileCapability): capability is ManagedWorktreeCapability {
  return capability.kind === 'managed-worktree';
}
