import { assertFetchEvery, BackgroundFetch } from '../actions/background-fetch.ts';
import { createRepositoryActions } from '../actions/create-actions.ts';
import { Confirmations } from '../actions/discard-confirmations.ts';
import { fetchForUser } from '../actions/fetch.ts';
import { createHookTrust } from '../actions/trusted-hooks.ts';
import type { Archives } from '../archive/archives.ts';
import { createArchives } from '../archive/create-archives.ts';
import { createAuthority } from '../authority/create-authority.ts';
import { protectStateDirectory } from '../authority/ports.ts';
import { createRepositories } from '../authority/repositories.ts';
import { openStateDirectory, type StateDirectory } from '../capability/state-directory.ts';
import { defaultStateDirectory } from '../capability/state-location.ts';
import { isAuthorityError } from '../errors/index.ts';
import { systemClock } from '../events/clock.ts';
import { createFeed } from '../events/feed.ts';
import { createWorkspaceFiles } from '../files/index.ts';
import { readBranchFacts } from '../git/branch-facts.ts';
import { createConfigurationGate } from '../git/configuration-gate.ts';
import { assertNetworkAccess } from '../git/network-access.ts';
import { createGitRunner } from '../git/run-git.ts';
import { readWorktreeTable } from '../git/worktree-table.ts';
import { createMutationGate } from '../mutation/gate.ts';
import { Leases } from '../mutation/leases.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type { NativeBinding } from '../native/binding.ts';
import { deathGuardPath } from '../native/index.ts';
import { createProvers } from '../proof/provers.ts';
import { openFileRegistry } from '../registry/file-registry.ts';
import { createPinStore } from '../registry/workspace-pins.ts';
import type { Service, Workspaces } from '../service.ts';
import { openFileSessions } from '../sessions/file-sessions.ts';
import { createOccupation } from '../sessions/occupation.ts';
import { directoryOf } from '../sessions/occupied-directory.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { createSnapshots } from '../snapshot/snapshots.ts';
import type { WorktreeArchives } from '../worktrees/archive-contract.ts';
import { createWorktreeArchives } from '../worktrees/archive-service.ts';
import type { WorkspaceRegistrar } from '../worktrees/create-context.ts';
import { createWorktreeCreation, type WorktreeCreation } from '../worktrees/worktrees.ts';
import { confirmHostWorkspace } from './host-workspaces.ts';
import { type Logger, silentLogger } from './logger.ts';
import { currentNodegitState } from './nodegit-state.ts';
import { createPinnedRegistry } from './pinned-registry.ts';
import { createPullRequests } from './pull-requests.ts';
import { readReadiness } from './readiness.ts';
import { recoverState } from './recover-state.ts';
import { createRefusingService, findBinding } from './refusing-service.ts';
import { createRepositoryReads } from './repository-reads.ts';
import type { ServiceOptions } from './service-options.ts';
import { createSessions } from './sessions.ts';
import { createUserReader } from './user-reader.ts';
import { verifiedPullsOf } from './verified-pulls-of.ts';
import { createWorkspaces } from './workspaces.ts';

/**
 * Puts the rooms together over one state directory. Several services, in one or in several processes, may share it.
 *
 * Where the kernel, the platform or the addon lacks what every operation needs, the service comes up all the same and refuses each of them
 * with the reason, so that its host can say so (R16).
 * @throws `state_unavailable` when the state directory cannot be used
 */
export async function createService(options: ServiceOptions = {}): Promise<Service> {
  const binding = findBinding(options.binding);
  if (isAuthorityError(binding)) return createRefusingService(binding, options);
  const state = await openStateDirectory(options.stateDirectory ?? defaultStateDirectory(), binding);
  try {
    const gate = createMutationGate({
      leases: await Leases.open(state),
      ...(options.limits?.queuedTasks === undefined ? {} : { queueLimit: options.limits.queuedTasks }),
    });
    try {
      const archives = createArchives(
        state,
        gate,
        options.archives === undefined ? {} : { limits: options.archives },
      );
      await mendState(binding, state, gate, archives, options.logger ?? silentLogger);
      return await compose(binding, state, gate, archives, options);
    } catch (error) {
      await gate.close();
      throw error;
    }
  } catch (error) {
    state.close();
    throw error;
  }
}

