import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Authority } from '../../src/authority/authority.ts';
import type { FileCapability } from '../../src/capability/file-capability.ts';
import { type StoredIdentity, toStoredIdentity } from '../../src/capability/identity.ts';
import type {
  ManagedFacts,
  ManagedWorktreeCapability,
} from '../../src/capability/managed-worktree-capability.ts';
import { metadataPaths, printOwnMetadata } from '../../src/proof/managed-metadata.ts';
import {
  authorityHash,
  type ManagedRoot,
  ownerRecordNames,
  pluginHash,
  printOwnerRecord,
} from '../../src/proof/managed-namespace.ts';
import { native } from './addon.ts';
import { refusalOf } from './answers.ts';
import { git } from './git.ts';

/** Metadata of version 1 is the plugin's, of version 2 our own. */
export type Version = 1 | 2;

const schemes = { 1: 'plugin', 2: 'authority' } as const;

/** A worktree in a hash directory, with the metadata and owner record of its version. */
export interface ManagedWorktree {
  readonly version: Version;
  readonly main: string;
  readonly path: string;
  readonly hashDirectory: string;
  readonly administration: string;
  readonly metadata: string;
  readonly record: string;
}

/** What the metadata of every worktree here says, unless it is told otherwise. */
export const facts: Omit<ManagedFacts, 'version'> = {
  intent: 'branch-off',
  branch: 'task',
  baseOid: 'c'.repeat(40),
  baseName: 'main',
  sourceTitle: 'Title',
  createdAtMs: 1_700_000_000_000,
};

export function managedRoots(place: string): readonly ManagedRoot[] {
  return [1, 2].map((version) => ({
    path: join(place, schemes[version as Version]),
    scheme: schemes[version as Version],
  }));
}

/** Where worktrees of a main checkout lie below `place`. */
export function hashDirectoryOf(place: string, version: Version, main: string): string {
  return join(place, schemes[version], version === 1 ? pluginHash(main) : authorityHash(main));
}

export async function addManagedWorktree(
  place: string,
  version: Version,
  main: string,
  path: string = join(hashDirectoryOf(place, version, main), 'leaf'),
): Promise<ManagedWorktree> {
  const hashDirectory = dirname(path);
  await mkdir(hashDirectory, { recursive: true });
  await git(main, 'worktree', 'add', '-q', '-b', `task-${basename(path)}`, path);
  const administration = await administrationOf(path);
  const metadata = join(administration, metadataPaths[version]);
  const record = join(hashDirectory, ownerRecordNames[schemes[version]]);
  const worktree = { version, main, path, hashDirectory, administration, metadata, record };
  await writeMetadata(worktree);
  await writeRecord(worktree);
  return worktree;
}

/** The administrative directory that the `.git` file of a worktree names. */
async function administrationOf(path: string): Promise<string> {
  return (await readFile(join(path, '.git'), 'utf8')).slice('gitdir: '.length).trimEnd();
}

export async function writeMetadata(
  worktree: ManagedWorktree,
  said: Partial<ManagedFacts> = {},
): Promise<void> {
  await mkdir(dirname(worktree.metadata), { recursive: true });
  const all = { ...facts, ...said };
  const { main, path, administration } = worktree;
  const own = async () =>
    printOwnMetadata(all, main, {
      root: await identityOf(path),
      gitDirectory: await identityOf(administration),
    });
  const content = worktree.version === 1 ? JSON.stringify(pluginMetadata(main, all)) : await own();
  await writeFile(worktree.metadata, content, { mode: 0o600 });
}

/** As the plugin writes it, with fields that this package does not know (wire contract 2). */
function pluginMetadata(main: string, all: typeof facts = facts): Record<string, unknown> {
  return {
    version: 1,
    baseRef: all.baseOid,
    baseRefName: all.baseName,
    intent: all.intent,
    branch: all.branch,
    copiedFrom: null,
    slug: 'leaf',
    mainRepoRoot: main,
    createdAt: all.createdAtMs,
    creationTxId: '00000000-0000-4000-8000-000000000000',
    autoName: { status: 'attempted', placeholder: 'x' },
    sourceWorkspaceTitle: all.sourceTitle,
  };
}

export async function writeRecord({ version, main, record }: ManagedWorktree): Promise<void> {
  await writeFile(record, version === 1 ? await printPluginRecord(main) : await printRecord(main));
}

/** What is told of `main` may be told otherwise. */
export async function printPluginRecord(main: string, said: object = {}): Promise<string> {
  const { dev, ino } = await stat(main, { bigint: true });
  const record = { version: 1, mainRepoRoot: main, dev: `${dev}`, ino: `${ino}`, createdAt: 1, ...said };
  return JSON.stringify(record);
}

export async function printRecord(main: string): Promise<Uint8Array> {
  const directory = await native.openRoot(join(main, '.git'), {});
  try {
    return printOwnerRecord(main, directory, 1);
  } finally {
    directory.close();
  }
}

async function identityOf(path: string): Promise<StoredIdentity> {
  const directory = await native.openRoot(path, {});
  try {
    return toStoredIdentity(directory.identity());
  } finally {
    directory.close();
  }
}

export function isManaged(capability: FileCapability): capability is ManagedWorktreeCapability {
  return capability.kind === 'managed-worktree';
}

/** The kind that an authority grants, with the version of its metadata for a managed worktree, or its refusal. */
export async function kindOf(authority: Authority, selector: string): Promise<string> {
  try {
    await using capability = await authority.authorize(selector);
    return isManaged(capability) ? `managed by version ${capability.managed.version}` : capability.kind;
  } catch (error) {
    return refusalOf(error);
  }
}
