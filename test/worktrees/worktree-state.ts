import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { git } from '../support/git.ts';

export async function stands(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Everything of a worktree that anybody could miss. */
export async function stateOf(path: string): Promise<Record<string, string>> {
  const state: Record<string, string> = {};
  for (const name of (await readdir(path, { recursive: true, encoding: 'latin1' })).sort()) {
    const place = Buffer.concat([Buffer.from(`${path}/`), Buffer.from(name, 'latin1')]);
    const facts = await lstat(place);
    if (name === '.git' || facts.isDirectory()) continue;
    const content = facts.isSymbolicLink() ? `-> ${await readlink(place)}` : await readFile(place, 'latin1');
    state[name] = `${facts.mode & 0o111 ? 'x ' : ''}${content}`;
  }
  state['(status)'] = await git(path, 'status', '--porcelain=v1', '--ignored', '--untracked-files=all');
  state['(index)'] = await git(path, 'ls-files', '-s', '-v');
  state['(head)'] = await git(path, 'rev-parse', 'HEAD');
  state['(name)'] = await git(path, 'rev-parse', '--symbolic-full-name', 'HEAD');
  state['(log)'] = await git(path, 'reflog', 'show', 'HEAD', '--format=%H');
  return state;
}

/** Rows of linked worktrees, and whatever lies beside worktrees or waits for recovery. */
export async function tracesOf(main: string, worktree: string, state: string): Promise<readonly string[]> {
  const rows = (await git(main, 'worktree', 'list', '--porcelain')).match(/^worktree .*$/gm) ?? [];
  const beside = (await readdir(dirname(worktree))).filter((name) => name.startsWith('.'));
  const journals = await readdir(join(state, 'worktree-journals')).catch(() => []);
  return [...rows.slice(1), ...beside, ...journals];
}
