import { currentProcess, stateOf } from '../capability/process-owner.ts';
import type { StateDirectory } from '../capability/state-directory.ts';
import { StateFile } from '../capability/state-file.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import type { GuardedSession } from './session-guard.ts';
import { type Clock, hasEnded, readClock } from './session-life.ts';
import type { NewSession, SessionStore } from './session-store.ts';
import { type SessionMove, type SessionRow, type SessionTable, sessionTableFormat } from './session-table.ts';

export interface FileSessionsOptions {
  readonly clock?: Clock;
  /** Told of sessions that ended without being closed, when they are taken off the table. */
  readonly onEnded?: (row: SessionRow) => void;
}

/**
 * The session store of this package's own: `sessions.json` in the state directory. Several processes may write it at once (under one
 * lease). A file that is damaged, newer, or gone after it was written refuses every question; damage is not reported here.
 */
export async function openFileSessions(
  state: StateDirectory,
  gate: MutationGate,
  options: FileSessionsOptions = {},
): Promise<SessionStore> {
  const store = new FileSessions(state, gate, options);
  await store.mend();
  return store;
}

class FileSessions implements SessionStore {
  readonly #file: StateFile<SessionTable>;
  readonly #gate: MutationGate;
  readonly #key: `file:${string}`;
  readonly #clock: Clock;
  readonly #onEnded: (row: SessionRow) => void;

  constructor(state: StateDirectory, gate: MutationGate, options: FileSessionsOptions) {
    this.#file = new StateFile(state, sessionTableFormat);
    this.#gate = gate;
    this.#key = `file:${state.path}/${sessionTableFormat.name}`;
    this.#clock = options.clock ?? readClock;
    this.#onEnded = options.onEnded ?? (() => undefined);
  }

  async list(): Promise<readonly GuardedSession[]> {
    return (await this.rows()).map(guarded);
  }

  async rows(): Promise<readonly SessionRow[]> {
    const now = this.#clock();
    return [...(await this.#file.current()).values()].filter(({ life }) => !hasEnded(life, now));
  }

  async create(session: NewSession, signal?: AbortSignal): Promise<SessionRow> {
    const { id, workspace, directory, life } = session;
    const row: SessionRow = {
      id,
      workspace,
      header: directory,
      current: directory,
      moving: [],
      life,
      createdAt: new Date(this.#clock().wallMs).toISOString(),
    };
    await this.#update(signal, (table) => {
      if (table.has(id)) throw new AuthorityError('session_already_exists');
      return new Map(table).set(id, row);
    });
    return row;
  }

  async beginMove(id: string, directory: string, signal?: AbortSignal): Promise<SessionMove> {
    const move = { path: directory, by: currentProcess() };
    await this.#change(id, (row) => ({ ...row, moving: [...row.moving, move] }), signal);
    return move;
  }

  async settleMove(id: string, move: SessionMove): Promise<SessionRow> {
    return this.#change(id, (row) =>
      this.#renewed({
        ...row,
        current: move.path,
        // The client has gone on since, so nothing comes of moves that died with their server.
        moving: withoutMove(row.moving, move).filter(({ by }) => stateOf(by) !== 'dead'),
      }),
    );
  }

  async abandonMove(id: string, move: SessionMove): Promise<void> {
    await this.#update(undefined, (table) => {
      const row = table.get(id);
      if (row === undefined) return table;
      return new Map(table).set(id, { ...row, moving: withoutMove(row.moving, move) });
    });
  }

  async renew(id: string, signal?: AbortSignal): Promise<SessionRow> {
    return this.#change(id, (row) => this.#renewed(row), signal);
  }

  async close(id: string, signal?: AbortSignal): Promise<SessionRow> {
    let closed: SessionRow | undefined;
    await this.#update(signal, (table) => {
      closed = table.get(id);
      if (closed === undefined) throw new AuthorityError('session_not_found');
      const others = new Map(table);
      others.delete(id);
      return others;
    });
    return closed as SessionRow;
  }

  /** Lets a start finish what a kill left half done. */
  async mend(): Promise<void> {
    try {
      await this.#gate.run([this.#key], () => this.#file.mend());
    } catch (error) {
      if (!isAuthorityError(error)) throw error;
    }
  }

  #renewed(row: SessionRow): SessionRow {
    return row.life.ends === 'lease' ? { ...row, life: { ...row.life, renewed: this.#clock() } } : row;
  }

  async #change(
    id: string,
    change: (row: SessionRow) => SessionRow,
    signal?: AbortSignal,
  ): Promise<SessionRow> {
    let changed: SessionRow | undefined;
    await this.#update(signal, (table) => {
      const row = table.get(id);
      if (row === undefined) throw new AuthorityError('session_not_found');
      changed = change(row);
      return changed === row ? table : new Map(table).set(id, changed);
    });
    return changed as SessionRow;
  }

  /** `change` sees only sessions that have not ended; the others go with the next write. */
  async #update(
    signal: AbortSignal | undefined,
    change: (table: SessionTable) => SessionTable,
  ): Promise<void> {
    const options = signal === undefined ? {} : { signal };
    let ended: readonly SessionRow[] = [];
    await this.#gate.run(
      [this.#key],
      () =>
        this.#file.update((table) => {
          const now = this.#clock();
          ended = [...table.values()].filter(({ life }) => hasEnded(life, now));
          if (ended.length === 0) return change(table);
          const gone = new Set(ended.map(({ id }) => id));
          return change(new Map([...table].filter(([id]) => !gone.has(id))));
        }),
      options,
    );
    for (const row of ended) this.#onEnded(row);
  }
}

function withoutMove(moves: readonly SessionMove[], move: SessionMove): readonly SessionMove[] {
  const at = moves.findIndex(({ path, by }) => path === move.path && sameProcess(by, move.by));
  return at === -1 ? moves : moves.toSpliced(at, 1);
}

function sameProcess(left: SessionMove['by'], right: SessionMove['by']): boolean {
  return (
    left.pid === right.pid &&
    left.startTime === right.startTime &&
    left.pidNamespace === right.pidNamespace &&
    left.boot === right.boot
  );
}

function guarded({ id, workspace, header, current, moving }: SessionRow): GuardedSession {
  const place = (path: string) => ({ path, canonical: path });
  return {
    id,
    header: place(header),
    current: [current, ...moving.map(({ path }) => path)].map(place),
    workspaces: [workspace],
    dormant: false,
  };
}
