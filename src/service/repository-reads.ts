import type { Authority } from '../authority/authority.ts';
import { type BranchListing, readBranches } from '../git/branches.ts';
import type { ConfigurationGate } from '../git/configuration-gate.ts';
import type { GitRunner } from '../git/run-git.ts';
import { inRepositoryOrNull } from './in-repository.ts';

/** What is asked of a repository and changes nothing. Each answer is given only while the selector is still what was authorised. */
export interface RepositoryReads {
  /**
   * Null for a plain directory.
   * @throws as `Authority.authorizeRepository` | `git_failed` | `identity_changed`
   */
  branches(selector: string, signal?: AbortSignal): Promise<BranchListing | null>;
}

export interface RepositoryReadsOptions {
  readonly authority: Authority;
  readonly git: GitRunner;
  /** Clears the configuration for reads of the work tree. */
  readonly configuration: ConfigurationGate;
}

export function createRepositoryReads({ authority, git }: RepositoryReadsOptions): RepositoryReads {
  return {
    branches: (selector, signal) =>
      inRepositoryOrNull(authority, selector, (capability) => readBranches(capability, git, signal), signal),
  };
}
