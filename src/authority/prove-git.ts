import type { DirectoryHandle } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { AuthorityError } from '../errors/index.ts';
import type { AdminFile } from '../proof/admin-file.ts';
import type { CheckoutClaim, HeldMain, WorktreeClaim, WorktreePointers } from '../proof/checkout-claim.ts';
import { establish, type FactLog } from '../proof/facts.ts';
import { type GitEntry, readGitEntry } from '../proof/git-entry.ts';
import type { GitPointer } from '../proof/git-pointer.ts';
import { proveCheckout } from '../proof/prove-checkout.ts';
import { type ManagedProof, proveManaged } from '../proof/prove-managed.ts';
import { listsRoot, readBackPointer } from '../proof/read-linked-worktree.ts';
import { unsupported } from '../proof/unsupported.ts';
import type { Delegate } from './delegate.ts';
import { openAdministration, openSeparateGitDirectory } from './open-git-directory.ts';
import type { ProofContext, Standing } from './proof-context.ts';
import type { ProvenRepositoryParts } from './proven-repository.ts';
import type { ProvenWorkspace } from './proven-workspace.ts';
import { notAuthorized } from './selector.ts';
import { hiding } from './unclaimed.ts';

/** The Git dir of a root, opened but not proven yet. Whoever holds it closes the directory and releases the delegate. */
export interface OpenedGit {
  readonly kind: CheckoutClaim['kind'];
  readonly directory: DirectoryHandle;
  /** Canonical path of a separate Git dir, name of the administrative directory of a worktree. */
  readonly place: string;
  readonly delegate: Delegate | null;
  /** See `WorktreeClaim`. */
  readonly pointers: WorktreePointers | null;
}

type WorktreePointer = Extract<GitPointer, { kind: 'worktree' }>;

export interface GitCandidate {
  readonly root: DirectoryHandle;
  readonly path: string;
  readonly standing: Standing;
}

/**
 * Opens what `.git` leads to; null where there is none. The file of a worktree only says which main checkout to ask: that one is proven
 * first, and everything after it is opened beneath its handles (R31, R32). Until it has confirmed that it lists the root, every refusal
 * of a root without a row is an unclaimed one.
 * @throws `repository_unsupported` | `workspace_not_authorized` | `registry_unavailable` | `prover_unavailable` | `busy` | ...
 */
export async function openGit(
  context: ProofContext,
  candidate: GitCandidate,
  log: FactLog,
  signal?: AbortSignal,
): Promise<OpenedGit | null> {
  const { root, path, standing } = candidate;
  const entry = await hiding(standing, () => readGitEntry(root, path, context.owner, log));
  if (standing === 'main' && entry.kind !== 'directory') throw unsupported('main-checkout-unknown');
  if (standing === 'unregistered') establishWorktree(entry, log);
  if (entry.kind === 'none') return null;
  if (entry.kind === 'directory') {
    return { kind: 'main', directory: entry.directory, place: '.git', delegate: null, pointers: null };
  }
  const { pointer } = entry;
  if (pointer.kind === 'submodule') throw unsupported('submodule');
  if (pointer.kind === 'other-worktree') throw unsupported('main-checkout-unknown');
  if (pointer.kind === 'separate-git-dir') {
    const directory = await openSeparateGitDirectory(context.native, pointer.gitDirectory);
    const place = pointer.gitDirectory;
    return { kind: 'separate-git-dir', directory, place, delegate: null, pointers: null };
  }
  return openWorktree(context, candidate, { pointer, gitFile: entry.file }, log, signal);
}

function establishWorktree(entry: GitEntry, log: FactLog): void {
  const seen = entry.kind === 'file' ? entry.pointer.kind : entry.kind;
  if (seen !== 'worktree' && entry.kind === 'directory') entry.directory.close();
  establish(
    log,
    { fact: 'kind without a row', expected: 'worktree', seen },
    seen === 'worktree',
    notAuthorized,
  );
}

