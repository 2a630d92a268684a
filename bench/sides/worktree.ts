import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createService, type Service, type ServiceLimits } from 'workspace-authority';
import type { Cleanup } from '../harness/cleanup.ts';
import { git, makeRepository } from './repository.ts';
import { makeScratch } from './scratch.ts';

/** A registered main checkout and linked worktrees of it. */
export interface OpenWorktrees {
  readonly service: Service;
  readonly main: string;
  readonly worktrees: readonly string[];
}

interface WorktreesWanted {
  readonly made: number;
  readonly rows?: number;
  readonly held?: number;
  readonly limits?: Partial<ServiceLimits>;
  readonly fill?: (main: string) => Promise<void>;
}

/**
 * Git makes the first `made` worktrees; the others, up to `rows` in the list, are rows written in its layout, as making a thousand takes
 * minutes and only their number matters. `held`: proven roots that the service keeps open. `fill` adds to
 * the main checkout before there are worktrees of it.
 */
export async function openWorktrees(
  cleanup: Cleanup,
  { made, rows = made, held = 256, limits = {}, fill }: WorktreesWanted,
): Promise<OpenWorktrees> {
  const scratch = await makeScratch(cleanup);
  const main = join(scratch, 'main');
  await mkdir(main);
  await makeRepository(main);
  await fill?.(main);
  const worktrees = Array.from({ length: made }, (_, index) => join(scratch, `worktree-${index}`));
  for (const path of worktrees) await git(main, 'worktree', 'add', '--quiet', '--detach', path);
  for (let index = made; index < rows; index += 1) await writeRow(scratch, main, index);
  const stateDirectory = join(scratch, 'state');
  const service = cleanup.use(
    await createService({
      stateDirectory,
      limits: { heldWorkspaces: held, ...limits },
      prover: 'nodegit',
    }),
  );
  if (service.workspaces === null) throw new Error('the embedded registry is missing');
  await service.workspaces.add(main);
  return { service, main, worktrees };
}

async function writeRow(scratch: string, main: string, index: number): Promise<void> {
  const rows = join(main, '.git/worktrees');
  const [first, row] = [join(rows, 'worktree-0'), join(rows, `worktree-${index}`)];
  await cp(first, row, { recursive: true });
  const path = (await readFile(join(first, 'gitdir'), 'utf8')).replace(/worktree-0/, `worktree-${index}`);
  await writeFile(join(row, 'gitdir'), path);
  await mkdir(join(scratch, `worktree-${index}`));
  await writeFile(join(scratch, `worktree-${index}/.git`), `gitdir: ${row}\n`);
}

/** Both questions that a program has to ask Git about a worktree. */
export async function askGit(worktree: string): Promise<string> {
  const top = await git(worktree, 'rev-parse', '--show-toplevel', '--git-common-dir');
  return top + (await git(worktree, 'worktree', 'list', '--porcelain', '-z'));
}
