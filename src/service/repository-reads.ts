import { type LadderEntry, ladderOf } from '../actions/ladder.ts';
import type { Authority } from '../authority/authority.ts';
import { inRepository, inRepositoryOrNull } from '../authority/in-repository.ts';
import { managedFactsOf } from '../authority/managed-facts.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { type BaseRevision, invalidBase, parseBaseRevision } from '../git/base-revision.ts';
import { type BranchListing, readBranches } from '../git/branches.ts';
import { type CommitListing, readCommits } from '../git/commits.ts';
import type { ConfigurationGate } from '../git/configuration-gate.ts';
import { type CommitDiff, type ModeDiff, readDiff } from '../git/diff.ts';
import type { DiffQuery } from '../git/diff-query.ts';
import type { GitRunner } from '../git/run-git.ts';
import type { UserConfiguration } from '../git/user-configuration.ts';
import type { RepositorySnapshot } from '../snapshot/snapshot.ts';
import type { Snapshots } from '../snapshot/snapshots.ts';

/** What is asked of a repository and changes nothing. Each answer is given only while the selector is still what was authorised. */
export interface RepositoryReads {
  /**
   * Null for a plain directory.
   * @throws as `Authority.authorizeRepository` | `git_failed` | `identity_changed`
   */
  branches(selector: string, signal?: AbortSignal): Promise<BranchListing | null>;
  /**
   * @throws as `Authority.authorizeRepository` | `invalid_base_revision` (details.reason: `malformed` | `not-found`) | `git_failed` |
   *   `identity_changed`
   */
  commits(selector: string, query: CommitsQuery, signal?: AbortSignal): Promise<CommitListing>;
  /**
   * What differs, line by line. The query is looked at only once the selector is authorised.
   * @throws as `Authority.authorizeRepository` and `readDiff` | `identity_changed`
   */
  diff(selector: string, query: DiffQuery, signal?: AbortSignal): Promise<ModeDiff | CommitDiff>;
  /**
   * Which actions fit the state that the snapshot shows, and why the others do not. No process while nothing changed; see `Snapshots.examine`.
   * @throws as `Authority.authorizeRepository` | `identity_changed`
   */
  actions(
    selector: string,
    options?: { readonly running?: boolean },
    signal?: AbortSignal,
  ): Promise<ActionLadder>;
}

/** See `RepositoryReads.actions`. */
export interface ActionLadder {
  readonly ladder: readonly LadderEntry[];
  readonly snapshot: RepositorySnapshot;
}

export interface CommitsQuery {
  /** As `parseBaseRevision` reads it; default: what a managed worktree was created from, else the default branch. */
  readonly base?: string;
}

export interface RepositoryReadsOptions {
  readonly authority: Authority;
  readonly git: GitRunner;
  /** Clears the configuration for reads of the work tree. */
  readonly configuration: ConfigurationGate;
  /** What the server's user has set: whose ignore file counts. */
  readonly user: (signal?: AbortSignal) => Promise<UserConfiguration>;
  readonly snapshots: Pick<Snapshots, 'examine'>;
}

export function createRepositoryReads({
  authority,
  git,
  configuration,
  user,
  snapshots,
}: RepositoryReadsOptions): RepositoryReads {
  return {
    branches(selector, signal) {
      const read = (capability: RepositoryCapability) => readBranches(capability, git, signal);
      return inRepositoryOrNull(authority, selector, read, signal);
    },
    commits(selector, query, signal) {
      const read = async (capability: RepositoryCapability) => {
        const managed = managedFactsOf(capability);
        return readCommits(capability, git, { ...baseOf(query), managed }, signal);
      };
      return inRepository(authority, selector, read, signal);
    },
    diff(selector, query, signal) {
      const read = (capability: RepositoryCapability) => {
        const context = { git, configuration, user, origin: managedFactsOf(capability) };
        return readDiff(capability, context, query, signal);
      };
      return inRepository(authority, selector, read, signal);
    },
    async actions(selector, { running = false } = {}, signal) {
      const { snapshot, unshown, ...standing } = await snapshots.examine(selector, signal);
      return { ladder: ladderOf({ ...snapshot, ...unshown, ...standing }, running), snapshot };
    },
  };
}

/** @throws `invalid_base_revision` (details.reason `malformed`) */
function baseOf({ base }: CommitsQuery): { readonly base?: BaseRevision } {
  if (base === undefined) return {};
  const parsed = parseBaseRevision(base);
  if (parsed === null) throw invalidBase('malformed');
  return { base: parsed };
}