async function compose(
  binding: NativeBinding,
  state: StateDirectory,
  gate: MutationGate,
  archives: Archives,
  options: ServiceOptions,
): Promise<Service> {
  const { limits = {}, network = {} } = options;
  assertNetworkAccess(network);
  assertFetchEvery(options.fetchEveryMs);
  const embedded = options.registry === undefined ? await openFileRegistry(state, gate) : null;
  const registry = options.registry ?? embedded;
  if (registry === null) throw new TypeError('no registry');
  const store = await openStore(state, gate, options);
  const guard = options.sessions === undefined || options.sessions === 'embedded' ? store : options.sessions;
  const occupation = createOccupation(guard);
  const deathGuard = deathGuardPath();
  const git = createGitRunner({ deathGuard, ...pick('concurrency', limits.gitProcesses) });
  const configuration = createConfigurationGate(git, options.allowedDrivers);
  const provers = createProvers({
    mode: options.prover ?? 'auto',
    git,
    deathGuard,
    nodegitState: options.nodegitState ?? currentNodegitState,
  });
  const pins = createPinStore(state, gate);
  const managedRoots = options.managedRoots ?? [
    { path: `${state.path}/worktrees`, scheme: 'authority' } as const,
  ];
  const authority = createAuthority({
    native: binding,
    registry: embedded ?? createPinnedRegistry(registry, pins),
    prover: provers,
    protectedDirectories: [protectStateDirectory(state.identity)],
    pins,
    managedRoots,
    ...pick('capacity', limits.heldWorkspaces),
  });
  const files = createWorkspaceFiles({ gate, ...pick('contentLimit', limits.contentBytes) });
  const workspaces =
    embedded === null
      ? null
      : createWorkspaces({ registry: embedded, authority, surveyor: authority, state });
  const user = createUserReader(git, options.home);
  const { clock = systemClock } = options;
  const hooks = createHookTrust(git, options.trustedHooks);
  const actionContext = { authority, gate, git, configuration, user, network, hooks };
  const fetches = new BackgroundFetch(actionContext, { clock, ...pick('everyMs', options.fetchEveryMs) });
  const snapshots = createSnapshots({
    authority,
    git,
    configuration,
    user,
    fetches,
    clock,
    ...(options.events === undefined ? {} : { followTimes: options.events }),
    ...pick('freshMs', limits.snapshotFreshMs),
    ...pick('watchedInAll', limits.watchedDirectories),
  });
  const events = createFeed({
    source: snapshots,
    clock,
    ...(options.events === undefined ? {} : { limits: options.events }),
  });
  const worktreeArchives = createWorktreeArchives({
    authority,
    gate,
    git,
    configuration,
    user,
    occupation,
    archives,
    managedRoots,
    confirmations: new Confirmations(),
    workspaces: {
      find: (path) => registry.find(path),
      list: () => registry.list(),
      remove:
        options.workspaceRegistrar?.remove ??
        (embedded === null ? null : (row) => embedded.removeExactly(row)),
    },
    openRoot: (path) => binding.openRoot(path, { allowMounts: false }),
    openState: (name) => state.openDirectory(name),
  });
  const creation = createWorktreeCreation({
    native: binding,
    authority,
    gate,
    git,
    configuration,
    registry: embedded ?? registry,
    registrar: options.workspaceRegistrar ?? (workspaces === null ? null : registrarOf(workspaces)),
    managedRoots,
    pulls: options.verifiedPulls ?? (options.forge ? verifiedPullsOf(options.forge) : null),
    network,
    tellProgress: ({ selector, ...progress }) =>
      events.tellProgress(selector, { task: 'create-worktree', ...progress }),
    assertSource: (sessionId, directory, signal) =>
      occupation.assertCreationSource(sessionId, directory, signal),
    fetch: (capability, signal) => fetchForUser({ ...actionContext, fetches }, capability, signal),
  });
  if (options.recoverWorktreesAtStart ?? true) {
    await recoverCreations(creation, options.logger ?? silentLogger);
    await tellRecovered(worktreeArchives, options.logger ?? silentLogger);
  }
  let closed: Promise<void> | null = null;
  const close = async (): Promise<void> => {
    // Changes under way still need proofs, and proofs still need Git.
    events.close();
    const fetching = fetches.close();
    await gate.close();
    await fetching;
    await snapshots.close();
    await authority.close();
    await provers.close();
    await git.close();
    state.close();
  };
  const service: Service = {
    authority,
    files,
    workspaces,
    repositories: createRepositories({
      authority,
      managedRoots,
      readBranches: (capability, signal) => readBranchFacts(capability, git, signal),
      readWorktrees: (capability, signal) => readWorktreeTable(capability, git, signal),
    }),
    reads: createRepositoryReads({ authority, git, configuration, user, snapshots }),
    pulls: createPullRequests({ authority, git, forge: options.forge ?? null }),
    actions: createRepositoryActions({
      ...actionContext,
      fetches,
      archives,
      confirmations: new Confirmations(),
    }),
    worktreeArchives,
    worktrees: creation,
    snapshots,
    events,
    sessions: store === null ? null : createSessions({ store, authority }),
    occupants: async (selector, signal) => {
      await using capability = await authority.authorize(selector, signal);
      const occupants = await (await occupation.survey(signal)).occupants(directoryOf(capability));
      await capability.assertCurrent(signal);
      return occupants;
    },
    confirmWorkspace: (path) =>
      workspaces === null
        ? confirmHostWorkspace({ registry, pins, surveyor: authority, state }, path)
        : workspaces.confirm(path),
    readiness: () => readReadiness({ binding, registry, authority, provers, guard }),
    close: () => {
      closed ??= close();
      return closed;
    },
    [Symbol.asyncDispose]: () => service.close(),
  };
  return service;
}

