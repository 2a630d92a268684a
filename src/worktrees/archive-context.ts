import type { Authority } from '../authority/authority.ts';
import type { ConfigurationGate } from '../git/configuration-gate.ts';
import type { GitRunner } from '../git/run-git.ts';
import type { UserConfiguration } from '../git/user-configuration.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type { Occupation } from '../sessions/occupation.ts';

/** What looking over, archiving, restoring and cleaning up worktrees share. */
export interface ArchiveContext {
  readonly authority: Authority;
  readonly gate: MutationGate;
  readonly git: GitRunner;
  readonly configuration: ConfigurationGate;
  readonly user: (signal?: AbortSignal) => Promise<UserConfiguration>;
  readonly occupation: Occupation;
}
