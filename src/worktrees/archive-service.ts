import { familyKey } from '../actions/in-family.ts';
import type { ArchiveContext } from './archive-context.ts';
import type { ArchivedWorktree, WorktreeArchives } from './archive-contract.ts';
import { readFacts } from './archive-facts.ts';
import { recoverWorktrees } from './archive-recovery.ts';
import { archiveWorktree } from './archive-worktree.ts';
import { finalizeDeferred, listDeferred, listWorktreeWorkspaces } from './deferred-workspaces.ts';
import { preflight } from './preflight.ts';
import { restoreWorktree } from './restore-worktree.ts';

export function createWorktreeArchives(context: ArchiveContext): WorktreeArchives {
  return {
    preflight: (selector, signal) => preflight(context, selector, signal),
    archive: (selector, request, signal) => archiveWorktree(context, selector, request, signal),
    restore: (selector, archive, signal) => restoreWorktree(context, selector, archive, signal),
    deferred: (selector, signal) => listDeferred(context, selector, signal),
    finalize: (selector, token, signal) => finalizeDeferred(context, selector, token, signal),
    workspaces: () => listWorktreeWorkspaces(context),
    recover: (options) => recoverWorktrees(context, options),
    async archived(selector, signal) {
      await using capability = await context.authority.authorizeRepository(selector, signal);
      const all = await context.archives.list(familyKey(capability));
      const found: ArchivedWorktree[] = [];
      for (const { id, kind, facts, createdAt, keptUntil, bytes, finished } of all) {
        const known = kind === 'worktree' && finished ? readFacts(facts) : null;
        if (known === null) continue;
        const { path, branch, head, files } = known;
        found.push({ archive: id, path, branch, head, files, archivedAt: createdAt, keptUntil, bytes });
      }
      await capability.assertCurrent(signal);
      return found;
    },
  };
}
