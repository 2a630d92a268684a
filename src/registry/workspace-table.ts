import { RecordReader, readArray } from '../capability/record-reader.ts';
import type { StateFormat } from '../capability/state-file.ts';
import { jsonState } from '../capability/state-json.ts';
import { indexByPath } from './index-by-path.ts';
import type { WorkspaceRow } from './workspace-registry.ts';

/** All rows of one registry, in the order of their registration. */
export interface WorkspaceTable {
  readonly rows: readonly WorkspaceRow[];
  readonly byPath: ReadonlyMap<string, WorkspaceRow>;
}

/** A row takes some 500 bytes, so this is far more than 10,000 workspaces; beyond it something else was put there. */
const tableBytes = 16 * 1024 * 1024;
const idShape = /^[0-9A-Za-z_-]{1,64}$/;
/** UTF-16 code units. */
export const longestTitle = 200;

/** `registry.json`, version 1: `{"version": 1, "workspaces": [...]}` with the fields of `WorkspaceRow`, all present, no others. */
export const workspaceTableFormat: StateFormat<WorkspaceTable> = jsonState({
  name: 'registry.json',
  version: 1,
  limit: tableBytes,
  unavailable: 'registry_unavailable',
  empty: () => tableOf([]),
  parse: (body) => tableOf(readArray(body, 'workspaces').map(parseRow)),
  print: ({ rows }) => ({ workspaces: rows }),
});

/** @throws Error when two rows claim one path or one id */
export function tableOf(rows: readonly WorkspaceRow[]): WorkspaceTable {
  if (new Set(rows.map((row) => row.id)).size < rows.length) throw new Error('contains an id twice');
  return { rows, byPath: indexByPath(rows) };
}

function parseRow(value: unknown, index: number): WorkspaceRow {
  const reader = new RecordReader(value, `workspaces[${index}]`);
  const row = {
    id: reader.take('id', 'an identifier', isId),
    path: reader.path('path'),
    title: reader.take('title', 'a short text or null', isTitle),
    identity: reader.identity('identity'),
    gitDirIdentity: reader.identityOrNull('gitDirIdentity'),
    allowMounts: reader.take('allowMounts', 'true or false', isBoolean),
    registeredAt: reader.time('registeredAt'),
  };
  reader.end();
  return row;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && idShape.test(value);
}

function isTitle(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && value.length <= longestTitle);
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}
