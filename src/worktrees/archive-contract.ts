import type { Preflight } from './preflight.ts';

/** The end of managed worktrees. Linked worktrees that were not made here are never touched (R33). */
export interface WorktreeArchives {
  /**
   * Says what an archive would destroy, and changes nothing.
   * @throws as `Authority.authorizeRepository` | `worktree_not_managed` | `session_guard_unavailable` | `untrusted_repository_config` | `git_failed` |
   *   `identity_changed`
   */
  preflight(selector: string, signal?: AbortSignal): Promise<Preflight>;
}
