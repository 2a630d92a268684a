import { findRow } from '../authority/registry-rows.ts';
import { AuthorityError } from '../errors/index.ts';
import type { WorkspacePinStore } from '../registry/workspace-pins.ts';
import type { WorkspaceRegistry, WorkspaceRow } from '../registry/workspace-registry.ts';
import { proveRegistrable, type RegistrabilityOptions } from './registrable.ts';

export interface HostWorkspacesOptions extends RegistrabilityOptions {
  readonly registry: WorkspaceRegistry;
  readonly pins: WorkspacePinStore;
}

/** Renews what is pinned for a row of the host's registry; the row itself is the host's. @throws as `Service.confirmWorkspace` */
export async function confirmHostWorkspace(
  options: HostWorkspacesOptions,
  path: string,
): Promise<WorkspaceRow> {
  const row = await findRow(options.registry, path);
  if (row === null) throw new AuthorityError('workspace_not_found');
  if (row.identity !== null) {
    throw new AuthorityError('not_offered', { details: { reason: 'pinned-by-registry' } });
  }
  await options.pins.renew(path, await proveRegistrable(options, path, row.allowMounts));
  return row;
}
