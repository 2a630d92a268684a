import { sameLiveIdentity } from '../capability/identity.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, type ErrorCode, isAuthorityError } from '../errors/index.ts';
import { translateStorageFailure } from '../proof/storage-failure.ts';
import type { Authority } from './authority.ts';
import { inTurns } from './in-turns.ts';
import { managedFactsOf } from './managed-facts.ts';

/** One checkout of a repository that is authorised on its own. */
export interface WorktreeItem {
  /** Canonical path; a selector. */
  readonly path: string;
  /** Short name of the branch that is checked out, born or not; null when HEAD is detached or points outside refs/heads. */
  readonly branch: string | null;
  /** Full object name; null on an unborn branch, and where the branch was switched to while the list was made. */
  readonly head: string | null;
  readonly detached: boolean;
  /** A bare repository has no checkout that could be selected. */
  readonly bare: false;
  /** Whether it is proven to be a managed worktree. */
  readonly managed: boolean;
  /** The branch that a managed worktree was created from, by its metadata; null where unknown. */
  readonly baseRefName: string | null;
  /** Last change of the directory, in milliseconds since 1970: the name is that of the wire contract. */
  readonly createdAt: number;
  /** Whether it is the one that was asked about. */
  readonly current: boolean;
  readonly isMain: boolean;
}

/** What a worktree list names, before anything of it is authorised. */
export interface ListedWorktrees {
  /** Canonical paths, or what claims to be some. */
  readonly linked: readonly string[];
  /** Null when HEAD is gone or malformed. */
  headOf(capability: RepositoryCapability): Promise<{
    readonly branch: string | null;
    readonly detached: boolean;
    readonly oid: string | null;
  } | null>;
}

/** Proofs wait for Git most of the time, and Git has few places. */
const proofsAtOnce = 4;

/** What says something about one row. Anything else says that it could not be judged, and then nobody knows the list (R04). */
const refusals: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'workspace_not_authorized',
  'git_root_not_authorized',
  'git_repository_required',
  'repository_unsupported',
  'repository_identity_changed',
]);

/**
 * The main checkout and those linked worktrees that are authorised on their own and belong to the same repository: a list can be made to
 * name the checkouts of another one.
 * @throws as `Authority.authorize` where a row cannot be judged
 */
export async function authorizeListed(
  authority: Authority,
  selected: RepositoryCapability,
  listed: ListedWorktrees,
  signal?: AbortSignal,
): Promise<readonly WorktreeItem[]> {
  const paths = [...new Set([selected.repository.mainRoot, ...listed.linked])];
  const items = await inTurns(paths, proofsAtOnce, async (path) => {
    const capability = await authorizedOrNull(authority, path, signal);
    if (capability === null) return null;
    try {
      return isSameRepository(capability, selected) ? await describe(capability, selected, listed) : null;
    } finally {
      await capability[Symbol.asyncDispose]();
    }
  });
  // Two spellings of a registered path mean one checkout.
  return [...new Map(items.flatMap((item) => (item === null ? [] : [[item.path, item]]))).values()];
}

async function authorizedOrNull(
  authority: Authority,
  path: string,
  signal?: AbortSignal,
): Promise<RepositoryCapability | null> {
  try {
    return await authority.authorizeRepository(path, signal);
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    if (refusals.has(error.code)) return null;
    // Nothing that the caller selected has changed: the list can be asked for again.
    throw error.code === 'identity_changed' ? new AuthorityError('busy', { cause: error }) : error;
  }
}

function isSameRepository(left: RepositoryCapability, right: RepositoryCapability): boolean {
  return sameLiveIdentity(
    left.repository.commonDirectory.identity(),
    right.repository.commonDirectory.identity(),
  );
}

/** Null when it ceased to be a checkout after it was proven. */
async function describe(
  capability: RepositoryCapability,
  selected: RepositoryCapability,
  listed: ListedWorktrees,
): Promise<WorktreeItem | null> {
  const head = await listed.headOf(capability);
  if (head === null) return null;
  const { root, repository } = capability;
  const managed = managedFactsOf(capability);
  return {
    path: root,
    branch: head.branch,
    head: head.oid,
    detached: head.detached,
    bare: false,
    managed: managed !== null,
    baseRefName: managed?.baseName ?? null,
    createdAt: await modifiedMsOf(capability),
    current: root === selected.root,
    isMain: root === repository.mainRoot,
  };
}

async function modifiedMsOf({ held }: RepositoryCapability): Promise<number> {
  try {
    return Number((await held.directory.stat('.', null)).modifiedNs) / 1_000_000;
  } catch (error) {
    throw translateStorageFailure(error);
  }
}
