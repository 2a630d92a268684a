import type { DirectoryHandle } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { matchesStoredIdentity, sameLiveIdentity, toStoredIdentity } from '../capability/identity.ts';
import { openHeldRoot } from '../capability/open-held-root.ts';
import { codeOf } from '../capability/refusal.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { establish, type FactLog } from '../proof/facts.ts';
import { gitConfinement } from '../proof/git-confinement.ts';
import { openGitDirectory } from '../proof/git-entry.ts';
import { proveMainCheckout } from '../proof/prove-main-checkout.ts';
import { translateStorageFailure } from '../proof/storage-failure.ts';
import { type Ancestor, type Surroundings, surveySurroundings } from '../proof/surroundings.ts';
import type { WorkspacePins, WorkspaceRow } from '../registry/workspace-registry.ts';
import type { AuthorityOptions, ProtectedDirectory } from './ports.ts';
import { ProvenWorkspace } from './proven-workspace.ts';
import { notAuthorized } from './selector.ts';

export interface ProofContext extends Omit<AuthorityOptions, 'registry' | 'capacity'> {
  /** `/`, held open with mounts allowed. */
  readonly top: DirectoryHandle;
  /** The effective user of this process. */
  readonly owner: number;
}

/** The part of a row that a proof looks at; a directory that is about to be registered has one without identities. */
export type ClaimedRow = Pick<WorkspaceRow, 'path' | 'identity' | 'gitDirIdentity' | 'allowMounts'>;

/**
 * From a row to a held and proven workspace, in the order: the root opened without links, its pinned identity, what it is and lies
 * in, its `.git`, the main checkout. The caller owns the result.
 * @throws `workspace_not_authorized` | `repository_unsupported` | `repository_identity_changed` | `prover_unavailable` | `busy` |
 *   `storage_failed` | `state_unavailable` | `kernel_capability_missing` | `too_many_open_files` | `aborted`
 */
export async function proveWorkspace(
  context: ProofContext,
  row: ClaimedRow,
  log: FactLog,
  signal?: AbortSignal,
): Promise<ProvenWorkspace> {
  const root = await openRoot(context, row, log);
  let gitDirectory: DirectoryHandle | null = null;
  let held: HeldRoot | null = null;
  try {
    const pins = await pinnedIdentities(context, row);
    establishRootIdentity(root, pins, log);
    const surroundings = await surveySurroundings(context.top, row.path, log);
    establishPlace(context.protectedDirectories, surroundings, root, log);
    gitDirectory = await openGitDirectory(root, context.owner, log);
    held = await hold(context, row, root, gitDirectory);
    const claim = { root: held.directory, path: row.path, owner: context.owner };
    const checkout =
      gitDirectory === null
        ? null
        : await proveMainCheckout({ ...claim, gitDirectory }, context.prover, log, signal);
    establishGitIdentity(gitDirectory, pins, log);
    await assertInPlace(held, log);
    if (pins === null && context.pins !== undefined) await pinFirstSight(context.pins, row, held, log);
    const workspace = new ProvenWorkspace({ held, surroundings, gitDirectory, checkout });
    held = null;
    gitDirectory = null;
    return workspace;
  } catch (error) {
    throw atSelection(error);
  } finally {
    root.close();
    gitDirectory?.close();
    held?.release();
  }
}

/** How the open fails when nothing, or something else than a directory, stands under the registered name (R05). */
const notInPlace = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'EXDEV', 'EACCES', 'ENAMETOOLONG', 'EINVAL']);

async function openRoot(context: ProofContext, row: ClaimedRow, log: FactLog): Promise<DirectoryHandle> {
  const fact = { fact: 'root', expected: 'a directory, reached without links' };
  try {
    const root = await context.native.openRoot(row.path, { allowMounts: row.allowMounts });
    log?.push({ ...fact, seen: 'a directory', holds: true });
    return root;
  } catch (error) {
    const code = codeOf(error) ?? '';
    log?.push({ ...fact, seen: code, holds: false });
    throw notInPlace.has(code) ? notAuthorized() : translateStorageFailure(error);
  }
}

/** Null where nothing is pinned yet and a pin may be made. */
async function pinnedIdentities(context: ProofContext, row: ClaimedRow): Promise<WorkspacePins | null> {
  if (row.identity !== null) return { identity: row.identity, gitDirIdentity: row.gitDirIdentity };
  return (await context.pins?.find(row.path)) ?? null;
}

