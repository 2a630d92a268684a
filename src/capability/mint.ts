import type { CapabilityKind, FileCapability, GitBoundary } from './file-capability.ts';
import type { HeldRoot } from './held-root.ts';
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
  readonly repository: HeldRepository;
}

export declare function mintFileCapability(proof: FileProof): FileCapability;
export declare function mintRepositoryCapability(proof: RepositoryProof): RepositoryCapability;
