import type { Confirmations } from '../actions/discard-confirmations.ts';
import type { Archives } from '../archive/archives.ts';
import type { Authority } from '../authority/authority.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import type { ConfigurationGate } from '../git/configuration-gate.ts';
import type { GitRunner } from '../git/run-git.ts';
import type { UserConfiguration } from '../git/user-configuration.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type { ManagedRoot } from '../proof/managed-namespace.ts';
import type { WorkspaceRow } from '../registry/workspace-registry.ts';
import type { Occupation } from '../sessions/occupation.ts';

/**
 * Takes the row of this id away while it has this path. False: there is no row of this id any more.
 * @throws `deferred_workspace_unavailable`: it has another path | `registry_unavailable`
 */
export type RemoveRow = (row: Pick<WorkspaceRow, 'id' | 'path'>) => Promise<boolean>;

/** Rows of the registry, as far as the end of a worktree concerns them. */
export interface WorkspaceRows {
  find(path: string): WorkspaceRow | null | Promise<WorkspaceRow | null>;
  list(): readonly WorkspaceRow[] | Promise<readonly WorkspaceRow[]>;
  /** Null where the registry takes no changes from us: its rows are the host's own to take away. */
  readonly remove: RemoveRow | null;
}

/** What looking over, archiving and restoring worktrees share. */
export interface ArchiveContext {
  readonly authority: Authority;
  readonly gate: MutationGate;
  readonly git: GitRunner;
  readonly configuration: ConfigurationGate;
  readonly user: (signal?: AbortSignal) => Promise<UserConfiguration>;
  readonly occupation: Occupation;
  readonly archives: Archives;
  readonly managedRoots: readonly ManagedRoot[];
  /** Remembers what was refused to whom (decisions 1.1). */
  readonly confirmations: Pick<Confirmations, 'confirms' | 'note'>;
  readonly workspaces: WorkspaceRows;
  /** Opens a directory by its canonical path, without links on the way. */
  readonly openRoot: (path: string) => Promise<DirectoryHandle>;
  /** Opens or makes a directory of the state directory. */
  readonly openState: (name: string) => Promise<DirectoryHandle>;
}
