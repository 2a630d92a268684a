import { RecordReader } from '../capability/record-reader.ts';
import { parseJsonObject } from '../capability/state-json.ts';
import type { ArchiveEntry, ArchiveFacts, ArchiveKind } from './archives.ts';
import { isPlainPath } from './latin-path.ts';

/** `manifest.json` of an archive: what it is, and the hash of its list of entries, which holds the hashes of the contents. */
export interface Manifest {
  readonly kind: ArchiveKind;
  readonly owner: string;
  readonly facts: ArchiveFacts;
  readonly createdAt: string;
  readonly entries: number;
  /** Of the contents, one after the other. */
  readonly contentBytes: number;
  /** Hex, of the list of entries. */
  readonly listSha256: string;
}

const version = 1;
const longestOwner = 4096;
const permissionBits = 0o7777;

export function printManifest(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify({ version, ...manifest })}\n`);
}

/** @throws Error whose message says what is wrong, and quotes nothing */
export function parseManifest(bytes: Uint8Array): Manifest {
  const reader = new RecordReader(parseJsonObject(bytes), 'manifest');
  reader.take('version', `version ${version}`, (value): value is number => value === version);
  const manifest = {
    kind: reader.take('kind', 'a known kind', isKind),
    owner: reader.take('owner', 'an owner', isOwner),
    facts: reader.take('facts', 'an object', isFacts),
    createdAt: reader.time('createdAt'),
    entries: reader.take('entries', 'a count', isCount),
    contentBytes: reader.take('contentBytes', 'a count', isCount),
    listSha256: reader.take('listSha256', 'a hash', isSha256),
  };
  reader.end();
  return manifest;
}

/** One line of the list of entries, its line end included. */
export function printEntry({ area, path, type, mode, size, sha256, offset }: ArchiveEntry): string {
  return `${JSON.stringify({ area, path, type, mode, size, sha256, offset })}\n`;
}

/** @throws as `parseManifest` */
export function parseEntry(line: string): ArchiveEntry {
  const reader = new RecordReader(JSON.parse(line), 'entry');
  const entry = {
    area: reader.take('area', 'an area', isText),
    path: reader.take('path', 'a plain path', isPath),
    type: reader.take('type', 'a known type', isType),
    mode: reader.take('mode', 'permission bits', isMode),
    size: reader.take('size', 'a count', isCount),
    sha256: reader.take('sha256', 'a hash', isSha256),
    offset: reader.take('offset', 'a count', isCount),
  };
  reader.end();
  return entry;
}

export function isOwner(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longestOwner;
}

function isKind(value: unknown): value is ArchiveKind {
  return value === 'discard' || value === 'worktree';
}

function isFacts(value: unknown): value is ArchiveFacts {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && isPlainPath(value);
}

function isType(value: unknown): value is ArchiveEntry['type'] {
  return value === 'file' || value === 'symlink' || value === 'directory';
}

function isMode(value: unknown): value is number {
  return isCount(value) && value <= permissionBits;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isSha256(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}
