import type { WorkspaceRegistry, WorkspaceRow } from '../../src/registry/workspace-registry.ts';

/** A registry that a test can change, break and make slow. */
export class MemoryRegistry implements WorkspaceRegistry {
  readonly rows = new Map<string, WorkspaceRow>();
  failure: Error | null = null;
  asked = 0;

  register(path: string, parts: Partial<WorkspaceRow> = {}): WorkspaceRow {
    const row: WorkspaceRow = {
      id: `row-${this.rows.size + 1}`,
      path,
      title: null,
      identity: null,
      gitDirIdentity: null,
      allowMounts: false,
      registeredAt: '2026-01-01T00:00:00.000Z',
      ...parts,
    };
    this.rows.set(path, row);
    return row;
  }

  find(path: string): WorkspaceRow | null | Promise<WorkspaceRow | null> {
    this.asked += 1;
    if (this.failure !== null) throw this.failure;
    return this.rows.get(path) ?? null;
  }

  list(): readonly WorkspaceRow[] {
    return [...this.rows.values()];
  }
}
