import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import type { Authority } from './authority.ts';

/** Facts that existing clients ask of a selector (wire contract, route 1). */
export type RepositoryDetection =
  | { readonly isGit: false }
  | {
      readonly isGit: true;
      readonly repoRoot: string;
      readonly mainRepoRoot: string;
      readonly isLinkedWorktree: boolean;
      readonly managed: boolean;
      readonly defaultBranch: string | null;
      readonly branch: string | null;
    };

export interface RepositoryDetector {
  /** @throws as `Authority.authorize` | `git_root_not_authorized` for a nested directory | `git_failed` */
  detect(selector: string, signal?: AbortSignal): Promise<RepositoryDetection>;
}

export interface BranchNames {
  readonly branch: string | null;
  readonly defaultBranch: string | null;
}

/** Answers /detect. `readBranches` runs under the capability's held directories. */
export function createRepositories(
  authority: Authority,
  readBranches: (capability: RepositoryCapability, signal?: AbortSignal) => Promise<BranchNames>,
): RepositoryDetector {
  return {
    async detect(selector: string, signal?: AbortSignal): Promise<RepositoryDetection> {
      const capability = await repositoryOrNull(authority, selector, signal);
      if (capability === null) return { isGit: false };
      try {
        const { branch, defaultBranch } = await readBranches(capability, signal);
        const { mainRoot } = capability.repository;
        return {
          isGit: true,
          repoRoot: capability.root,
          mainRepoRoot: mainRoot,
          isLinkedWorktree: mainRoot !== capability.root,
          managed: capability.kind === 'managed-worktree',
          defaultBranch,
          branch,
        };
      } finally {
        await capability[Symbol.asyncDispose]();
      }
    },
  };
}

async function repositoryOrNull(
  authority: Authority,
  selector: string,
  signal?: AbortSignal,
): Promise<RepositoryCapability | null> {
  try {
    return await authority.authorizeRepository(selector, signal);
  } catch (error) {
    if (error instanceof AuthorityError && error.code === 'git_repository_required') return null;
    throw error;
  }
}
