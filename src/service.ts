import type { Authority } from './authority/authority.ts';
import type { WorkspaceFiles } from './files/workspace-files.ts';
import type { WorkspaceRow } from './registry/workspace-registry.ts';

export { createService } from './service/create-service.ts';
export type { ServiceLimits, ServiceOptions } from './service/service-options.ts';

/** What one running instance offers; HTTP, the command line and embedding services use nothing else. */
export interface Service extends AsyncDisposable {
  readonly authority: Authority;
  readonly files: WorkspaceFiles;
  /** Null where the registry belongs to the host. */
  readonly workspaces: Workspaces | null;
  readonly repositories: Repositories;
  readiness(): Promise<Readiness>;
  close(): Promise<void>;
}

export interface Workspaces {
  list(): Promise<readonly WorkspaceRow[]>;
  /**
   * Proves that the path is a canonical directory that may be a workspace, pins its identity and writes the row.
   * @throws `workspace_not_registrable` (details.reason) | `workspace_already_registered` | `state_unavailable` | `repository_unsupported`
   */
  add(path: string, options?: AddWorkspaceOptions): Promise<WorkspaceRow>;
  /** Removes the row only; nothing on disk below the workspace is touched. @throws `workspace_not_found` */
  remove(path: string): Promise<WorkspaceRow>;
  /** Pins the identity that stands there now. @throws `workspace_not_found` | `workspace_not_registrable` */
  confirm(path: string): Promise<WorkspaceRow>;
}

export interface AddWorkspaceOptions {
  readonly title?: string;
  readonly allowMounts?: boolean;
}

/** Facts that existing clients ask of a selector (wire contract, route 1). */
export type Detection =
  | { readonly isGit: false }
  | {
      readonly isGit: true;
      readonly repoRoot: string;
      readonly mainRepoRoot: string;
      readonly isLinkedWorktree: boolean;
      readonly managed: boolean;
      /** Short branch name, `origin/<name>` when there is no local copy, or null. */
      readonly defaultBranch: string | null;
      readonly branch: string | null;
    };

export interface Repositories {
  /** @throws as `Authority.authorize` | `git_root_not_authorized` for a nested directory */
  detect(selector: string, signal?: AbortSignal): Promise<Detection>;
}

export interface Readiness {
  readonly ready: boolean;
  readonly version: string;
  readonly kernel: { readonly openat2: boolean; readonly code: string | null; readonly hint: string | null };
  readonly prover: {
    readonly mode: 'auto' | 'nodegit' | 'git' | 'both';
    /** E.g. `git+nodegit`, or `git` with `nodegit: building`. */
    readonly active: 'nodegit' | 'git' | 'git+nodegit' | 'none';
    readonly nodegit: 'ready' | 'building' | 'failed' | 'absent';
    readonly gitVersion: string | null;
  };
  readonly registry: {
    readonly readable: boolean;
    readonly rows: number | null;
    readonly code: string | null;
  };
  readonly roots: readonly RootReadiness[];
}

export interface RootReadiness {
  readonly path: string;
  readonly authorized: boolean;
  readonly code: string | null;
  readonly exchange: 'supported' | 'unsupported' | 'unknown';
  /** Whether an open writer on a file is noticed before it is replaced (decisions 3, file leases). */
  readonly openWriterCheck: 'supported' | 'unsupported' | 'unknown';
}
