import { execFile } from 'node:child_process';
import { chown, copyFile, mkdir, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { metadataPaths } from '../../src/proof/managed-metadata.ts';
import { git, makeRepository } from '../support/git.ts';
import {
  addManagedWorktree,
  hashDirectoryOf,
  type ManagedWorktree,
  printPluginRecord,
  printRecord,
  type Version,
} from '../support/managed-worktrees.ts';

const run = promisify(execFile);
const nobody = 65534;
const limitBytes = 64 * 1024;

/** A change after which a worktree that was managed is linked only. */
export interface UnmanagedRow {
  readonly name: string;
  readonly versions: readonly Version[];
  /** What an operator is told. */
  readonly why: string;
  readonly needsRoot?: true;
  /** Makes the change. Answers with the path of the worktree where that is another one now. */
  readonly make: (worktree: ManagedWorktree, place: string) => Promise<unknown>;
}

const both: readonly Version[] = [1, 2];
const damaged = 'metadata damaged';
const foreignOwner = 'hash directory of another owner';
const anotherMain = 'metadata names another main checkout';
const anotherTree = 'metadata belongs to another worktree';
const outside = 'outside the managed roots';

type Json = Record<string, unknown>;

async function editJson(path: string, edit: (json: Json) => Json | unknown): Promise<void> {
  await writeFile(path, JSON.stringify(edit(JSON.parse(await readFile(path, 'utf8')))));
}

/** One field of the metadata is replaced; undefined leaves it out. */
function metadataField(names: Readonly<Record<Version, string>>, value: unknown): UnmanagedRow {
  return {
    name: `${names[2]} is ${JSON.stringify(value) ?? 'left out'}`,
    versions: both,
    why: damaged,
    make: ({ version, metadata }) => editJson(metadata, (json) => ({ ...json, [names[version]]: value })),
  };
}

const [version, intent, branch] = ['version', 'intent', 'branch'].map((name) => ({ 1: name, 2: name })) as [
  Readonly<Record<Version, string>>,
  Readonly<Record<Version, string>>,
  Readonly<Record<Version, string>>,
];
const baseOid = { 1: 'baseRef', 2: 'baseOid' };
const baseName = { 1: 'baseRefName', 2: 'baseName' };
const createdAt = { 1: 'createdAt', 2: 'createdAtMs' };
const title = { 1: 'sourceWorkspaceTitle', 2: 'sourceTitle' };
const mainRoot = { 1: 'mainRepoRoot', 2: 'mainRoot' };

const fieldRows: readonly UnmanagedRow[] = [
  ...[undefined, 0, 3, '1', '2', null].map((value) => metadataField(version, value)),
  ...[undefined, 'fork', '', null, ['checkout']].map((value) => metadataField(intent, value)),
  ...[undefined, '', '-x', 'a..b', 'a b', 'a.lock', 'a~1', '@', null, 7].map((value) =>
    metadataField(branch, value),
  ),
  ...[undefined, 'HEAD', 'c'.repeat(39), 'g'.repeat(40), 7].map((value) => metadataField(baseOid, value)),
  ...[undefined, '', '--upload-pack=x', 'a^'].map((value) => metadataField(baseName, value)),
  ...[undefined, -1, 1.5, '1', 2 ** 53].map((value) => metadataField(createdAt, value)),
  ...[7, 'x'.repeat(201)].map((value) => metadataField(title, value)),
  ...[undefined, '', 'main', '/', 7].map((value) => metadataField(mainRoot, value)),
];

/** Replaces a file by something else under its name. */
async function fifo(path: string): Promise<void> {
  await rm(path);
  await run('mkfifo', [path]);
}

async function throughLink(path: string): Promise<void> {
  await rename(path, `${path}.real`);
  await symlink(`${path}.real`, path);
}

async function directory(path: string): Promise<void> {
  await rm(path);
  await mkdir(path);
}

/** The same JSON, with so many spaces after it that it is one byte too long. */
async function padded(path: string): Promise<void> {
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.padEnd(limitBytes + 1));
}

const irregular: readonly (readonly [name: string, (path: string) => Promise<void>, needsRoot?: true])[] = [
  ['a FIFO', fifo],
  ['a symbolic link', throughLink],
  ['a directory', directory],
  ['one byte longer than 64 KiB', padded],
  ['3 GB', (path) => truncate(path, 3 * 1024 ** 3)],
  ['of another user', (path) => chown(path, nobody, nobody), true],
];

