import type { DirectoryHandle } from '../capability/handles.ts';
import type { HeldRepository } from '../capability/repository-capability.ts';
import type { ProvenCheckout } from '../proof/checkout.ts';
import type { CheckoutClaim } from '../proof/checkout-claim.ts';
import type { ManagedProof } from '../proof/prove-managed.ts';
import type { Delegate } from './delegate.ts';

export interface ProvenRepositoryParts {
  /** Its Git dir passes to the repository. */
  readonly claim: CheckoutClaim;
  readonly checkout: ProvenCheckout;
  /** For a linked worktree; passes to the repository. */
  readonly delegate: Delegate | null;
  readonly managed: ManagedProof | null;
}

/** The Git side of a proven root, held open until its last reference is released. */
export class ProvenRepository {
  readonly claim: CheckoutClaim;
  readonly delegate: Delegate | null;
  /** Replaced when the same repository was proven anew. */
  checkout: ProvenCheckout;
  managed: ManagedProof | null;
  #references = 1;

  constructor({ claim, checkout, delegate, managed }: ProvenRepositoryParts) {
    this.claim = claim;
    this.checkout = checkout;
    this.delegate = delegate;
    this.managed = managed;
  }

  get gitDirectory(): DirectoryHandle {
    return this.claim.gitDirectory;
  }

  get commonDirectory(): DirectoryHandle {
    return this.claim.kind === 'worktree' ? this.claim.main.gitDirectory : this.claim.gitDirectory;
  }

  /** Canonical path of the main checkout's root. */
  get mainRoot(): string {
    return this.claim.kind === 'worktree' ? this.claim.main.path : this.claim.path;
  }

  /** Never blocks; undefined where something has to be waited for. */
  isUnchanged(): boolean | undefined {
    const unchanged = this.delegate === null ? true : this.delegate.isUnchanged();
    if (unchanged !== true) return unchanged;
    return this.isOwnUnchanged();
  }

  /** The same without the main checkout of a linked worktree. */
  isOwnUnchanged(): boolean | undefined {
    for (const watch of this.#managedWatches()) {
      const unchanged = watch.isUnchanged();
      if (unchanged !== true) return unchanged;
    }
    return this.checkout.isUnchanged();
  }

  /** @throws `registry_unavailable` | `storage_failed` | `too_many_open_files` | `busy` */
  async isUnchangedWaiting(): Promise<boolean> {
    if (this.delegate !== null && !(await this.delegate.isUnchangedWaiting())) return false;
    return this.isOwnUnchangedWaiting();
  }

  async isOwnUnchangedWaiting(): Promise<boolean> {
    for (const watch of this.#managedWatches()) {
      if (!(watch.isUnchanged() ?? (await watch.isUnchangedWaiting()))) return false;
    }
    return this.checkout.isUnchangedWaiting();
  }

  /** A reference for one capability, which releases it. */
  lend(): HeldRepository {
    this.#references += 1;
    const { gitDirectory, commonDirectory, mainRoot } = this;
    let lent = true;
    return {
      gitDirectory,
      commonDirectory,
      mainRoot,
      release: () => {
        if (!lent) return;
        lent = false;
        this.release();
      },
    };
  }

  release(): void {
    this.#references -= 1;
    if (this.#references > 0) return;
    this.gitDirectory.close();
    this.delegate?.release();
  }

  #managedWatches() {
    return this.managed === null ? [] : [...this.managed.names, ...this.managed.files];
  }
}
