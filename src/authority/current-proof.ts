import { matchesStoredIdentity } from '../capability/identity.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { proveCheckout } from '../proof/prove-checkout.ts';
import { translateStorageFailure } from '../proof/storage-failure.ts';
import type { UnsupportedReason } from '../proof/unsupported.ts';
import type { WorkspaceRegistry, WorkspaceRow } from '../registry/workspace-registry.ts';
import type { ProofContext } from './proof-context.ts';
import { proveManagedOf } from './prove-git.ts';
import type { ProvenRepository } from './proven-repository.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';
import { findRow } from './registry-rows.ts';
import { notAuthorized } from './selector.ts';

/**
 * The re-proof of a capability in use (R06): the row that it stands on is still there and still means this directory, each name leads to
 * the held root and main checkout, and the checkout is unchanged; a changed one is proven anew on the same handles. A capability never
 * becomes one of another kind.
 * @throws `workspace_not_authorized` (row gone) | `identity_changed` (details.what) | `registry_unavailable` | `repository_unsupported` |
 *   `prover_unavailable` | `storage_failed` | `busy` | `aborted`
 */
export async function assertStillProven(
  registry: WorkspaceRegistry,
  context: () => Promise<ProofContext>,
  workspace: ProvenWorkspace,
  hasRow: boolean,
  signal?: AbortSignal,
): Promise<void> {
  if (signal?.aborted) throw new AuthorityError('aborted', { cause: signal.reason });
  const { repository } = workspace;
  const main = repository?.delegate?.workspace ?? null;
  if (hasRow) await assertRow(registry, workspace, 'root');
  if (main !== null && workspace.kind !== 'workspace') await assertRow(registry, main, 'main checkout');
  await assertInPlace(workspace, 'root');
  if (main !== null) await assertInPlace(main, 'main checkout');
  if (main?.repository != null) await assertCheckout(context, main.repository, signal);
  const sameKind = repository === null || (await assertCheckout(context, repository, signal));
  if (!sameKind && workspace.kind === 'managed-worktree') throw changed('git dir');
}

async function assertRow(
  registry: WorkspaceRegistry,
  workspace: ProvenWorkspace,
  what: 'root' | 'main checkout',
): Promise<void> {
  const answer = findRow(registry, workspace.held.path);
  const row = answer instanceof Promise ? await answer : answer;
  if (row === null) throw notAuthorized();
  if (!meansThis(row, workspace)) throw changed(what);
}

function meansThis(row: WorkspaceRow, { held }: ProvenWorkspace): boolean {
  if (row.allowMounts !== held.allowMounts) return false;
  return row.identity === null || matchesStoredIdentity(held.identity, row.identity);
}

async function assertInPlace({ held }: ProvenWorkspace, what: 'root' | 'main checkout'): Promise<void> {
  let here: boolean;
  try {
    here = held.directory.leadsHereCached(held.path) ?? (await held.directory.leadsHere(held.path));
  } catch (error) {
    throw translateStorageFailure(error);
  }
  if (!here) throw changed(what);
}

/** Refusals of what was proven that mean: something else stands there now. Others are about a setting, which tells more than a change. */
const anotherThing: ReadonlySet<unknown> = new Set<UnsupportedReason>([
  'worktree-not-listed',
  'admin-file-irregular',
  'admin-file-too-large',
  'foreign-owner',
  'git-entry-irregular',
  'git-directory-incomplete',
]);

/** Answers whether the metadata still says, or does not say, that it is managed. */
async function assertCheckout(
  context: () => Promise<ProofContext>,
  repository: ProvenRepository,
  signal?: AbortSignal,
): Promise<boolean> {
  if (repository.isOwnUnchanged() === true || (await repository.isOwnUnchangedWaiting())) return true;
  const { claim } = repository;
  const proof = await context();
  try {
    const checkout = await proveCheckout(claim, proof.prover, null, { signal });
    const managed = claim.kind === 'worktree' ? await proveManagedOf(proof, claim, null) : null;
    const sameKind = (managed?.facts == null) === (repository.managed?.facts == null);
    // The proof has its kind for good. Without the new facts, what makes another kind stays a change: the next authorisation proves anew.
    if (sameKind) {
      repository.managed = managed;
      repository.checkout = checkout;
    }
    return sameKind;
  } catch (error) {
    throw isAuthorityError(error) && anotherThing.has(error.details['reason'])
      ? changed('git dir', error)
      : error;
  }
}

function changed(what: 'root' | 'git dir' | 'main checkout', cause?: unknown): AuthorityError {
  return new AuthorityError('identity_changed', { details: { what }, cause });
}
