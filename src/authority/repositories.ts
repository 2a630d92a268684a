import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { authorityHash, type ManagedRoot, pluginHash } from '../proof/managed-namespace.ts';
import type { Authority } from './authority.ts';
import { inRepositoryOrNull } from './in-repository.ts';
import { managedFactsOf } from './managed-facts.ts';
import { authorizeListed, type ListedWorktrees, type WorktreeItem } from './worktree-listing.ts';

/** Facts that existing clients ask of a selector (wire contract, route 1). */
export type Detection =
  | { readonly isGit: false }
  | {
      readonly isGit: true;
      readonly repoRoot: string;
      /** Root of the main checkout, whether or not it is authorised itself. */
      readonly mainRepoRoot: string;
      readonly isLinkedWorktree: boolean;
      readonly managed: boolean;
      /** Short branch name, `origin/<name>` when there is no local copy, or null. */
      readonly defaultBranch: string | null;
      readonly branch: string | null;
      /** Title of the workspace that a managed worktree was created from, where its metadata knows one. */
      readonly sourceWorkspaceTitle?: string;
    };

/** The checkouts of one repository (wire contract, route 5). */
export type WorktreeListing =
  | { readonly isGit: false; readonly items: readonly [] }
  | {
      readonly isGit: true;
      /** Root of the main checkout; null unless it is authorised itself. */
      readonly mainRepoRoot: string | null;
      /**
       * The directory for managed worktrees of that main checkout, which may not be there yet; null unless the main checkout is authorised
       * itself. Not promised: that all lie in it, since a directory of that name may have belonged to another repository.
       */
      readonly root: string | null;
      /** The main checkout first, then in Git's order; only those that are authorised on their own. */
      readonly items: readonly WorktreeItem[];
    };

export interface Repositories {
  /** @throws as `Authority.authorize` | `git_root_not_authorized` for a nested directory | `git_failed` | `identity_changed` */
  detect(selector: string, signal?: AbortSignal): Promise<Detection>;
  /**
   * Prunable worktrees are left out, locked ones are not, nor is anything that is unauthorised, unsupported, or part of another
   * repository. A row that cannot be judged for reasons of the system fails the whole answer: it never looks like an absent one (R04).
   * @throws as `Authority.authorize` | `git_root_not_authorized` for a nested directory | `git_failed` | `identity_changed`
   */
  worktrees(selector: string, signal?: AbortSignal): Promise<WorktreeListing>;
}

export interface BranchNames {
  readonly branch: string | null;
  readonly defaultBranch: string | null;
}

export interface RepositoriesOptions {
  readonly authority: Authority;
  /** The first one is where new managed worktrees go. */
  readonly managedRoots: readonly ManagedRoot[];
  /** Runs under the capability's held directories, as does the other. */
  readonly readBranches: (capability: RepositoryCapability, signal?: AbortSignal) => Promise<BranchNames>;
  readonly readWorktrees: (
    capability: RepositoryCapability,
    signal?: AbortSignal,
  ) => Promise<ListedWorktrees>;
}

export function createRepositories(options: RepositoriesOptions): Repositories {
  const { authority, managedRoots, readBranches, readWorktrees } = options;
  return {
    async detect(selector, signal) {
      const look = async (capability: RepositoryCapability) => {
        const { branch, defaultBranch } = await readBranches(capability, signal);
        return { ...describe(capability), defaultBranch, branch };
      };
      return (await inRepositoryOrNull(authority, selector, look, signal)) ?? { isGit: false };
    },
    async worktrees(selector, signal) {
      const list = async (capability: RepositoryCapability) => {
        const listed = await readWorktrees(capability, signal);
        const items = await authorizeListed(authority, capability, listed, signal);
        const mainRepoRoot = items.find(({ isMain }) => isMain)?.path ?? null;
        const root = mainRepoRoot && managedDirectory(managedRoots, mainRepoRoot);
        return { isGit: true, mainRepoRoot, root, items } as const;
      };
      return (await inRepositoryOrNull(authority, selector, list, signal)) ?? { isGit: false, items: [] };
    },
  };
}

function describe(capability: RepositoryCapability) {
  const { mainRoot } = capability.repository;
  const managed = managedFactsOf(capability);
  const sourceTitle = managed?.sourceTitle ?? null;
  return {
    isGit: true,
    repoRoot: capability.root,
    mainRepoRoot: mainRoot,
    isLinkedWorktree: mainRoot !== capability.root,
    managed: managed !== null,
    ...(sourceTitle === null ? {} : { sourceWorkspaceTitle: sourceTitle }),
  } as const;
}

function managedDirectory([first]: readonly ManagedRoot[], mainRoot: string): string | null {
  if (first === undefined) return null;
  const hash = first.scheme === 'plugin' ? pluginHash(mainRoot) : authorityHash(mainRoot);
  return `${first.path}/${hash}`;
}
