import type { Authority } from '../authority/authority.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import type { ConfigurationGate } from '../git/configuration-gate.ts';
import type { NetworkAccess } from '../git/network-access.ts';
import type { GitRunner } from '../git/run-git.ts';
import type { UserConfiguration } from '../git/user-configuration.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type { OpenHooks } from './trusted-hooks.ts';

/** Of two fetches of one repository at the same time, one may fail over the refs that the other moves. */
export interface FetchTurns {
  /** Runs the fetch that a user asked for when none of ours runs in the repository; meanwhile none of ours begins. */
  byUser(capability: RepositoryCapability, fetch: () => Promise<void>, signal?: AbortSignal): Promise<void>;
}

/** What all actions share. */
export interface ActionContext {
  readonly authority: Authority;
  readonly gate: MutationGate;
  readonly git: GitRunner;
  readonly configuration: ConfigurationGate;
  /** What the configuration of the server's user says. */
  readonly user: (signal?: AbortSignal) => Promise<UserConfiguration>;
  readonly network: NetworkAccess;
  /** Opens the hooks of a repository that the operator trusts. */
  readonly hooks: OpenHooks;
  /** Keeps fetches of one repository apart; default: nothing does. */
  readonly fetches?: FetchTurns;
}
