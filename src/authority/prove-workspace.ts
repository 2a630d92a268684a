import type { CapabilityKind } from '../capability/file-capability.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { matchesStoredIdentity, type StoredIdentity, toStoredIdentity } from '../capability/identity.ts';
import { holdRoot } from '../capability/open-held-root.ts';
import { codeOf } from '../capability/refusal.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { establish, type FactLog } from '../proof/facts.ts';
import { gitConfinement } from '../proof/git-confinement.ts';
import { translateStorageFailure } from '../proof/storage-failure.ts';
import { type Ancestor, type Surroundings, surveySurroundings } from '../proof/surroundings.ts';
import type { WorkspacePins } from '../registry/workspace-registry.ts';
import { isNotInPlace } from './not-in-place.ts';
import type { AuthorityOptions, ProtectedDirectory } from './ports.ts';
import type { ClaimedRow, ProofContext, Standing } from './proof-context.ts';
import { type OpenedGit, openGit, proveGit } from './prove-git.ts';
import { ProvenRepository, type ProvenRepositoryParts } from './proven-repository.ts';
import { ProvenWorkspace } from './proven-workspace.ts';
import { notAuthorized } from './selector.ts';
import { hiding, isUnclaimed } from './unclaimed.ts';

/**
 * From a path to a held and proven root, in the order: the root opened without links, its pinned identity, what it is and lies in, its
 * `.git`, the checkout. The caller owns the result.
 * @throws `workspace_not_authorized` | `repository_unsupported` | `repository_identity_changed` | `identity_changed` (details.what: not
 *   root) | `registry_unavailable` |
 *   `prover_unavailable` | `busy` | `storage_failed` | `state_unavailable` | `kernel_capability_missing` | `too_many_open_files` | `aborted`
 */
export async function proveWorkspace(
  context: ProofContext,
  row: ClaimedRow,
  standing: Standing,
  log: FactLog,
  signal?: AbortSignal,
): Promise<ProvenWorkspace> {
  const root = await openRoot(context, row, log);
  let opened: DirectoryHandle | null = root;
  let git: OpenedGit | null = null;
  let held: HeldRoot | null = null;
  try {
    const pins = await pinnedIdentities(context, row);
    establishRootIdentity(root, pins, log);
    const place = new PlaceProof(() => provePlace(context, row.path, standing, root, log));
    // The prover of a checkout takes longer than all the rest, so the place is looked at meanwhile; an explanation goes step by step.
    if (log !== null) await place.prove();
    const candidate = { root, path: row.path, standing };
    git = await place.beforeFailureOf(openGit(context, candidate, log, signal));
    held = hold(context, row, root, git);
    opened = null;
    const proven = await place.beforeFailureOf(
      proveGit(context, held, git, log, () => place.prove(), signal),
    );
    const surroundings = await place.prove();
    establishGitIdentity(git, pins, log);
    await assertInPlace(held, log);
    if (pins === null && context.pins !== undefined) await pinFirstSight(context.pins, row, held, git, log);
    const kind = kindOf(standing, proven);
    const repository = proven === null ? null : new ProvenRepository(proven);
    const workspace = new ProvenWorkspace({ kind, held, surroundings, repository });
    held = null;
    git = null;
    return workspace;
  } catch (error) {
    throw refusalAt(standing, error);
  } finally {
    opened?.close();
    git?.directory.close();
    git?.delegate?.release();
    held?.release();
  }
}

/** What the place of a root forbids is told before anything that stands in it, whichever was found out first. */
class PlaceProof {
  readonly #look: () => Promise<Surroundings>;
  #surroundings: Promise<Surroundings> | null = null;

  constructor(look: () => Promise<Surroundings>) {
    this.#look = look;
  }

  /** Looks once. */
  prove(): Promise<Surroundings> {
    this.#surroundings ??= this.#look();
    return this.#surroundings;
  }

  async beforeFailureOf<Result>(step: Promise<Result>): Promise<Result> {
    try {
      return await step;
    } catch (error) {
      await this.prove();
      throw error;
    }
  }
}

async function provePlace(
  { top, protectedDirectories }: ProofContext,
  path: string,
  standing: Standing,
  root: DirectoryHandle,
  log: FactLog,
): Promise<Surroundings> {
  const surroundings = await hiding(standing, () => surveySurroundings(top, path, log));
  establishPlace(protectedDirectories, surroundings, root, log);
  return surroundings;
}

/** Managed facts make a managed worktree, with or without a row of its own; a row alone makes a workspace (R02). */
function kindOf(standing: Standing, proven: ProvenRepositoryParts | null): CapabilityKind {
  const managed = proven?.managed?.facts != null && proven.delegate?.row != null;
  if (managed) return 'managed-worktree';
  return standing === 'unregistered' ? 'linked-worktree' : 'workspace';
}

