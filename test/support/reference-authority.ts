import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { git } from './git.ts';

/** A row as the reference knows it: the directory that stood under the path when it was registered. */
export interface ReferenceRow {
  readonly path: string;
  readonly object: string;
}

/**
 * What an authority must answer, by the slow and obvious way: plain file access, and what Git itself prints about each checkout. Knows
 * nothing of handles, races, caches or what is hostile; for trees that nobody changes meanwhile. Answers are `refused`, `unsupported`, or
 * the kind, the boundary, the main root and HEAD of what is granted.
 */
export async function referenceAnswer(
  rows: ReadonlyMap<string, ReferenceRow>,
  selector: string,
): Promise<string> {
  const path = `/${selector
    .split('/')
    .filter((component) => component !== '' && component !== '.')
    .join('/')}`;
  const canonical = await realpath(path).catch(() => null);
  const row = rows.get(path) ?? (canonical === null ? undefined : rows.get(canonical));
  if (row === undefined && canonical !== selector) return 'refused';
  const root = row?.path ?? selector;
  if ((await objectAt(root)) === null) return 'refused';
  if (row !== undefined && (await objectAt(root)) !== row.object) return 'refused';
  const refusal = row === undefined ? 'refused' : 'unsupported';
  if (root.split('/').includes('.git')) return refusal;
  switch (await typeOf(join(root, '.git'))) {
    case 'none':
      if (row === undefined) return 'refused';
      return (await isInRepository(root)) ? 'workspace nested' : 'workspace none';
    case 'directory':
      if (row === undefined) return 'refused';
      return (await isMainCheckout(root)) ? `workspace root ${root} ${await headOf(root)}` : 'unsupported';
    case 'file':
      return worktreeAnswer(rows, root, row !== undefined);
    default:
      return refusal;
  }
}

async function worktreeAnswer(
  rows: ReadonlyMap<string, ReferenceRow>,
  root: string,
  registered: boolean,
): Promise<string> {
  const refusal = registered ? 'unsupported' : 'refused';
  const text = await readFile(join(root, '.git'), 'utf8');
  if (!text.startsWith('gitdir: ')) return refusal;
  const administration = resolve(root, text.slice('gitdir: '.length).trimEnd());
  const [, main, name] = /^(\/.+)\/\.git\/worktrees\/([^/]+)$/.exec(administration) ?? [];
  if (main === undefined || name === undefined) return refusal;
  const row = rows.get(main);
  if (row === undefined && !registered) return 'refused';
  const object = await objectAt(main);
  if (object === null || (row !== undefined && object !== row.object)) return refusal;
  if ((await typeOf(join(main, '.git'))) !== 'directory' || !(await isMainCheckout(main))) return refusal;
  const back = await readFile(join(administration, 'gitdir'), 'utf8').catch(() => '');
  if (resolve(administration, back.trimEnd()) !== join(root, '.git')) return refusal;
  if (!(await isListed(main, root))) return 'unsupported';
  const places = await placesOf(root);
  if (places !== `${root}\n${administration}\n${main}/.git\n`) return 'unsupported';
  return `${registered ? 'workspace' : 'linked-worktree'} root ${main} ${await headOf(root)}`;
}

/** Number and birth of the directory at a path without links; null when there is none. */
export async function objectAt(path: string): Promise<string | null> {
  try {
    const facts = await lstat(path, { bigint: true });
    if (!facts.isDirectory() || (await realpath(path)) !== path) return null;
    return `${facts.ino} ${facts.birthtimeNs}`;
  } catch {
    return null;
  }
}

async function typeOf(path: string): Promise<'none' | 'directory' | 'file' | 'other'> {
  const facts = await lstat(path).catch(() => null);
  if (facts === null) return 'none';
  if (facts.isDirectory()) return 'directory';
  return facts.isFile() ? 'file' : 'other';
}

async function isInRepository(path: string): Promise<boolean> {
  for (let above = dirname(path); ; above = dirname(above)) {
    if ((await typeOf(join(above, '.git'))) !== 'none') return true;
    if (above === '/') return false;
  }
}

async function isMainCheckout(path: string): Promise<boolean> {
  return (await placesOf(path)) === `${path}\n${path}/.git\n${path}/.git\n`;
}

/** Root, Git dir and common dir, as Git finds them when it starts there. */
async function placesOf(path: string): Promise<string> {
  const words = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir'];
  return git(path, 'rev-parse', '--path-format=absolute', ...words).catch(() => '');
}

async function isListed(main: string, root: string): Promise<boolean> {
  const listing = await git(main, 'worktree', 'list', '--porcelain', '-z').catch(() => '');
  const [first, ...others] = listing.split('\0\0').map((row) => row.split('\0'));
  if (first?.[0] !== `worktree ${main}`) return false;
  return others.some(
    ([place, ...attributes]) =>
      place === `worktree ${root}` && !attributes.some((attribute) => attribute.startsWith('prunable')),
  );
}

async function headOf(path: string): Promise<string> {
  const directory = (await git(path, 'rev-parse', '--absolute-git-dir')).trimEnd();
  return (await readFile(join(directory, 'HEAD'), 'utf8')).trimEnd();
}