/** Null where the host knows the sessions, or nobody does. */
async function openStore(
  state: StateDirectory,
  gate: MutationGate,
  { registry, sessions, logger = silentLogger }: ServiceOptions,
): Promise<SessionStore | null> {
  const isOurs = sessions === 'embedded' || (sessions === undefined && registry === undefined);
  if (!isOurs) return null;
  return openFileSessions(state, gate, {
    onEnded: ({ id, life }) =>
      logger.info({ session: id, ends: life.ends }, 'session ended without being closed'),
  });
}

/** What cannot be finished is told and left, so a start never fails for it. */
async function tellRecovered(worktrees: WorktreeArchives, logger: Logger): Promise<void> {
  try {
    for (const { act, action, reason } of await worktrees.recover({ dryRun: false }))
      logger.info({ act, action, reason }, 'worktree recovered');
  } catch (error) {
    logger.error({ err: error }, 'worktrees could not be recovered');
  }
}

/** A leftover does no harm where it lies, so a start never fails for it. */
async function mendState(
  binding: NativeBinding,
  state: StateDirectory,
  gate: MutationGate,
  archives: Archives,
  logger: Logger,
): Promise<void> {
  try {
    const actions = await recoverState(binding, state, gate, { dryRun: false });
    for (const { action, reason } of actions) logger.info({ action, reason }, 'state file recovered');
    const { halfWritten, expired } = await archives.recover();
    if (halfWritten + expired.length > 0) logger.info({ halfWritten, expired }, 'archives tidied up');
  } catch (error) {
    logger.error({ err: error }, 'state files could not be recovered');
  }
}

function registrarOf(workspaces: Workspaces): WorkspaceRegistrar {
  return { register: async (path, title) => (await workspaces.add(path, { title })).id };
}

/** What cannot be finished now does no harm where it lies; the next creation in its repository tries again. */
async function recoverCreations(creation: WorktreeCreation, logger: Logger): Promise<void> {
  try {
    for (const { txId, action, reason } of await creation.recover())
      logger.info({ transaction: txId, action, reason }, 'creation of a worktree recovered');
  } catch (error) {
    logger.error({ err: error }, 'creations of worktrees could not be recovered');
  }
}

/** An option that is left out is left to its owner's default. */
function pick<Name extends string>(
  name: Name,
  value: number | undefined,
): { readonly [key in Name]?: number } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in Name]: number });
}
