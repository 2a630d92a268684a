import type { ArchiveLimits } from '../archive/archives.ts';
import type { Clock } from '../events/clock.ts';
import type { EventLimits } from '../events/events.ts';
import type { Forge } from '../forge/forge.ts';
import type { AllowedDriver } from '../git/allowed-drivers.ts';
import type { NetworkAccess } from '../git/network-access.ts';
import type { NativeBinding } from '../native/binding.ts';
import type { ManagedRoot } from '../proof/managed-namespace.ts';
import type { NodegitState, ProverMode } from '../proof/provers.ts';
import type { WorkspaceRegistry } from '../registry/workspace-registry.ts';
import type { SessionGuard } from '../sessions/session-guard.ts';
import type { FollowTimes } from '../snapshot/followed-snapshot.ts';
import type { WorkspaceRegistrar } from '../worktrees/create-context.ts';
import type { VerifiedPulls } from '../worktrees/verified-pulls.ts';
import type { Logger } from './logger.ts';

export interface ServiceOptions {
  /** Absolute path; default `defaultStateDirectory()`. Made when it is missing. */
  readonly stateDirectory?: string;
  /** The host's own registry. Without it the service keeps `registry.json` in the state directory. */
  readonly registry?: WorkspaceRegistry;
  /**
   * Who says which sessions there are: the host, or `embedded`, `sessions.json` in the state directory, which is the default beside the embedded
   * registry. A host with a registry of its own that names neither has no session guard, and nothing is ever archived or cleaned up there.
   */
  readonly sessions?: SessionGuard | 'embedded';
  /** Where managed worktrees lie; default: `worktrees` in the state directory. A host that has some elsewhere names both. */
  readonly managedRoots?: readonly ManagedRoot[];
  /** Makes a row of the host's registry for each worktree that is created; without it the host makes them itself. */
  readonly workspaceRegistrar?: WorkspaceRegistrar;
  /** Asks the forge for pull requests that worktrees are made of; default: they are not offered. */
  readonly verifiedPulls?: VerifiedPulls;
  /**
   * Who is asked about pull requests and issues; also for those that worktrees are made of unless `verifiedPulls` is given;
   * default: nobody.
   */
  readonly forge?: Forge | null;
  /** False: what killed processes left of worktrees waits until it is asked for, so that whoever asks is told of it. Default true. */
  readonly recoverWorktreesAtStart?: boolean;
  /** Default `auto`. */
  readonly prover?: ProverMode;
  /** Drivers of Git that the operator trusts, whatever a repository names under their names; default: none. */
  readonly allowedDrivers?: readonly AllowedDriver[];
  /**
   * Canonical paths of main checkouts whose hooks run, those of `hooks` in their Git directories, for all worktrees of theirs; default: none.
   * Such a hook is a program of that repository that runs as the user of the server.
   */
  readonly trustedHooks?: readonly string[];
  /** Default: what set-up built into this user's cache. */
  readonly nodegitState?: () => NodegitState;
  /** Default: the addon that comes with this package. */
  readonly binding?: NativeBinding;
  /** Default: silence. */
  readonly logger?: Logger;
  /** How Git reaches other machines; default: https and ssh without credentials. */
  readonly network?: NetworkAccess;
  /** Home whose Git configuration names the author of commits and the ignore file; default: that of this process. */
  readonly home?: string;
  /**
   * Milliseconds between two fetches from `origin` of each repository that is looked at; at least 1,000. Default: no fetch but those that are
   * asked for, since it speaks to other machines.
   */
  readonly fetchEveryMs?: number;
  readonly events?: Partial<EventLimits & FollowTimes>;
  /** Default: that of the process. */
  readonly clock?: Clock;
  readonly limits?: Partial<ServiceLimits>;
  /** What is kept of what was destroyed, and how long. */
  readonly archives?: Partial<ArchiveLimits>;
}

export interface ServiceLimits {
  /** Tasks that may wait for one file or root; default 256. */
  readonly queuedTasks: number;
  /** Bytes of a file that is read whole or changed; default 1 MiB. */
  readonly contentBytes: number;
  /** Proven workspaces held open at most; default 256. */
  readonly heldWorkspaces: number;
  /** Git processes at once; default 4. */
  readonly gitProcesses: number;
  /** Milliseconds in which a batch of snapshots gives an answer again without a look; default 3,000. */
  readonly snapshotFreshMs: number;
  /** Directories of work trees that are watched for snapshots, in all; default 32,768. */
  readonly watchedDirectories: number;
}
