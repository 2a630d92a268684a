import { randomUUID } from 'node:crypto';
import type { StateDirectory } from '../capability/state-directory.ts';
import { StateFile } from '../capability/state-file.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type {
  NewWorkspaceRow,
  WorkspacePins,
  WorkspaceRow,
  WritableWorkspaceRegistry,
} from './workspace-registry.ts';
import { tableOf, type WorkspaceTable, workspaceTableFormat } from './workspace-table.ts';

/**
 * The registry of this package's own: `registry.json` in the state directory. It may be written by several processes at once
 * (under one lease) and edited by hand while no server writes.
 * @throws `registry_unavailable` when what stands there cannot be read completely
 */
export async function openFileRegistry(
  state: StateDirectory,
  gate: MutationGate,
): Promise<WritableWorkspaceRegistry> {
  const registry = new FileWorkspaceRegistry(state, gate);
  await registry.mend();
  return registry;
}

class FileWorkspaceRegistry implements WritableWorkspaceRegistry {
  readonly #file: StateFile<WorkspaceTable>;
  readonly #gate: MutationGate;
  readonly #key: `file:${string}`;

  constructor(state: StateDirectory, gate: MutationGate) {
    this.#file = new StateFile(state, workspaceTableFormat);
    this.#gate = gate;
    this.#key = `file:${state.path}/${workspaceTableFormat.name}`;
  }

  find(canonicalPath: string): WorkspaceRow | null | Promise<WorkspaceRow | null> {
    const table = this.#file.current();
    if (!(table instanceof Promise)) return table.byPath.get(canonicalPath) ?? null;
    return table.then(({ byPath }) => byPath.get(canonicalPath) ?? null);
  }

  list(): readonly WorkspaceRow[] | Promise<readonly WorkspaceRow[]> {
    const table = this.#file.current();
    return table instanceof Promise ? table.then(({ rows }) => rows) : table.rows;
  }

  async add(row: NewWorkspaceRow, signal?: AbortSignal): Promise<WorkspaceRow> {
    const { path, title, identity, gitDirIdentity, allowMounts } = row;
    const added: WorkspaceRow = {
      id: randomUUID(),
      path,
      title,
      identity,
      gitDirIdentity,
      allowMounts,
      registeredAt: new Date().toISOString(),
    };
    await this.#update(signal, ({ rows, byPath }) => {
      if (byPath.has(path)) throw new AuthorityError('workspace_already_registered');
      return [...rows, added];
    });
    return added;
  }

  async remove(canonicalPath: string, signal?: AbortSignal): Promise<WorkspaceRow> {
    return this.#replaceRow(canonicalPath, () => null, signal);
  }

  async removeExactly({ id, path }: Pick<WorkspaceRow, 'id' | 'path'>): Promise<boolean> {
    let removed = false;
    await this.#update(undefined, ({ rows }) => {
      const row = rows.find((other) => other.id === id);
      if (row !== undefined && row.path !== path) throw new AuthorityError('deferred_workspace_unavailable');
      removed = row !== undefined;
      return rows.filter((other) => other !== row);
    });
    return removed;
  }

  async confirm(canonicalPath: string, pins: WorkspacePins, signal?: AbortSignal): Promise<WorkspaceRow> {
    const { identity, gitDirIdentity } = pins;
    return this.#replaceRow(canonicalPath, (row) => ({ ...row, identity, gitDirIdentity }), signal);
  }

  /** Lets a start finish what a kill left half done. Damage is not reported here: every later reading does. */
  async mend(): Promise<void> {
    try {
      await this.#gate.run([this.#key], () => this.#file.mend());
    } catch (error) {
      if (!isAuthorityError(error)) throw error;
    }
  }

  /** Answers with the new row, or with the one that was there when `change` makes nothing of it. */
  async #replaceRow(
    path: string,
    change: (row: WorkspaceRow) => WorkspaceRow | null,
    signal: AbortSignal | undefined,
  ): Promise<WorkspaceRow> {
    let answer: WorkspaceRow | undefined;
    await this.#update(signal, ({ rows, byPath }) => {
      const row = byPath.get(path);
      if (row === undefined) throw new AuthorityError('workspace_not_found');
      const changed = change(row);
      answer = changed ?? row;
      return rows.flatMap((other) => (other === row ? (changed ?? []) : other));
    });
    return answer as WorkspaceRow;
  }

  async #update(
    signal: AbortSignal | undefined,
    change: (table: WorkspaceTable) => readonly WorkspaceRow[],
  ): Promise<void> {
    const options = signal === undefined ? {} : { signal };
    await this.#gate.run([this.#key], () => this.#file.update((table) => tableOf(change(table))), options);
  }
}