function establishRootIdentity(root: DirectoryHandle, pins: WorkspacePins | null, log: FactLog): void {
  const live = root.identity();
  const seen = pins === null ? 'nothing pinned yet' : JSON.stringify(toStoredIdentity(live));
  establish(
    log,
    { fact: 'identity', expected: pins === null ? 'any' : JSON.stringify(pins.identity), seen },
    pins === null || matchesStoredIdentity(live, pins.identity),
    notAuthorized,
  );
}

function establishPlace(
  protectedDirectories: readonly ProtectedDirectory[],
  surroundings: Surroundings,
  root: DirectoryHandle,
  log: FactLog,
): void {
  const { device, inode } = root.identity();
  const same = surroundings.root.device === device && surroundings.root.inode === inode;
  establish(
    log,
    { fact: 'root among its surroundings', expected: 'the opened directory', seen: same ? 'so' : 'another' },
    same,
    notAuthorized,
  );
  const places = [surroundings.root, ...surroundings.ancestors];
  const closed = protectedDirectories.some((directory) =>
    places.some((place) => isInside(directory, place, surroundings.root)),
  );
  establish(
    log,
    { fact: 'protected directories', expected: 'root outside', seen: closed ? 'inside' : 'outside' },
    !closed,
    notAuthorized,
  );
}

function isInside(directory: ProtectedDirectory, place: Ancestor, root: Ancestor): boolean {
  if (place.device !== directory.device || place.inode !== directory.inode) return false;
  const below = root.path.slice(place.path.length).split('/');
  return !directory.excepts(below.filter((component) => component !== ''));
}

/** Opens the root once more, now with everything that is closed below it. */
async function hold(
  context: ProofContext,
  row: ClaimedRow,
  root: DirectoryHandle,
  gitDirectory: DirectoryHandle | null,
): Promise<HeldRoot> {
  const git = gitDirectory === null ? [] : [gitDirectory.identity()];
  const closed = [...context.protectedDirectories, ...git].map(({ device, inode }) => ({ device, inode }));
  let held: HeldRoot;
  try {
    const options = { confinement: gitConfinement(closed), allowMounts: row.allowMounts };
    held = await openHeldRoot(context.native, row.path, options);
  } catch (error) {
    const code = codeOf(error) ?? '';
    throw notInPlace.has(code) ? notAuthorized() : translateStorageFailure(error);
  }
  if (sameLiveIdentity(held.identity, root.identity())) return held;
  held.release();
  throw notAuthorized();
}

function establishGitIdentity(
  gitDirectory: DirectoryHandle | null,
  pins: WorkspacePins | null,
  log: FactLog,
): void {
  const pinned = pins?.gitDirIdentity ?? null;
  if (pinned === null) return;
  const same = gitDirectory !== null && matchesStoredIdentity(gitDirectory.identity(), pinned);
  establish(
    log,
    { fact: 'git dir identity', expected: JSON.stringify(pinned), seen: same ? 'the same' : 'another' },
    same,
    () => new AuthorityError('repository_identity_changed'),
  );
}

async function assertInPlace(held: HeldRoot, log: FactLog): Promise<void> {
  const here = await held.isInPlace();
  establish(
    log,
    { fact: 'root at the end', expected: 'in place', seen: here ? 'in place' : 'moved' },
    here,
    notAuthorized,
  );
}

async function pinFirstSight(
  pins: NonNullable<AuthorityOptions['pins']>,
  row: ClaimedRow,
  held: HeldRoot,
  log: FactLog,
): Promise<void> {
  const sight = { identity: toStoredIdentity(held.identity), gitDirIdentity: null };
  const { identity } = await pins.pin(row.path, sight);
  establish(
    log,
    { fact: 'pinned identity', expected: JSON.stringify(sight.identity), seen: JSON.stringify(identity) },
    matchesStoredIdentity(held.identity, identity),
    notAuthorized,
  );
}

/** A root that moved while it was proven gives no authority; a Git directory that did may have come to rest (decisions 1.6). */
function atSelection(error: unknown): unknown {
  if (!isAuthorityError(error) || error.code !== 'identity_changed') {
    return isAuthorityError(error) ? error : translateStorageFailure(error);
  }
  return error.details['what'] === 'root' ? notAuthorized() : new AuthorityError('busy', { cause: error });
}
