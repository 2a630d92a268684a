import type { WorkspacePinStore } from '../registry/workspace-pins.ts';
import type { WorkspacePins, WorkspaceRegistry, WorkspaceRow } from '../registry/workspace-registry.ts';

/**
 * The host's registry as the authority sees it: a row without an identity has the one that is pinned for it. A pin that is renewed, here or
 * in another process, is then a changed row, and nothing that was proven for the former one is believed any longer.
 */
export function createPinnedRegistry(
  registry: WorkspaceRegistry,
  pins: WorkspacePinStore,
): WorkspaceRegistry {
  /** The same row with the same pin stays the same object, so that a warm look compares nothing. */
  const merged = new WeakMap<WorkspaceRow, { readonly pin: WorkspacePins; readonly row: WorkspaceRow }>();

  function merge(row: WorkspaceRow, pin: WorkspacePins | null): WorkspaceRow {
    if (pin === null) return row;
    const known = merged.get(row);
    if (known?.pin === pin) return known.row;
    const { identity, gitDirIdentity } = pin;
    const pinned = { ...row, identity, gitDirIdentity };
    merged.set(row, { pin, row: pinned });
    return pinned;
  }

  function pinned(row: WorkspaceRow | null): WorkspaceRow | null | Promise<WorkspaceRow | null> {
    if (row === null || row.identity !== null) return row;
    const pin = pins.find(row.path);
    return pin instanceof Promise ? pin.then((found) => merge(row, found)) : merge(row, pin);
  }

  return {
    find(canonicalPath) {
      const row = registry.find(canonicalPath);
      return row instanceof Promise ? row.then(pinned) : pinned(row);
    },
    list: () => registry.list(),
  };
}