async function openWorktree(
  context: ProofContext,
  { path, standing }: GitCandidate,
  { pointer, gitFile }: { readonly pointer: WorktreePointer; readonly gitFile: AdminFile },
  log: FactLog,
  signal?: AbortSignal,
): Promise<OpenedGit> {
  const { mainRoot, name } = pointer;
  const row = await context.mains.findRow(mainRoot);
  const seen = row === null ? 'none' : row.id;
  const needed = standing === 'unregistered';
  const fact = { fact: 'row of the main checkout', expected: needed ? 'one' : 'any', seen };
  establish(log, fact, row !== null || !needed, notAuthorized);
  if (needed) await hiding(standing, () => establishClaim(context, path, pointer, log));
  const delegate = await hiding(standing, () => context.mains.obtain(mainRoot, row, signal));
  let directory: DirectoryHandle | null = null;
  try {
    log?.push({ fact: 'main checkout', expected: 'proven', seen: mainRoot, holds: true });
    const main = heldMainOf(delegate.workspace);
    directory = await hiding(standing, () => openAdministration(main.gitDirectory, name));
    const claim = {
      kind: 'worktree',
      path,
      gitDirectory: directory,
      owner: context.owner,
      name,
      main,
    } as const;
    const backPointer = await hiding(standing, () => readBackPointer(claim, log));
    // An explanation tells of every look that the proof takes.
    const pointers = log === null ? { gitFile, backPointer } : null;
    const opened = { kind: 'worktree', directory, place: name, delegate, pointers } as const;
    directory = null;
    return opened;
  } catch (error) {
    delegate.release();
    throw error;
  } finally {
    directory?.close();
  }
}

/**
 * Looks, by name, whether the main checkout lists the root, before a prover is asked about it for somebody who may have made the pointer
 * up. It proves nothing: the same file is read again beneath the held main checkout.
 */
async function establishClaim(
  { top, owner }: ProofContext,
  path: string,
  { mainRoot, name }: WorktreePointer,
  log: FactLog,
): Promise<void> {
  if (await listsRoot(top, { mainRoot, name, path, owner })) return;
  log?.push({ fact: 'worktree list', expected: 'this root', seen: 'another or none', holds: false });
  throw notAuthorized();
}

/** The main checkout as the proofs of its worktrees see it. */
function heldMainOf(workspace: ProvenWorkspace): HeldMain {
  const { held, repository } = workspace;
  if (repository === null) throw new AuthorityError('internal_error');
  return {
    root: held.directory,
    path: held.path,
    gitDirectory: repository.gitDirectory,
    get checkout() {
      return repository.checkout;
    },
  };
}

/**
 * Proves the checkout of a held root, and for a worktree of a registered main checkout whether it is managed. Null without Git. The
 * directory and the delegate of `git` pass to the result when it is made. `meanwhile` as in `proveCheckout`.
 * @throws as `proveCheckout` | as `proveManaged`
 */
export async function proveGit(
  context: ProofContext,
  held: HeldRoot,
  git: OpenedGit | null,
  log: FactLog,
  meanwhile: () => Promise<unknown>,
  signal?: AbortSignal,
): Promise<ProvenRepositoryParts | null> {
  if (git === null) return null;
  const claim = claimOf(context, held, git);
  const { delegate } = git;
  let managed: ManagedProof | null = null;
  const judgeManaged = async () => {
    if (claim.kind === 'worktree') managed = await proveManagedOf(context, claim, log);
  };
  // An explanation goes step by step.
  const aside = log === null ? () => meanwhile().then(judgeManaged) : meanwhile;
  const checkout = await proveCheckout(claim, context.prover, log, { meanwhile: aside, signal });
  if (log !== null) await judgeManaged();
  return { claim, checkout, delegate, managed };
}

export function proveManagedOf(
  context: ProofContext,
  claim: WorktreeClaim,
  log: FactLog,
): Promise<ManagedProof> {
  return proveManaged(claim, context.top, context.managedRoots ?? [], log);
}

function claimOf({ owner, top }: ProofContext, held: HeldRoot, git: OpenedGit): CheckoutClaim {
  const claim = { root: held.directory, path: held.path, gitDirectory: git.directory, owner };
  if (git.kind === 'main') return { kind: 'main', ...claim };
  if (git.kind === 'separate-git-dir') return { kind: 'separate-git-dir', ...claim, gitPath: git.place, top };
  if (git.delegate === null) throw new AuthorityError('internal_error');
  const main = heldMainOf(git.delegate.workspace);
  return { kind: 'worktree', ...claim, name: git.place, main, pointers: git.pointers };
}
