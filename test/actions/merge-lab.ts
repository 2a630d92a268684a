import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { git } from '../support/git.ts';
import { headOf } from './action-lab.ts';

/** Files by name; null removes one, `-> x` makes a symbolic link to x. */
export type Files = Readonly<Record<string, string | null>>;

export async function put(root: string, files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    if (content === null) await git(root, 'rm', '-q', '-r', '--cached', '--', name);
    else await mkdir(dirname(path), { recursive: true });
    if (content?.startsWith('-> ')) await symlink(content.slice(3), path);
    else if (content !== null) await writeFile(path, content);
  }
}

/** Makes a commit of some changes in a checkout, as a person would, and gives its name. */
export async function commitFiles(root: string, message: string, files: Files): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    if (content === null) await git(root, 'rm', '-q', '-r', '--', name);
  }
  await put(root, Object.fromEntries(Object.entries(files).filter(([, content]) => content !== null)));
  await git(root, 'add', '-f', '-A', '.');
  await git(root, 'commit', '-q', '--allow-empty', '-m', message);
  return headOf(root);
}

/** All that an action may change of a checkout and its repository, beside objects. */
export async function stateOf(root: string): Promise<Record<string, string>> {
  const [refs, head, status, index] = await Promise.all([
    git(root, 'for-each-ref', '--format=%(refname) %(objectname)'),
    git(root, 'rev-parse', '--symbolic-full-name', 'HEAD'),
    git(root, 'status', '--porcelain', '--ignored', '--untracked-files=all'),
    git(root, 'ls-files', '-s'),
  ]);
  return { refs, head, status, index };
}

export function contentOf(root: string, name: string): Promise<string> {
  return readFile(join(root, name), 'utf8');
}

export interface Refused {
  readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** The refusal that an action must come to. */
export async function refusalOf(action: Promise<unknown>): Promise<Refused> {
  const error = await action.then(
    (value) => expect.fail(`not refused: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!isAuthorityError(error)) throw error;
  return { code: error.code, details: error.details };
}
