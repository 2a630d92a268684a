import type { WorkspaceSurveyor } from '../authority/survey-workspace.ts';
import type { StateDirectory } from '../capability/state-directory.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type {
  WorkspacePins,
  WorkspaceRow,
  WritableWorkspaceRegistry,
} from '../registry/workspace-registry.ts';
import { longestTitle } from '../registry/workspace-table.ts';
import type { AddWorkspaceOptions, Workspaces } from '../service.ts';

export interface WorkspacesOptions {
  readonly registry: WritableWorkspaceRegistry;
  readonly surveyor: WorkspaceSurveyor;
  /** Neither it nor what lies in it is a workspace; a directory that contains it may be one. */
  readonly state: StateDirectory;
}

/** Offered with the embedded registry: everything is proven before a row is written. */
export function createWorkspaces(options: WorkspacesOptions): Workspaces {
  return new RegisteredWorkspaces(options);
}

class RegisteredWorkspaces implements Workspaces {
  readonly #options: WorkspacesOptions;

  constructor(options: WorkspacesOptions) {
    this.#options = options;
  }

  async list(): Promise<readonly WorkspaceRow[]> {
    return this.#options.registry.list();
  }

  async add(path: string, options: AddWorkspaceOptions = {}): Promise<WorkspaceRow> {
    const { title = null, allowMounts = false } = options;
    if (title !== null && title.length > longestTitle) throw notRegistrable('title-too-long');
    const { registry } = this.#options;
    if ((await registry.find(path)) !== null) throw new AuthorityError('workspace_already_registered');
    const pins = await this.#survey(path, allowMounts);
    return registry.add({ path, title, allowMounts, ...pins });
  }

  async remove(path: string): Promise<WorkspaceRow> {
    return this.#options.registry.remove(path);
  }

  async confirm(path: string): Promise<WorkspaceRow> {
    const { registry } = this.#options;
    const row = await registry.find(path);
    if (row === null) throw new AuthorityError('workspace_not_found');
    return registry.confirm(path, await this.#survey(path, row.allowMounts));
  }

  async #survey(path: string, allowMounts: boolean): Promise<WorkspacePins> {
    if (path === '/') throw notRegistrable('root-directory');
    // Opened, it would lead somewhere; as a row it would name nothing.
    if (path.split('/').includes('..')) throw notRegistrable('not-canonical');
    if (isInState(path, this.#options.state)) throw notRegistrable('state-directory');
    try {
      const { identity, gitDirIdentity } = await this.#options.surveyor.survey(path, { allowMounts });
      return { identity, gitDirIdentity };
    } catch (error) {
      throw translate(error);
    }
  }
}

/**
 * Only tells the reason apart; that the state directory is refused under any other name too is up to the survey, which compares
 * identities.
 */
function isInState(path: string, state: StateDirectory): boolean {
  if (path === state.path) return true;
  if (!path.startsWith(`${state.path}/`)) return false;
  const [first, ...rest] = path.slice(state.path.length + 1).split('/');
  return first !== 'worktrees' || rest.length < 2;
}

/** Properties of the place, not of a repository in it. */
const placeReasons = new Set(['git-directory', 'bare-repository']);

function translate(error: unknown): unknown {
  if (!isAuthorityError(error)) return error;
  const reason = String(error.details['reason']);
  if (error.code === 'repository_unsupported' && placeReasons.has(reason))
    return notRegistrable(reason, error);
  if (reason === 'foreign-owner') return new AuthorityError('workspace_owner_mismatch', { cause: error });
  return error;
}

function notRegistrable(reason: string, cause?: unknown): AuthorityError {
  return new AuthorityError('workspace_not_registrable', { details: { reason }, cause });
}
