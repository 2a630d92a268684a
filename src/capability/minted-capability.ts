import { AuthorityError } from '../errors/index.ts';
import type { CapabilityKind, FileCapability, GitBoundary } from './file-capability.ts';
import type { HeldRoot } from './held-root.ts';
import type { ManagedFacts, ManagedWorktreeCapability } from './managed-worktree-capability.ts';
import type { HeldRepository, RepositoryCapability } from './repository-capability.ts';

/** What was proven; shared by all references to one capability. */
interface SharedProof {
  readonly kind: CapabilityKind;
  readonly gitBoundary: GitBoundary;
  readonly held: HeldRoot;
  readonly repository: HeldRepository | null;
  readonly managed: ManagedFacts | null;
  readonly assertCurrent: (signal?: AbortSignal) => Promise<void>;
}

interface Shared {
  readonly proof: SharedProof;
  references: number;
}

/**
 * The only class behind `FileCapability`. Each object is one reference; what is held closes with the last one. The kind and root of
 * a disposed reference can still be read, nothing can be done with it.
 */
export class MintedFileCapability implements FileCapability {
  readonly kind: CapabilityKind;
  readonly gitBoundary: GitBoundary;
  readonly root: string;
  readonly #shared: Shared;
  #disposed = false;

  constructor(shared: Shared) {
    this.kind = shared.proof.kind;
    this.gitBoundary = shared.proof.gitBoundary;
    this.root = shared.proof.held.path;
    this.#shared = shared;
    shared.references += 1;
  }

  static isMinted(value: object): value is MintedFileCapability {
    return #shared in value;
  }

  get held(): HeldRoot {
    return this.live().proof.held;
  }

  async assertCurrent(signal?: AbortSignal): Promise<void> {
    await this.live().proof.assertCurrent(signal);
  }

  retain(): FileCapability {
    return new MintedFileCapability(this.live());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return;
    this.#disposed = true;
    const shared = this.#shared;
    shared.references -= 1;
    if (shared.references > 0) return;
    shared.proof.repository?.release();
    shared.proof.held.release();
  }

  protected live(): Shared {
    if (this.#disposed) {
      throw new AuthorityError('internal_error', { details: { reason: 'capability used after disposal' } });
    }
    return this.#shared;
  }
}

/** The only class behind `RepositoryCapability`. */
export class MintedRepositoryCapability extends MintedFileCapability implements RepositoryCapability {
  declare readonly gitBoundary: 'root';

  get repository(): HeldRepository {
    const { repository } = this.live().proof;
    if (repository === null) throw new AuthorityError('internal_error');
    return repository;
  }

  override retain(): RepositoryCapability {
    return new MintedRepositoryCapability(this.live());
  }
}

/** The only class behind `ManagedWorktreeCapability`. */
export class MintedManagedWorktreeCapability
  extends MintedRepositoryCapability
  implements ManagedWorktreeCapability
{
  declare readonly kind: 'managed-worktree';

  get managed(): ManagedFacts {
    const { managed } = this.live().proof;
    if (managed === null) throw new AuthorityError('internal_error');
    return managed;
  }

  override retain(): ManagedWorktreeCapability {
    return new MintedManagedWorktreeCapability(this.live());
  }
}

/** Refuses an object that only looks like a capability (R02). @throws `internal_error` */
export function assertMinted(capability: FileCapability): void {
  if (!MintedFileCapability.isMinted(capability)) {
    throw new AuthorityError('internal_error', { details: { reason: 'not a minted capability' } });
  }
}
