import type { CapabilityKind, FileCapability, GitBoundary } from './file-capability.ts';
import type { HeldRoot } from './held-root.ts';
import type { ManagedFacts, ManagedWorktreeCapability } from './managed-worktree-capability.ts';
import {
  MintedFileCapability,
  MintedManagedWorktreeCapability,
  MintedRepositoryCapability,
} from './minted-capability.ts';
import type { HeldRepository, RepositoryCapability } from './repository-capability.ts';

/**
 * Making capabilities is the privilege of the rooms that prove (proof and authority); the architecture test holds that nobody else
 * imports this file.
 */
export interface FileProof {
  readonly kind: CapabilityKind;
  readonly gitBoundary: GitBoundary;
  /** One reference passes to the capability, which releases it when its last reference is disposed. */
  readonly held: HeldRoot;
  /** The whole re-proof behind `FileCapability.assertCurrent`. */
  readonly assertCurrent: (signal?: AbortSignal) => Promise<void>;
}

export interface RepositoryProof extends FileProof {
  readonly gitBoundary: 'root';
  /** Passes to the capability like `held`. */
  readonly repository: HeldRepository;
}

export interface ManagedWorktreeProof extends RepositoryProof {
  readonly kind: 'managed-worktree';
  readonly managed: ManagedFacts;
}

export function mintFileCapability(proof: FileProof): FileCapability {
  const { kind, gitBoundary, held, assertCurrent } = proof;
  return new MintedFileCapability({
    proof: { kind, gitBoundary, held, assertCurrent, repository: null, managed: null },
    references: 0,
  });
}

export function mintRepositoryCapability(proof: RepositoryProof): RepositoryCapability {
  const { kind, gitBoundary, held, assertCurrent, repository } = proof;
  return new MintedRepositoryCapability({
    proof: { kind, gitBoundary, held, assertCurrent, repository, managed: null },
    references: 0,
  });
}

export function mintManagedWorktreeCapability(proof: ManagedWorktreeProof): ManagedWorktreeCapability {
  return new MintedManagedWorktreeCapability({ proof: { ...proof }, references: 0 });
}
