import type { StoredIdentity } from '../capability/identity.ts';

/** One registered workspace. `path` is the canonical absolute path of its root at registration. */
export interface WorkspaceRow {
  readonly id: string;
  readonly path: string;
  readonly title: string | null;
  /** Pinned when registered; null in foreign registries, whose pins the authority keeps in the state directory. */
  readonly identity: StoredIdentity | null;
  /** Identity of the Git directory at registration: set for the kinds of repository that have no back link. */
  readonly gitDirIdentity: StoredIdentity | null;
  /** Lets paths below the root cross mount points. */
  readonly allowMounts: boolean;
  /** ISO 8601. */
  readonly registeredAt: string;
}

/**
 * The hard dependency that says what exists (R02, R04). Implementations throw `registry_unavailable` when rows cannot be read
 * completely; they never answer with fewer rows than there are.
 */
export interface WorkspaceRegistry {
  /**
   * The row whose `path` equals the canonical path, or null. Must reflect the registry as it is now: an implementation over a
   * file looks at the file's stamp each time. May answer synchronously when it need not wait.
   */
  find(canonicalPath: string): WorkspaceRow | null | Promise<WorkspaceRow | null>;
  list(): readonly WorkspaceRow[] | Promise<readonly WorkspaceRow[]>;
}

/** What the embedded registry offers beside reading; a host's own registry has its own way to change. */
export interface WritableWorkspaceRegistry extends WorkspaceRegistry {
  /** @throws `workspace_already_registered` | `state_unavailable` */
  add(row: NewWorkspaceRow, signal?: AbortSignal): Promise<WorkspaceRow>;
  /** @throws `workspace_not_found` | `state_unavailable` */
  remove(canonicalPath: string, signal?: AbortSignal): Promise<WorkspaceRow>;
  /**
   * Removes the row of this id while it has this path. False: no row has the id.
   * @throws `deferred_workspace_unavailable`: it has another path | `state_unavailable`
   */
  removeExactly(row: Pick<WorkspaceRow, 'id' | 'path'>): Promise<boolean>;
  /** Renews the pinned identities of a row. @throws `workspace_not_found` | `state_unavailable` */
  confirm(canonicalPath: string, identities: WorkspacePins, signal?: AbortSignal): Promise<WorkspaceRow>;
}

export interface WorkspacePins {
  readonly identity: StoredIdentity;
  readonly gitDirIdentity: StoredIdentity | null;
}

export interface NewWorkspaceRow extends WorkspacePins {
  readonly path: string;
  readonly title: string | null;
  readonly allowMounts: boolean;
}
