import type { Authority } from '../authority/authority.ts';
import { AuthorityError } from '../errors/index.ts';
import type { WorkspaceRow, WritableWorkspaceRegistry } from '../registry/workspace-registry.ts';
import { longestTitle } from '../registry/workspace-table.ts';
import type { AddWorkspaceOptions, Workspaces } from '../service.ts';
import { notRegistrable, proveRegistrable, type RegistrabilityOptions } from './registrable.ts';

export interface WorkspacesOptions extends RegistrabilityOptions {
  readonly registry: WritableWorkspaceRegistry;
  readonly authority: Pick<Authority, 'closeUnregistered'>;
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
    const pins = await proveRegistrable(this.#options, path, allowMounts);
    return registry.add({ path, title, allowMounts, ...pins });
  }

  async remove(path: string): Promise<WorkspaceRow> {
    const { registry, authority } = this.#options;
    const row = await registry.remove(path);
    // The row is gone, whatever comes now: what is still open only keeps its file system busy.
    await authority.closeUnregistered().catch(() => undefined);
    return row;
  }

  async confirm(path: string): Promise<WorkspaceRow> {
    const { registry } = this.#options;
    const row = await registry.find(path);
    if (row === null) throw new AuthorityError('workspace_not_found');
    return registry.confirm(path, await proveRegistrable(this.#options, path, row.allowMounts));
  }
}
