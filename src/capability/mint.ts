import type { CapabilityKind, FileCapability, GitBoundary } from './file-capability.ts';
import type { HeldRoot } from './held-root.ts';
import { MintedFileCapability, MintedRepositoryCapability } from './minted-capability.ts';
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

export function mintFileCapability(proof: FileProof): FileCapability {
  const { kind, gitBoundary, held, assertCurrent } = proof;
  return new MintedFileCapability({
    proof: { kind, gitBoundary, held, assertCurrent, repository: null },
    references: 0,
  });
}

export function mintRepositoryCapability(proof: RepositoryProof): RepositoryCapability {
  const { kind, gitBoundary, held, assertCurrent, repository } = proof;
  return new MintedRepositoryCapability({
    proof: { kind, gitBoundary, held, assertCurrent, repository },
    references: 0,
  });
}
