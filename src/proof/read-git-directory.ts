import { emptyFacts, isDirectoryMode, ownerOf } from '../capability/file-facts.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { AuthorityError } from '../errors/index.ts';
import { headLimitBytes, parseHead } from '../git/head.ts';
import { type AdminFile, examineAdminFile, readAdminFile } from './admin-file.ts';
import { isClearPath } from './clear-path.ts';
import { establish, type FactLog } from './facts.ts';
import { NameWatch } from './name-watch.ts';
import { judgeConfiguration, type RepositoryFormat } from './repository-format.ts';
import { changeOrFailure } from './storage-failure.ts';
import { unsupported } from './unsupported.ts';

/** What the readers of all kinds of checkout have in common: the examination of what Git would read in a Git directory. */

/** A configuration with some thousand branches; nothing larger is real. */
export const configLimitBytes: number = 1024 * 1024;

/** Other files that Git or libgit2 read when they open a repository, with the size up to which they are believed. */
const examined: readonly (readonly [name: string, limitBytes: number])[] = [
  ['shallow', 16 * 1024 * 1024],
  ['packed-refs', 512 * 1024 * 1024],
  ['info/attributes', 1024 * 1024],
  ['info/exclude', 1024 * 1024],
  ['info/grafts', 1024 * 1024],
  ['info/sparse-checkout', 4 * 1024 * 1024],
  ['objects/info/alternates', 1024 * 1024],
];

export interface Configuration {
  readonly config: AdminFile;
  readonly worktreeConfig: AdminFile | null;
  readonly format: RepositoryFormat;
}

export function establishClearPath(path: string, log: FactLog): void {
  const clear = isClearPath(path);
  establish(
    log,
    { fact: 'path', expected: 'printable, no trailing space', seen: clear ? 'printable' : 'ambiguous' },
    clear,
    () => unsupported('path-not-supported'),
  );
}

export function establishOwner(what: string, directory: DirectoryHandle, owner: number, log: FactLog): void {
  const uid = ownerNow(directory);
  establish(
    log,
    { fact: `owner of ${what}`, expected: String(owner), seen: String(uid) },
    uid === owner,
    () => unsupported('foreign-owner', { what }),
  );
}

function ownerNow(directory: DirectoryHandle): number {
  return directory.factsCached('.', scratch) ? ownerOf(scratch) : directory.identity().uid;
}

const scratch = emptyFacts();

export async function readHead(directory: DirectoryHandle, owner: number, log: FactLog): Promise<AdminFile> {
  const file = await readAdminFile(directory, 'HEAD', headLimitBytes, owner);
  const head = file === null ? null : parseHead(file.bytes);
  const seen = head?.kind ?? (file === null ? 'none' : 'malformed');
  establish(log, { fact: 'HEAD', expected: 'a full ref or object name', seen }, head !== null, () =>
    unsupported('head-malformed'),
  );
  return file as AdminFile;
}

export async function readConfiguration(
  directory: DirectoryHandle,
  owner: number,
  log: FactLog,
): Promise<Configuration> {
  const config = await readAdminFile(directory, 'config', configLimitBytes, owner);
  if (config === null) {
    log?.push({ fact: 'configuration', expected: 'a file', seen: 'none', holds: false });
    throw unsupported('config-missing');
  }
  const worktreeConfig = await readAdminFile(directory, 'config.worktree', configLimitBytes, owner);
  const format = establishFormat(config.bytes, worktreeConfig?.bytes ?? null, log);
  return { config, worktreeConfig, format };
}

export function establishFormat(
  config: Uint8Array,
  worktreeConfig: Uint8Array | null,
  log: FactLog,
): RepositoryFormat {
  const expected = 'no include, no other work tree, known extensions';
  try {
    const format = judgeConfiguration(config, worktreeConfig);
    log?.push({ fact: 'configuration', expected, seen: format.objectFormat, holds: true });
    return format;
  } catch (error) {
    const seen = error instanceof AuthorityError ? String(error.details['reason']) : 'unreadable';
    log?.push({ fact: 'configuration', expected, seen, holds: false });
    throw error;
  }
}

export async function examineOtherFiles(
  directory: DirectoryHandle,
  owner: number,
  log: FactLog,
): Promise<void> {
  await Promise.all(examined.map(([name, limit]) => examineAdminFile(directory, name, limit, owner)));
  log?.push({ fact: 'other files Git reads', expected: 'regular, own, small', seen: 'so', holds: true });
}

export function stampOfConfiguration({ stamp: { inode, size, modifiedNs } }: AdminFile): string {
  return `${inode}:${size}:${modifiedNs}`;
}

/** A Git directory that stands for itself has directories for objects and refs, and no `commondir` that leads on. */
export function establishLayout(names: NameWatch, log: FactLog): void {
  const complete = ['objects', 'refs'].every((name) => {
    const found = names.find(name);
    return found !== null && isDirectoryMode(found.mode);
  });
  const plain = complete && names.find('commondir') === null;
  establish(
    log,
    { fact: 'layout', expected: 'objects and refs, no commondir', seen: plain ? 'so' : 'otherwise' },
    plain,
    () => unsupported('git-directory-incomplete'),
  );
}

/** The names whose coming or going changes what a Git directory is. */
export const gitDirectoryNames: readonly string[] = ['objects', 'refs', 'commondir', 'config.worktree'];

/** Watches `path` beneath `base`, which must lead to the held directory, and its owner. @throws `identity_changed` */
export async function watchHeld(
  base: DirectoryHandle,
  path: string,
  names: readonly string[],
  held: DirectoryHandle,
  owner: number,
  log: FactLog,
): Promise<NameWatch> {
  const watch = await NameWatch.begin(base, path, names, () => ownerNow(held) === owner).catch(
    (error: unknown) => {
      throw changeOrFailure(error, 'git dir');
    },
  );
  const { device, inode } = held.place();
  const same = watch.directory.device === device && watch.directory.inode === inode;
  establish(
    log,
    { fact: 'git dir', expected: 'the held directory', seen: same ? 'the held directory' : 'another' },
    same,
    () => new AuthorityError('identity_changed', { details: { what: 'git dir' } }),
  );
  return watch;
}

/** A change of the root directory that keeps its names may be one of its owner. */
export function watchRoot(root: DirectoryHandle, owner: number): Promise<NameWatch> {
  return NameWatch.begin(root, '.', [], () => ownerNow(root) === owner).catch((error: unknown) => {
    throw changeOrFailure(error, 'root');
  });
}
