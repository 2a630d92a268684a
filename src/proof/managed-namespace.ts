import { createHash } from 'node:crypto';
import type { DirectoryHandle } from '../capability/handles.ts';
import { matchesStoredIdentity, type StoredIdentity, toStoredIdentity } from '../capability/identity.ts';
import { RecordReader } from '../capability/record-reader.ts';
import { parseJsonObject } from '../capability/state-json.ts';
import type { HeldMain } from './checkout-claim.ts';

/** A directory below which managed worktrees lie as `<path>/<hash of the main checkout>/<leaf>`. */
export interface ManagedRoot {
  /** Canonical path. */
  readonly path: string;
  /** How the hash directory is named, and what its owner record is: as the existing plugin does it, or as this package does. */
  readonly scheme: 'plugin' | 'authority';
}

export const ownerRecordNames = { plugin: '.repo-owner.json', authority: 'owner.json' } as const;

export const ownerRecordLimitBytes: number = 64 * 1024;

/**
 * The managed root and the hash directory that a path lies directly in; null when it lies in none. The path's way was walked without
 * links, so both are canonical directories (R25).
 */
export function findNamespace(
  roots: readonly ManagedRoot[],
  path: string,
): { readonly root: ManagedRoot; readonly hashName: string } | null {
  for (const root of roots) {
    if (!path.startsWith(`${root.path}/`)) continue;
    const [hashName, leaf, ...deeper] = path.slice(root.path.length + 1).split('/');
    if (hashName === undefined || leaf === undefined || deeper.length > 0) continue;
    return { root, hashName };
  }
  return null;
}

/**
 * Whether a hash directory may belong to a main checkout by its name. The plugin's 40 bits collide (W35); ours are 128, and where even
 * they do, `-1`, `-2`, ... are appended and the owner record decides.
 */
export function isHashOf(scheme: ManagedRoot['scheme'], hashName: string, mainRoot: string): boolean {
  if (scheme === 'plugin') return hashName === pluginHash(mainRoot);
  return hashName.replace(/-[1-9]\d{0,3}$/, '') === authorityHash(mainRoot);
}

/** First eight digits, in base 36 and padded to 13, of the first 64 bits of SHA-256 (wire contract 2). */
export function pluginHash(mainRoot: string): string {
  const digest = createHash('sha256').update(mainRoot).digest();
  return digest.readBigUInt64BE(0).toString(36).padStart(13, '0').slice(0, 8);
}

/** The first 128 bits of SHA-256, in hex. */
export function authorityHash(mainRoot: string): string {
  return createHash('sha256').update(mainRoot).digest('hex').slice(0, 32);
}

/** `owner.json`, version 2: whose worktrees lie in a hash directory. */
export function printOwnerRecord(
  mainRoot: string,
  gitDirectory: DirectoryHandle,
  createdAtMs: number,
): Uint8Array {
  const identity = toStoredIdentity(gitDirectory.identity());
  return Buffer.from(
    `${JSON.stringify({ version: 2, mainRoot, gitDirectory: identity, createdAtMs }, null, 1)}\n`,
  );
}

/**
 * Whether the record of a hash directory names this main checkout. Ours must be there; the plugin's may be, with device and inode of the
 * main root: the device number changes over a reboot (W33) and does not count, the inode is compared exactly (W34). A damaged record
 * names nobody.
 */
export function isRecordOf(
  scheme: ManagedRoot['scheme'],
  bytes: Uint8Array,
  main: Pick<HeldMain, 'path' | 'root' | 'gitDirectory'>,
): boolean {
  const record = parseRecord(scheme, bytes);
  if (record === null || record.mainRoot !== main.path) return false;
  return 'inode' in record
    ? record.inode === main.root.place().inode
    : matchesStoredIdentity(main.gitDirectory.identity(), record.gitDirectory);
}

function parseRecord(scheme: ManagedRoot['scheme'], bytes: Uint8Array) {
  try {
    return scheme === 'plugin' ? parsePluginRecord(bytes) : parseOwnRecord(bytes);
  } catch {
    return null;
  }
}

function parsePluginRecord(bytes: Uint8Array): { readonly mainRoot: string; readonly inode: bigint } {
  const reader = new RecordReader(parseJsonObject(bytes), 'owner record');
  reader.take('version', '1', (value): value is 1 => value === 1);
  const inode = reader.take('ino', 'a decimal number in a string', isDecimal);
  return { mainRoot: reader.path('mainRepoRoot'), inode: BigInt(inode) };
}

function parseOwnRecord(bytes: Uint8Array): {
  readonly mainRoot: string;
  readonly gitDirectory: StoredIdentity;
} {
  const reader = new RecordReader(parseJsonObject(bytes), 'owner record');
  reader.take('version', '2', (value): value is 2 => value === 2);
  const record = { mainRoot: reader.path('mainRoot'), gitDirectory: reader.identity('gitDirectory') };
  reader.take(
    'createdAtMs',
    'milliseconds since 1970',
    Number.isSafeInteger as (value: unknown) => value is number,
  );
  reader.end();
  return record;
}

function isDecimal(value: unknown): value is string {
  return typeof value === 'string' && /^\d{1,20}$/.test(value);
}