const damages: readonly (readonly [name: string, (path: string) => Promise<void>])[] = [
  ['empty', (path) => truncate(path, 0)],
  ['cut off', async (path) => truncate(path, (await readFile(path)).length - 3)],
  ['no JSON', (path) => writeFile(path, 'version: 1\n')],
  ['an array', (path) => editJson(path, (json) => [json])],
  ['null', (path) => writeFile(path, 'null')],
  ['followed by something', async (path) => writeFile(path, `${await readFile(path, 'utf8')}{}`)],
  ['not UTF-8', async (path) => writeFile(path, Buffer.concat([await readFile(path), Buffer.of(0xff)]))],
];

const metadataRows: readonly UnmanagedRow[] = [
  { name: 'no metadata', versions: both, why: 'no metadata', make: ({ metadata }) => rm(metadata) },
  {
    name: 'no directory for metadata',
    versions: both,
    why: 'no metadata',
    make: ({ metadata }) => rm(dirname(metadata), { recursive: true }),
  },
  ...irregular.map(([name, make, needsRoot]) => ({
    name: `metadata ${name}`,
    versions: both,
    why: damaged,
    make: ({ metadata }: ManagedWorktree) => make(metadata),
    ...(needsRoot && { needsRoot }),
  })),
  ...damages.map(([name, make]) => ({
    name: `metadata ${name}`,
    versions: both,
    why: damaged,
    make: ({ metadata }: ManagedWorktree) => make(metadata),
  })),
  {
    name: 'a link as the directory of the metadata',
    versions: both,
    why: damaged,
    make: ({ metadata }) => throughLink(dirname(metadata)),
  },
  {
    name: 'a field that nobody knows',
    versions: [2],
    why: damaged,
    make: ({ metadata }) => editJson(metadata, (json) => ({ ...json, more: 1 })),
  },
  {
    name: 'damaged metadata of version 2 beside valid metadata of version 1',
    versions: [1],
    why: damaged,
    make: async ({ administration }) => {
      await mkdir(join(administration, 'workspace-authority'));
      await writeFile(join(administration, metadataPaths[2]), '{');
    },
  },
  ...both.map((other) => ({
    name: `metadata of version ${3 - other} under the name of version ${other}`,
    versions: [other === 1 ? 2 : 1] as const,
    why: damaged,
    make: async ({ administration, metadata }: ManagedWorktree) => {
      const wrong = join(administration, metadataPaths[other]);
      await mkdir(dirname(wrong));
      await rename(metadata, wrong);
    },
  })),
];

const bindingRows: readonly UnmanagedRow[] = [
  {
    name: 'the main root of another repository',
    versions: both,
    why: anotherMain,
    make: async ({ version, main, metadata }) => {
      await makeRepository(`${main}-other`);
      await editJson(metadata, (json) => ({ ...json, [mainRoot[version]]: `${main}-other` }));
    },
  },
  {
    name: 'a link to the main root as main root',
    versions: both,
    why: anotherMain,
    make: async ({ version, main, metadata }) => {
      await symlink(main, `${main}-link`);
      await editJson(metadata, (json) => ({ ...json, [mainRoot[version]]: `${main}-link` }));
    },
  },
  {
    name: 'metadata copied from another worktree of the same repository',
    versions: [2],
    why: anotherTree,
    make: async (worktree, place) => {
      const path = join(worktree.hashDirectory, 'source');
      const source = await addManagedWorktree(place, 2, worktree.main, path);
      await copyFile(source.metadata, worktree.metadata);
    },
  },
  {
    name: 'metadata copied from a worktree of another repository',
    versions: both,
    why: anotherMain,
    make: async (worktree, place) => {
      const { version, main, metadata } = worktree;
      await makeRepository(`${main}-other`);
      await copyFile((await addManagedWorktree(place, version, `${main}-other`)).metadata, metadata);
    },
  },
  ...(['root', 'gitDirectory'] as const).map((name) => ({
    name: `another inode as ${name}`,
    versions: [2] as const,
    why: anotherTree,
    make: ({ metadata }: ManagedWorktree) =>
      editJson(metadata, (json) => ({ ...json, [name]: { ...(json[name] as Json), inode: '1' } })),
  })),
];

/** Git keeps its pointers right when it moves a worktree itself. */
async function move({ main, path }: ManagedWorktree, target: string): Promise<string> {
  await mkdir(dirname(target), { recursive: true });
  await git(main, 'worktree', 'move', path, target);
  return target;
}

