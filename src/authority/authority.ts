import type { FileCapability } from '../capability/file-capability.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';

/** One fact that was checked on the way from a selector to a capability, in order. Only operators see it. */
export interface CheckedFact {
  readonly fact: string;
  readonly expected: string;
  readonly seen: string;
  readonly holds: boolean;
}

export interface Explanation {
  readonly selector: string;
  readonly authorized: boolean;
  readonly facts: readonly CheckedFact[];
  readonly result: {
    readonly kind: string;
    readonly gitBoundary: string;
    readonly root: string;
  } | null;
  readonly refusal: { readonly code: string; readonly details: Readonly<Record<string, unknown>> } | null;
}

export interface Authority {
  /**
   * Turns a selector into a held capability (R02, R03). The caller disposes it.
   * @throws `workspace_not_authorized` | `registry_unavailable` | `prover_unavailable` | `repository_unsupported` |
   *   `repository_identity_changed` | `identity_changed` (it changed while it was proven) | `busy` | `kernel_capability_missing` | `aborted`
   */
  authorize(selector: string, signal?: AbortSignal): Promise<FileCapability>;
  /**
   * The same, and the selector must be a Git root (R03).
   * @throws as `authorize` | `git_root_not_authorized` (nested) | `git_repository_required` (none)
   */
  authorizeRepository(selector: string, signal?: AbortSignal): Promise<RepositoryCapability>;
  /**
   * The main checkout of an authorised checkout, as the proof of that one has proven and holds it; it needs no row of its own (R22). Of a
   * main checkout it is that one. The caller disposes it.
   * @throws as `FileCapability.assertCurrent`
   */
  mainCheckoutOf(capability: RepositoryCapability, signal?: AbortSignal): Promise<RepositoryCapability>;
  /** Walks the same steps without giving anything out. Never throws for an unauthorised selector. */
  explain(selector: string, signal?: AbortSignal): Promise<Explanation>;
  /**
   * Closes what is kept open for rows that are gone or changed, and for worktrees of such rows. It happens by itself, too, within half a
   * minute; capabilities in use keep their handles until they are disposed. @throws `registry_unavailable`
   */
  closeUnregistered(): Promise<void>;
  close(): Promise<void>;
}
