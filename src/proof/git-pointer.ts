import { posix } from 'node:path';
import { decodeClearPath } from './clear-path.ts';

/** What a `.git` file claims to be a part of (gitrepository-layout(5)). Only a claim: it says whom to ask. */
export type GitPointer =
  /** The administrative directory `<mainRoot>/.git/worktrees/<name>`. */
  | { readonly kind: 'worktree'; readonly mainRoot: string; readonly name: string }
  /** One of a repository that is no main checkout with a `.git` directory: bare, with a separate Git dir, a submodule. */
  | { readonly kind: 'other-worktree' }
  | { readonly kind: 'submodule' }
  | { readonly kind: 'separate-git-dir'; readonly gitDirectory: string };

/**
 * Reads a `.git` file by the one spelling that Git writes: `gitdir: `, a path, one newline. The path is absolute, or relative to the
 * directory `root` that holds the file, and in its shortest form. Null for every other content.
 */
export function parseGitPointer(bytes: Uint8Array, root: string): GitPointer | null {
  const target = parsePathLine(bytes, 'gitdir: ', root);
  if (target === null) return null;
  const worktree = /^(\/.+)\/\.git\/worktrees\/([^/]+)$/.exec(target);
  if (worktree !== null) {
    return { kind: 'worktree', mainRoot: worktree[1] as string, name: worktree[2] as string };
  }
  if (/\/worktrees\/[^/]+$/.test(target)) return { kind: 'other-worktree' };
  if (/\/\.git\/modules\//.test(target)) return { kind: 'submodule' };
  return { kind: 'separate-git-dir', gitDirectory: target };
}

/** The absolute path that one line holds after `prefix`; a relative one starts at `base`. Null unless it is written as Git writes it. */
export function parsePathLine(bytes: Uint8Array, prefix: string, base: string): string | null {
  const text = decodeClearPath(bytes.at(-1) === newline ? bytes.subarray(0, -1) : new Uint8Array());
  if (text === null || !text.startsWith(prefix)) return null;
  const path = text.slice(prefix.length);
  if (path === '' || path.endsWith('/') || posix.normalize(path) !== path) return null;
  const absolute = posix.resolve(base, path);
  return absolute === '/' ? null : absolute;
}

const newline = 0x0a;
