import { AuthorityError } from '../errors/index.ts';
import type { WorkspaceRegistry, WorkspaceRow } from '../registry/workspace-registry.ts';
import type { HostServices } from './host-services.ts';
import { type HostWorkspace, readHostWorkspaces } from './host-workspaces.ts';

/**
 * The host's registry as our port (R02, R04): its live rows and nothing else. That a row's path still is what it was is proven by the
 * authority at every use, by the identity that it pins: the host's rows name none.
 */
export function createHostRegistry(host: HostServices): WorkspaceRegistry {
  /** The same row stays the same object, so that the authority has nothing to compare while it is warm. */
  const kept = new WeakMap<object, WorkspaceRow>();

  function rowOf(workspace: HostWorkspace): WorkspaceRow {
    const { id, path, title, createdAt, entity } = workspace;
    const known = kept.get(entity);
    if (known?.id === id && known.path === path && known.title === title) return known;
    const row: WorkspaceRow = {
      id,
      path,
      title,
      identity: null,
      gitDirIdentity: null,
      allowMounts: false,
      registeredAt: createdAt,
    };
    kept.set(entity, row);
    return row;
  }

  return {
    find: (canonicalPath) => {
      const found = read(host).find(({ path }) => path === canonicalPath);
      return found === undefined ? null : rowOf(found);
    },
    list: () => read(host).map(rowOf),
  };
}

function read(host: HostServices): readonly HostWorkspace[] {
  try {
    return readHostWorkspaces(host);
  } catch (cause) {
    throw new AuthorityError('registry_unavailable', { cause });
  }
}