/** A name that leads to no directory of its own gives no authority (R05). */
async function openRoot(context: ProofContext, row: ClaimedRow, log: FactLog): Promise<DirectoryHandle> {
  const fact = { fact: 'root', expected: 'a directory, reached without links' };
  try {
    const root = await context.native.openRoot(row.path, { allowMounts: row.allowMounts });
    log?.push({ ...fact, seen: 'a directory', holds: true });
    return root;
  } catch (error) {
    const code = codeOf(error) ?? '';
    log?.push({ ...fact, seen: code, holds: false });
    throw isNotInPlace(code) ? notAuthorized() : translateStorageFailure(error);
  }
}

/** Null where nothing is pinned yet and a pin may be made. */
async function pinnedIdentities(context: ProofContext, row: ClaimedRow): Promise<WorkspacePins | null> {
  if (row.identity !== null) return { identity: row.identity, gitDirIdentity: row.gitDirIdentity };
  return (await context.pins?.find(row.path)) ?? null;
}

function establishRootIdentity(root: DirectoryHandle, pins: WorkspacePins | null, log: FactLog): void {
  if (pins === null) {
    log?.push({ fact: 'identity', expected: 'any', seen: 'nothing pinned yet', holds: true });
    return;
  }
  const live = root.identity();
  const expected = JSON.stringify(pins.identity);
  const fact = { fact: 'identity', expected, seen: JSON.stringify(toStoredIdentity(live)) };
  establish(log, fact, matchesStoredIdentity(live, pins.identity), notAuthorized);
}

function establishPlace(
  protectedDirectories: readonly ProtectedDirectory[],
  surroundings: Surroundings,
  root: DirectoryHandle,
  log: FactLog,
): void {
  const { device, inode } = root.place();
  const same = surroundings.root.device === device && surroundings.root.inode === inode;
  establish(
    log,
    { fact: 'root among its surroundings', expected: 'the opened directory', seen: same ? 'so' : 'another' },
    same,
    rootMoved,
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

/** Makes the opened root a held one, now that everything is known that is closed below it. */
function hold(
  context: ProofContext,
  row: ClaimedRow,
  root: DirectoryHandle,
  git: OpenedGit | null,
): HeldRoot {
  const directories = git === null ? [] : [git.directory, git.delegate?.workspace.repository?.gitDirectory];
  const places = directories.flatMap((directory) => directory?.place() ?? []);
  const closed = [...context.protectedDirectories, ...places].map(({ device, inode }) => ({
    device,
    inode,
  }));
  const options = { confinement: gitConfinement(closed), allowMounts: row.allowMounts };
  return holdRoot(context.native, row.path, root, options);
}

/** Nothing in a separate Git dir leads back to its checkout, so there a pinned identity must say that it is the right one. */
function establishGitIdentity(git: OpenedGit | null, pins: WorkspacePins | null, log: FactLog): void {
  if (pins === null) return;
  const pinned = pins.gitDirIdentity;
  if (pinned === null && git?.kind !== 'separate-git-dir') return;
  const same = git !== null && pinned !== null && matchesStoredIdentity(git.directory.identity(), pinned);
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
    rootMoved,
  );
}

async function pinFirstSight(
  pins: NonNullable<AuthorityOptions['pins']>,
  row: ClaimedRow,
  held: HeldRoot,
  git: OpenedGit | null,
  log: FactLog,
): Promise<void> {
  const sight = { identity: toStoredIdentity(held.identity), gitDirIdentity: gitIdentityToPin(git) };
  const pinned = await pins.pin(row.path, sight);
  establish(
    log,
    {
      fact: 'pinned identity',
      expected: JSON.stringify(sight.identity),
      seen: JSON.stringify(pinned.identity),
    },
    matchesStoredIdentity(held.identity, pinned.identity),
    notAuthorized,
  );
  // Somebody else may have pinned at the same time.
  establishGitIdentity(git, pinned, log);
}

/** What is pinned of a Git dir: the separate ones. */
function gitIdentityToPin(git: OpenedGit | null): StoredIdentity | null {
  return git?.kind === 'separate-git-dir' ? toStoredIdentity(git.directory.identity()) : null;
}

function rootMoved(): AuthorityError {
  return new AuthorityError('identity_changed', { details: { what: 'root' } });
}

/** A root that moved while it was proven gives no authority at all (decisions 1.6). */
function refusalAt(standing: Standing, error: unknown): unknown {
  const refusal = isAuthorityError(error) ? error : translateStorageFailure(error);
  if (standing === 'unregistered' && isUnclaimed(error)) return notAuthorized();
  const moved = refusal.code === 'identity_changed' && refusal.details['what'] === 'root';
  return moved ? notAuthorized(refusal) : refusal;
}
