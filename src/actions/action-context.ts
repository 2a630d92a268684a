import type { Authority } from '../authority/authority.ts';
import type { ConfigurationGate } from '../git/configuration-gate.ts';
import type { NetworkAccess } from '../git/network-access.ts';
import type { GitRunner } from '../git/run-git.ts';
import type { UserConfiguration } from '../git/user-configuration.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';

/** What all actions share. */
export interface ActionContext {
  readonly authority: Authority;
  readonly gate: MutationGate;
  readonly git: GitRunner;
  readonly configuration: ConfigurationGate;
  /** What the configuration of the server's user says. */
  readonly user: (signal?: AbortSignal) => Promise<UserConfiguration>;
  readonly network: NetworkAccess;
}
