import type { DirectoryHandle } from '../native/binding.ts';
import type { FileCapability } from './file-capability.ts';

/** The held directories of a proven repository (R06). */
export interface HeldRepository {
  /** Git dir of this checkout: `.git` itself for a main checkout, the admin directory for a linked worktree. */
  readonly gitDirectory: DirectoryHandle;
  readonly commonDirectory: DirectoryHandle;
  /** Canonical root of the main checkout. */
  readonly mainRoot: string;
  release(): void;
}

/**
 * A file capability whose root is proven to be exactly a Git root. Git functions take only this type, so a plain or nested directory
 * cannot reach them (R03).
 */
export interface RepositoryCapability extends FileCapability {
  readonly gitBoundary: 'root';
  readonly repository: HeldRepository;
  retain(): RepositoryCapability;
}

export function isRepository(capability: FileCapability): capability is RepositoryCapability {
  return capability.gitBoundary === 'root';
}
