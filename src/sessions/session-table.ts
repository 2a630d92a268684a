import type { ProcessOwner } from '../capability/process-owner.ts';
import { RecordReader, readArray } from '../capability/record-reader.ts';
import type { StateFormat } from '../capability/state-file.ts';
import { jsonState } from '../capability/state-json.ts';
import type { Instant, SessionLife } from './session-life.ts';

/** A session of the embedded store. All paths are canonical. */
export interface SessionRow {
  readonly id: string;
  /** Root of the workspace or worktree that it was created through. */
  readonly workspace: string;
  /** The directory it was created in. */
  readonly header: string;
  /** The directory it works in. */
  readonly current: string;
  /** Directories it is on its way to: written down before they are proven, so that no moment is without. */
  readonly moving: readonly SessionMove[];
  readonly life: SessionLife;
  /** ISO 8601. */
  readonly createdAt: string;
}

export interface SessionMove {
  readonly path: string;
  /** The process that makes the move. */
  readonly by: ProcessOwner;
}

/** Sessions by id, in the order of their creation. */
export type SessionTable = ReadonlyMap<string, SessionRow>;

/** A row takes some 600 bytes. */
const tableBytes = 16 * 1024 * 1024;
const idShape = /^[A-Za-z0-9_-]{8,120}$/;
/** The longest lease: a day. */
const longestLeaseSeconds = 24 * 60 * 60;
const shortestLeaseSeconds = 5;

/** `sessions.json`, version 1: `{"version": 1, "sessions": [...]}` with the fields of `SessionRow`, all present, no others. */
export const sessionTableFormat: StateFormat<SessionTable> = jsonState({
  name: 'sessions.json',
  version: 1,
  limit: tableBytes,
  unavailable: 'session_guard_unavailable',
  empty: (): SessionTable => new Map(),
  parse: (body) => {
    const rows = readArray(body, 'sessions').map(parseRow);
    const table = new Map(rows.map((row) => [row.id, row]));
    if (table.size < rows.length) throw new Error('contains an id twice');
    return table;
  },
  print: (table) => ({ sessions: [...table.values()] }),
});

export function isSessionId(text: string): boolean {
  return idShape.test(text);
}

function parseRow(value: unknown, index: number): SessionRow {
  const place = `sessions[${index}]`;
  const reader = new RecordReader(value, place);
  const row = {
    id: reader.take('id', 'an identifier', (id): id is string => typeof id === 'string' && isSessionId(id)),
    workspace: reader.path('workspace'),
    header: reader.path('header'),
    current: reader.path('current'),
    moving: reader
      .take('moving', 'an array', Array.isArray as (value: unknown) => value is readonly unknown[])
      .map((move, at) => parseMove(move, `${place}.moving[${at}]`)),
    life: parseLife(reader.take('life', 'an object', isObject), `${place}.life`),
    createdAt: reader.time('createdAt'),
  };
  reader.end();
  return row;
}

function parseMove(value: unknown, place: string): SessionMove {
  const reader = new RecordReader(value, place);
  const move = {
    path: reader.path('path'),
    by: parseProcess(reader.take('by', 'an object', isObject), `${place}.by`),
  };
  reader.end();
  return move;
}

function parseLife(value: object, place: string): SessionLife {
  const reader = new RecordReader(value, place);
  const ends = reader.take('ends', 'one of closed, process and lease', isEnd);
  const life = readLife(ends, reader, place);
  reader.end();
  return life;
}

function readLife(ends: SessionLife['ends'], reader: RecordReader, place: string): SessionLife {
  switch (ends) {
    case 'closed':
      return { ends };
    case 'process':
      return {
        ends,
        process: parseProcess(reader.take('process', 'an object', isObject), `${place}.process`),
      };
    case 'lease': {
      const seconds = reader.take('seconds', 'a number of seconds', isLease);
      return {
        ends,
        seconds,
        renewed: parseInstant(reader.take('renewed', 'an object', isObject), `${place}.renewed`),
      };
    }
  }
}

function parseProcess(value: object, place: string): ProcessOwner {
  const reader = new RecordReader(value, place);
  const owner = {
    pid: reader.take('pid', 'a process id in a string', isProcessId),
    startTime: reader.take('startTime', 'a decimal number in a string', isDecimal),
    pidNamespace: reader.take('pidNamespace', 'a decimal number in a string', isDecimal),
    boot: reader.take('boot', 'eight digits of a boot id', isBoot),
  };
  reader.end();
  return owner;
}

function parseInstant(value: object, place: string): Instant {
  const reader = new RecordReader(value, place);
  const instant = {
    wallMs: reader.take('wallMs', 'milliseconds', isMilliseconds),
    monotonicMs: reader.take('monotonicMs', 'milliseconds', isMilliseconds),
    boot: reader.take('boot', 'eight digits of a boot id', isBoot),
  };
  reader.end();
  return instant;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isEnd(value: unknown): value is SessionLife['ends'] {
  return value === 'closed' || value === 'process' || value === 'lease';
}

export function isLease(value: unknown): value is number {
  return (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= shortestLeaseSeconds &&
    value <= longestLeaseSeconds
  );
}

/** Not 0 and not negative: to kill(2) those are groups. */
function isProcessId(value: unknown): value is string {
  return typeof value === 'string' && /^[1-9]\d{0,9}$/.test(value);
}

function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value);
}

function isBoot(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{8}$/.test(value);
}

function isMilliseconds(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
