import { RecordReader, readArray } from '../capability/record-reader.ts';
import type { StateDirectory } from '../capability/state-directory.ts';
import { StateFile, type StateFormat } from '../capability/state-file.ts';
import { jsonState } from '../capability/state-json.ts';
import type { MutationGate } from '../mutation/mutation-gate.ts';
import { indexByPath } from './index-by-path.ts';
import type { WorkspacePins } from './workspace-registry.ts';

/**
 * Identities of the workspaces of a host's own registry, which keeps none: pinned when a workspace is first used, renewed only by
 * an operator (decisions 1.9).
 */
export interface WorkspacePinStore {
  /** @throws `state_unavailable`: pins that cannot be read are never taken for "first use" */
  find(canonicalPath: string): WorkspacePins | null | Promise<WorkspacePins | null>;
  /** Pins what was seen, unless somebody pinned before: that pin is the answer. @throws `state_unavailable` | `aborted` | ... */
  pin(canonicalPath: string, pins: WorkspacePins, signal?: AbortSignal): Promise<WorkspacePins>;
  /** Pins whatever was pinned before. @throws as `pin` */
  renew(canonicalPath: string, pins: WorkspacePins, signal?: AbortSignal): Promise<void>;
}

interface PinRecord extends WorkspacePins {
  readonly path: string;
  /** ISO 8601. */
  readonly pinnedAt: string;
}

type PinTable = ReadonlyMap<string, PinRecord>;

const pinBytes = 16 * 1024 * 1024;

/** `pins.json`, version 1: `{"version": 1, "pins": [{path, identity, gitDirIdentity, pinnedAt}]}`. */
const pinFormat: StateFormat<PinTable> = jsonState({
  name: 'pins.json',
  version: 1,
  limit: pinBytes,
  unavailable: 'state_unavailable',
  empty: (): PinTable => new Map(),
  parse: (body) => indexByPath(readArray(body, 'pins').map(parsePin)),
  print: (pins) => ({ pins: [...pins.values()] }),
});

export function createPinStore(state: StateDirectory, gate: MutationGate): WorkspacePinStore {
  return new FilePinStore(state, gate);
}

class FilePinStore implements WorkspacePinStore {
  readonly #file: StateFile<PinTable>;
  readonly #gate: MutationGate;
  readonly #key: `file:${string}`;

  constructor(state: StateDirectory, gate: MutationGate) {
    this.#file = new StateFile(state, pinFormat);
    this.#gate = gate;
    this.#key = `file:${state.path}/${pinFormat.name}`;
  }

  find(canonicalPath: string): WorkspacePins | null | Promise<WorkspacePins | null> {
    const pins = this.#file.current();
    if (!(pins instanceof Promise)) return pins.get(canonicalPath) ?? null;
    return pins.then((read) => read.get(canonicalPath) ?? null);
  }

  async pin(path: string, seen: WorkspacePins, signal?: AbortSignal): Promise<WorkspacePins> {
    const pins = await this.#update(signal, (before) => {
      return before.has(path) ? before : new Map(before).set(path, recordOf(path, seen));
    });
    return pins.get(path) as PinRecord;
  }

  async renew(path: string, seen: WorkspacePins, signal?: AbortSignal): Promise<void> {
    await this.#update(signal, (before) => new Map(before).set(path, recordOf(path, seen)));
  }

  async #update(signal: AbortSignal | undefined, change: (pins: PinTable) => PinTable): Promise<PinTable> {
    const options = signal === undefined ? {} : { signal };
    return this.#gate.run([this.#key], () => this.#file.update(change), options);
  }
}

function recordOf(path: string, { identity, gitDirIdentity }: WorkspacePins): PinRecord {
  return { path, identity, gitDirIdentity, pinnedAt: new Date().toISOString() };
}

function parsePin(value: unknown, index: number): PinRecord {
  const reader = new RecordReader(value, `pins[${index}]`);
  const pin = {
    path: reader.path('path'),
    identity: reader.identity('identity'),
    gitDirIdentity: reader.identityOrNull('gitDirIdentity'),
    pinnedAt: reader.time('pinnedAt'),
  };
  reader.end();
  return pin;
}
