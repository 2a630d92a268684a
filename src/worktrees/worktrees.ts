import { familyKey } from '../actions/in-family.ts';
import { isAuthorityError } from '../errors/index.ts';
import type { CreateContext } from './create-context.ts';
import type { CreateWorktreeRequest } from './create-request.ts';
import { type CreatedWorktree, createWorktree } from './create-worktree.ts';
import { claimedMainOf, isOwnedBy, listHomes, type ManagedHome } from './managed-home.ts';
import {
  foreseeCreations,
  pendingIn,
  type RecoveredCreation,
  recoverCreations,
} from './recover-creations.ts';

/** Isolated checkouts of a repository, one for each task. */
export interface WorktreeCreation {
  /**
   * Makes a worktree and registers it. Many at once get different names. With `txId` a second request gives the result of the first, also after
   * a death in between.
   * @throws as `Authority.authorizeRepository` | `invalid_base_revision` | `invalid_branch_name` | `branch_not_found` | `branch_conflict` |
   *   `creation_names_used_up` | `creation_source_changed` | `source_conflict` | `transaction_retired` (details.result) |
   *   `transaction_pending` | `transaction_conflict` (details.reason) | `creation_unproven` | `managed_root_unusable` |
   *   `untrusted_repository_config` | `not_offered` | `no_space` | `git_failed` | as `MutationGate.run`. With a transaction, details.txId, and
   *   details.txState `absent` where nothing is left of it
   */
  create(selector: string, request: CreateWorktreeRequest, signal?: AbortSignal): Promise<CreatedWorktree>;
  /**
   * Finishes or takes back creations whose processes are dead; done at the start as well, and before each creation for its repository. A dry
   * run changes nothing, and goes by the journals alone.
   */
  recover(options?: { readonly dryRun?: boolean }): Promise<readonly RecoveredCreation[]>;
}

export function createWorktreeCreation(context: CreateContext): WorktreeCreation {
  return {
    create: (selector, request, signal) => createWorktree(context, selector, request, signal),
    recover: ({ dryRun = false } = {}) => recoverAll(context, dryRun),
  };
}

async function recoverAll(context: CreateContext, dryRun: boolean): Promise<readonly RecoveredCreation[]> {
  const root = context.managedRoots.find(({ scheme }) => scheme === 'authority');
  if (root === undefined) return [];
  const found: RecoveredCreation[] = [];
  const homes = await listHomes(context.native, root);
  try {
    for (const home of homes) {
      const pending = await pendingIn(home);
      if (pending.length === 0) continue;
      found.push(...(dryRun ? await foreseeCreations(home) : await recoverHome(context, home, pending)));
    }
  } finally {
    for (const home of homes) home[Symbol.dispose]();
  }
  return found;
}

async function recoverHome(
  context: CreateContext,
  home: ManagedHome,
  pending: readonly string[],
): Promise<readonly RecoveredCreation[]> {
  const leave = (reason: string) =>
    pending.map((txId) => ({ txId, path: null, action: 'left', reason }) as const);
  const claimed = await claimedMainOf(home);
  if (claimed === null) return leave('owner-record-invalid');
  try {
    await using main = await context.authority.authorizeRepository(claimed);
    return await context.gate.run([familyKey(main)], async () => {
      await main.assertCurrent();
      return (await isOwnedBy(home, main))
        ? recoverCreations(context, main, home)
        : leave('repo-owner-changed');
    });
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    return leave(error.code);
  }
}