const placeRows: readonly UnmanagedRow[] = [
  {
    name: 'moved out of the managed root',
    versions: both,
    why: outside,
    make: (worktree, place) => move(worktree, join(place, 'elsewhere', basename(worktree.main))),
  },
  {
    name: 'moved to the managed root itself',
    versions: both,
    why: outside,
    make: (worktree) => move(worktree, `${worktree.hashDirectory}-leaf`),
  },
  {
    name: 'moved deeper than a leaf',
    versions: both,
    why: outside,
    make: (worktree) => move(worktree, join(worktree.hashDirectory, 'deeper/leaf')),
  },
  {
    name: 'moved to the hash directory of another repository',
    versions: both,
    why: 'in the hash directory of another repository',
    make: (worktree, place) =>
      move(worktree, join(hashDirectoryOf(place, worktree.version, `${worktree.main}-other`), 'leaf')),
  },
  {
    name: 'moved to a directory whose name only begins like the hash',
    versions: both,
    why: 'in the hash directory of another repository',
    make: (worktree) => move(worktree, join(`${worktree.hashDirectory}-x`, 'leaf')),
  },
  {
    name: 'in the hash directory of the other scheme',
    versions: both,
    why: 'in the hash directory of another repository',
    make: (worktree, place) => {
      const other = hashDirectoryOf(place, worktree.version === 1 ? 2 : 1, place);
      return move(worktree, join(dirname(other), basename(worktree.hashDirectory), 'leaf'));
    },
  },
  {
    name: 'a link as the hash directory, and the worktree repaired where the link leads',
    versions: both,
    why: outside,
    make: async ({ main, hashDirectory }, place) => {
      const real = join(place, 'real', basename(hashDirectory));
      await mkdir(dirname(real), { recursive: true });
      await rename(hashDirectory, real);
      await symlink(real, hashDirectory);
      await git(main, 'worktree', 'repair', join(real, 'leaf'));
      return join(real, 'leaf');
    },
  },
];

const ownerRows: readonly UnmanagedRow[] = [
  {
    name: 'no owner record',
    versions: [2],
    why: foreignOwner,
    make: ({ record }) => rm(record),
  },
  {
    name: 'an owner record of another repository',
    versions: both,
    why: foreignOwner,
    make: async ({ version, main, record }) => {
      await makeRepository(`${main}-other`);
      const other = `${main}-other`;
      await writeFile(record, version === 1 ? await printPluginRecord(other) : await printRecord(other));
    },
  },
  ...irregular.map(([name, make, needsRoot]) => ({
    name: `an owner record that is ${name}`,
    versions: both,
    why: foreignOwner,
    make: ({ record }: ManagedWorktree) => make(record),
    ...(needsRoot && { needsRoot }),
  })),
  ...damages.map(([name, make]) => ({
    name: `an owner record that is ${name}`,
    versions: both,
    why: foreignOwner,
    make: ({ record }: ManagedWorktree) => make(record),
  })),
  ...[
    { version: 2 },
    { version: '1' },
    { ino: '1' },
    { ino: 1 },
    { ino: '' },
    { ino: '1e3' },
    { mainRepoRoot: '/' },
    { mainRepoRoot: '/x' },
  ].map((said) => ({
    name: `an owner record that says ${JSON.stringify(said)}`,
    versions: [1] as const,
    why: foreignOwner,
    make: async ({ main, record }: ManagedWorktree) => writeFile(record, await printPluginRecord(main, said)),
  })),
  ...[{ version: 1 }, { mainRoot: '/x' }, { createdAtMs: 'x' }, { more: 1 }, { gitDirectory: null }].map(
    (said) => ({
      name: `an owner record that says ${JSON.stringify(said)}`,
      versions: [2] as const,
      why: foreignOwner,
      make: ({ record }: ManagedWorktree) => editJson(record, (json) => ({ ...json, ...said })),
    }),
  ),
  {
    name: 'another inode as Git dir of the owner record',
    versions: [2],
    why: foreignOwner,
    make: ({ record }) =>
      editJson(record, (json) => ({
        ...json,
        gitDirectory: { ...(json['gitDirectory'] as Json), inode: '1' },
      })),
  },
  {
    name: 'a hash directory of another user',
    versions: both,
    why: foreignOwner,
    needsRoot: true,
    make: ({ hashDirectory }) => chown(hashDirectory, nobody, nobody),
  },
];

export const unmanagedRows: readonly UnmanagedRow[] = [
  ...fieldRows,
  ...metadataRows,
  ...bindingRows,
  ...placeRows,
  ...ownerRows,
];
