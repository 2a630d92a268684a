import type { StoredIdentity } from '../capability/identity.ts';
import type { ManagedFacts, WorktreeIntent } from '../capability/managed-worktree-capability.ts';
import { RecordReader } from '../capability/record-reader.ts';
import { parseJsonObject } from '../capability/state-json.ts';
import { parseBranchName, parseCommitOid } from '../git/values.ts';

/** What the metadata file of a worktree says, and what it is bound to. */
export interface ManagedMetadata {
  readonly facts: ManagedFacts;
  readonly mainRoot: string;
  /** Null in version 1, which knows no identities that outlive a reboot. */
  readonly binding: MetadataBinding | null;
}

/** Ties the metadata to one worktree, so that a copy of the file makes nothing else managed. */
export interface MetadataBinding {
  readonly root: StoredIdentity;
  readonly gitDirectory: StoredIdentity;
}

/** Where metadata lies in the administrative directory of a worktree. Ours lies beside the plugin's, which never sees it. */
export const metadataPaths: Readonly<Record<1 | 2, string>> = {
  1: 'dsh-worktree/worktree.json',
  2: 'workspace-authority/worktree.json',
};

/** The limit of the plugin's own reader (wire contract 2). */
export const metadataLimitBytes: number = 64 * 1024;

/**
 * Version 1, as the existing plugin writes it. Fields that it does not need for authority may be anything, since its releases differ in
 * them; those it needs are judged strictly (R26).
 * @throws Error whose message says what is wrong, and quotes nothing
 */
export function parsePluginMetadata(bytes: Uint8Array): ManagedMetadata {
  const reader = new RecordReader(parseJsonObject(bytes), 'metadata');
  reader.take('version', '1', (value): value is 1 => value === 1);
  const facts = {
    version: 1 as const,
    ...takeOrigin(reader, { oid: 'baseRef', name: 'baseRefName' }),
    sourceTitle: reader.take('sourceWorkspaceTitle', 'a short text', isTitleOrAbsent) ?? null,
    createdAtMs: reader.take('createdAt', 'milliseconds since 1970', isTime),
  };
  return { facts, mainRoot: reader.path('mainRepoRoot'), binding: null };
}

/**
 * Version 2, our own: exactly these fields.
 * @throws Error whose message says what is wrong, and quotes nothing
 */
export function parseOwnMetadata(bytes: Uint8Array): ManagedMetadata {
  const reader = new RecordReader(parseJsonObject(bytes), 'metadata');
  reader.take('version', '2', (value): value is 2 => value === 2);
  const metadata: ManagedMetadata = {
    facts: {
      version: 2,
      ...takeOrigin(reader, { oid: 'baseOid', name: 'baseName' }),
      sourceTitle: reader.take('sourceTitle', 'a short text or null', isTitle),
      createdAtMs: reader.take('createdAtMs', 'milliseconds since 1970', isTime),
    },
    mainRoot: reader.path('mainRoot'),
    binding: { root: reader.identity('root'), gitDirectory: reader.identity('gitDirectory') },
  };
  reader.end();
  return metadata;
}

/** What `parseOwnMetadata` reads. */
export function printOwnMetadata(
  facts: Omit<ManagedFacts, 'version'>,
  mainRoot: string,
  binding: MetadataBinding,
): Uint8Array {
  const { intent, branch, baseOid, baseName, sourceTitle, createdAtMs } = facts;
  const body = {
    version: 2,
    intent,
    branch,
    baseOid,
    baseName,
    sourceTitle,
    createdAtMs,
    mainRoot,
    ...binding,
  };
  return Buffer.from(`${JSON.stringify(body, null, 1)}\n`);
}

function takeOrigin(reader: RecordReader, names: { readonly oid: string; readonly name: string }) {
  return {
    intent: reader.take('intent', 'checkout, branch-off or pr-checkout', isIntent),
    branch: reader.take('branch', 'a branch name', isBranch),
    baseOid: reader.take(names.oid, 'a full object name or null', isOidOrNull),
    baseName: reader.take(names.name, 'a branch name or null', isBranchOrNull),
  };
}

function isIntent(value: unknown): value is WorktreeIntent {
  return value === 'checkout' || value === 'branch-off' || value === 'pr-checkout';
}

function isBranch(value: unknown): value is string {
  return typeof value === 'string' && parseBranchName(value) !== null;
}

function isBranchOrNull(value: unknown): value is string | null {
  return value === null || isBranch(value);
}

function isOidOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && parseCommitOid(value) !== null);
}

/** The plugin cuts titles at 100 characters; ours are those of registry rows. */
const longestTitle = 200;

function isTitle(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && value.length <= longestTitle);
}

function isTitleOrAbsent(value: unknown): value is string | null | undefined {
  return value === undefined || isTitle(value);
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
