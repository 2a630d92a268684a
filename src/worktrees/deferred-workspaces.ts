import { familyKey } from '../actions/in-family.ts';
import { codeOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { findNamespace } from '../proof/managed-namespace.ts';
import type { ArchiveContext } from './archive-context.ts';
import type { DeferredWorkspace, FinalizedWorkspace, WorktreeWorkspace } from './archive-contract.ts';
import { readListed } from './listed-worktrees.ts';
import { openTombstones, type Tombstone } from './tombstones.ts';

/** See `WorktreeArchives.deferred`. */
export async function listDeferred(
  context: ArchiveContext,
  selector: string,
  signal?: AbortSignal,
): Promise<readonly DeferredWorkspace[]> {
  await using main = await context.authority.authorizeRepository(selector, signal);
  assertMain(main, 'deferred recovery requires the registered main checkout');
  using tombstones = await openTombstones(context);
  const listed = await readListed(main, context.git);
  const found: DeferredWorkspace[] = [];
  for (const id of await tombstones.ids()) {
    const tombstone = await tombstones.read(id);
    if (tombstone === null || !(await isHonoured(context, main, listed, tombstone))) continue;
    const { workspaceId, path, createdAt } = tombstone;
    found.push({ token: id, workspaceId, path, sessionIds: [], createdAt });
  }
  await main.assertCurrent(signal);
  return found.toSorted((one, other) => (one.createdAt < other.createdAt ? -1 : 1));
}

/** See `WorktreeArchives.finalize`. */
export async function finalizeDeferred(
  context: ArchiveContext,
  selector: string,
  token: string,
  signal?: AbortSignal,
): Promise<FinalizedWorkspace> {
  await using main = await context.authority.authorizeRepository(selector, signal);
  assertMain(main, 'finalization requires the registered main checkout');
  const { remove } = context.workspaces;
  if (remove === null) throw new AuthorityError('registry_unavailable', registryText);
  return await context.gate.run(
    [familyKey(main)],
    async () => {
      await main.assertCurrent(signal);
      using tombstones = await openTombstones(context);
      const tombstone = await tombstones.read(token);
      const listed = await readListed(main, context.git);
      if (tombstone === null || !(await isHonoured(context, main, listed, tombstone)))
        throw new AuthorityError('deferred_workspace_unavailable');
      const { workspaceId, path } = tombstone;
      const removed = await remove({ id: workspaceId, path }).catch((error: unknown) => {
        if (!isAuthorityError(error) || error.code !== 'registry_unavailable') throw error;
        throw new AuthorityError('registry_unavailable', { ...registryText, cause: error });
      });
      await tombstones.remove(token);
      return removed
        ? { workspaceId, workspaceDeleted: workspaceId }
        : { workspaceId, workspaceAlreadyAbsent: workspaceId };
    },
    signal === undefined ? {} : { signal },
  );
}

/** See `WorktreeArchives.workspaces`. */
export async function listWorktreeWorkspaces({
  workspaces,
  managedRoots,
}: ArchiveContext): Promise<readonly WorktreeWorkspace[]> {
  const rows = await workspaces.list();
  return rows.flatMap(({ id, path }) =>
    findNamespace(managedRoots, path) === null ? [] : [{ workspaceId: id, path }],
  );
}

const registryText = { legacy: 'workspace registry unavailable' } as const;

function assertMain({ kind, root, repository }: RepositoryCapability, legacy: string): void {
  if (kind !== 'workspace' || root !== repository.mainRoot)
    throw new AuthorityError('workspace_not_authorized', { legacy });
}

/** Only of this repository, and only while nothing stands there and Git knows nothing of it. */
async function isHonoured(
  context: ArchiveContext,
  main: RepositoryCapability,
  listed: Awaited<ReturnType<typeof readListed>>,
  { mainRoot, path }: Tombstone,
): Promise<boolean> {
  return mainRoot === main.root && !listed.some((row) => row.path === path) && (await isGone(context, path));
}

async function isGone({ openRoot }: ArchiveContext, path: string): Promise<boolean> {
  try {
    (await openRoot(path)).close();
    return false;
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}
