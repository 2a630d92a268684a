import { mkdir, realpath, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { git } from '../support/http-lab.ts';
import { type FakeHost, type FakeSession, workingDirectoryOf } from './fake-host.ts';

export interface FakeWorktree {
  /** Canonical. */
  readonly path: string;
  readonly branch: string;
  readonly baseCommit: string;
  /** The toplevel of the checkout that it was made from, which may be linked itself. */
  readonly repositoryRoot: string;
}

export interface FakeWorktreeRequest {
  readonly name?: string;
  readonly from?: string;
}

/**
 * The tool `create_worktree` of the bundle "Git Worktrees" of 0.2.1. Facts (host facts 3):
 * - the repository is that of the directory in which the session works now, whatever workspace it belongs to;
 * - the place is `<toplevel>/.agents/worktrees/<branch>`, and a branch may have slashes; from a linked checkout the pool lies in that checkout;
 * - there is no metadata: a `.gitignore` with `*`, and only if this call made the pool;
 * - checks before anything is made: the branch name, the commit, and that the branch is free; then mkdir, which fails where something stands;
 * - `worktree add --no-checkout -b`, then `reset --hard`, then the session moves there by `working-directory/change`;
 * - what was made before a failure stays.
 * Left out, since nothing of it stays behind: the sandbox, the blanked filters, and `--no-lazy-fetch`, which needs Git 2.45.
 */
export async function createWorktree(
  host: FakeHost,
  session: FakeSession,
  { name = `worktree-${count()}`, from = 'HEAD' }: FakeWorktreeRequest = {},
): Promise<FakeWorktree> {
  const quiet = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'];
  const run = async (directory: string, ...words: readonly string[]): Promise<string> =>
    (await git(directory, ...quiet, ...words)).replace(/\n$/, '');
  const current = workingDirectoryOf(session);
  await run(current, 'check-ref-format', '--branch', name);
  const repositoryRoot = await run(current, 'rev-parse', '--show-toplevel');
  const baseCommit = await run(current, 'rev-parse', '--verify', '--end-of-options', `${from}^{commit}`);
  const taken = await run(current, 'for-each-ref', `refs/heads/${name}`);
  if (taken !== '') throw new Error(`branch ${name} exists`);
  const pool = join(repositoryRoot, '.agents/worktrees');
  if (await madeDirectory(pool)) await writeFile(join(pool, '.gitignore'), '*\n');
  const place = join(pool, name);
  await mkdir(join(place, '..'), { recursive: true });
  await mkdir(place);
  await run(repositoryRoot, 'worktree', 'add', '--no-checkout', '-b', name, place, baseCommit);
  await run(place, 'reset', '--hard', '--no-recurse-submodules');
  const path = await realpath(place);
  await host.moveSession(session, path);
  return { path, branch: name, baseCommit, repositoryRoot };
}

let made = 0;
function count(): number {
  made += 1;
  return made;
}

async function madeDirectory(path: string): Promise<boolean> {
  try {
    await stat(path);
    return false;
  } catch {
    await mkdir(path, { recursive: true });
    return true;
  }
}
