import { AuthorityError } from '../errors/index.ts';
import type { WorkspaceRegistrar } from '../service.ts';
import { type HostServices, isHostObject, methodOf, textOf } from './host-services.ts';
import { readHostWorkspaces } from './host-workspaces.ts';

/**
 * Makes rows in the host's registry and takes them away. The host canonicalises what it is given and answers with the row that is there
 * already; no session is attached to it.
 */
export function createHostRegistrar(host: HostServices): WorkspaceRegistrar {
  return {
    async register(path, title) {
      const row = await asking(async () => methodOrThrow(host, 'create')(path, title));
      const id = isHostObject(row) && textOf(row, 'path') === path ? textOf(row, 'id') : null;
      // A row of another path is somebody else's: it is left, and is not what was asked for.
      if (id === null) throw new AuthorityError('registry_unavailable');
      return id;
    },
    async remove({ id, path }) {
      const row = (await asking(async () => readHostWorkspaces(host))).find((one) => one.id === id);
      if (row === undefined) return false;
      if (row.path !== path) throw new AuthorityError('deferred_workspace_unavailable');
      return (await asking(async () => methodOrThrow(host, 'delete')(id))) === true;
    },
  };
}

function methodOrThrow(host: HostServices, name: string): (...words: readonly unknown[]) => unknown {
  const method = methodOf(host.get('workspaceRegistry'), name);
  if (method === undefined) throw new Error('the workspace registry takes no changes');
  return method;
}

async function asking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (cause) {
    throw new AuthorityError('registry_unavailable', { cause });
  }
}
