import { matchesStoredIdentity } from '../capability/identity.ts';
import { AuthorityError } from '../errors/index.ts';
import { proveMainCheckout } from '../proof/prove-main-checkout.ts';
import { translateStorageFailure } from '../proof/storage-failure.ts';
import type { WorkspaceRegistry, WorkspaceRow } from '../registry/workspace-registry.ts';
import type { ProofContext } from './prove-workspace.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';
import { findRow } from './registry-rows.ts';
import { notAuthorized } from './selector.ts';

/**
 * The re-proof of a capability in use (R06): the row is still there and still means this directory, the root's name leads to the held
 * root, and for a repository `.git` leads to the held Git directory with an unchanged configuration; a changed one is proven anew.
 * @throws `workspace_not_authorized` (row gone) | `identity_changed` (details.what) | `registry_unavailable` | `repository_unsupported` |
 *   `prover_unavailable` | `storage_failed` | `busy` | `aborted`
 */
export async function assertStillProven(
  registry: WorkspaceRegistry,
  context: () => Promise<ProofContext>,
  workspace: ProvenWorkspace,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted) throw new AuthorityError('aborted', { cause: signal.reason });
  const { held } = workspace;
  const answer = findRow(registry, held.path);
  const row = answer instanceof Promise ? await answer : answer;
  if (row === null) throw notAuthorized();
  if (!meansThis(row, workspace)) throw rootChanged();
  const inPlace = held.directory.leadsHereCached(held.path) ?? (await leadsHere(workspace));
  if (!inPlace) throw rootChanged();
  if (workspace.checkout === null || workspace.checkout.isUnchanged() === true) return;
  if (await workspace.checkout.isUnchangedWaiting()) return;
  await proveRepositoryAnew(await context(), workspace, signal);
}

function meansThis(row: WorkspaceRow, { held }: ProvenWorkspace): boolean {
  if (row.allowMounts !== held.allowMounts) return false;
  return row.identity === null || matchesStoredIdentity(held.identity, row.identity);
}

async function leadsHere({ held }: ProvenWorkspace): Promise<boolean> {
  try {
    return await held.directory.leadsHere(held.path);
  } catch (error) {
    throw translateStorageFailure(error);
  }
}

async function proveRepositoryAnew(
  context: ProofContext,
  workspace: ProvenWorkspace,
  signal?: AbortSignal,
): Promise<void> {
  const { held, gitDirectory } = workspace;
  if (gitDirectory === null) throw new AuthorityError('internal_error');
  const claim = { root: held.directory, path: held.path, gitDirectory, owner: context.owner };
  workspace.checkout = await proveMainCheckout(claim, context.prover, null, signal);
}

function rootChanged(): AuthorityError {
  return new AuthorityError('identity_changed', { details: { what: 'root' } });
}
