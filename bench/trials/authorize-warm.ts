import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../harness/cleanup.ts';
import { eachTimed, oneAtATime } from '../harness/timing.ts';
import type { Contest } from '../harness/trial.ts';
import { git, makeRepository } from '../sides/repository.ts';
import { makeScratch } from '../sides/scratch.ts';
import { settle } from '../sides/settle.ts';
import { openWorkspace } from '../sides/workspace.ts';

export type Selected = 'plain' | 'repository';

/**
 * The other side always asks about a repository: of a plain directory Git could say nothing. `changing`: entries of the selected
 * directory came and went a moment ago, so that an unchanged time stamp proves nothing about it.
 */
export async function prepare(cleanup: Cleanup, selected: Selected, changing: boolean): Promise<Contest> {
  const { service, root } = await openWorkspace(cleanup, async (directory) => {
    if (selected === 'repository') await makeRepository(directory);
  });
  const repository = selected === 'repository' ? root : await makeScratch(cleanup);
  if (selected === 'plain') await makeRepository(repository);

  async function authorize(): Promise<string> {
    await using capability = await service.authority.authorize(root);
    return `${capability.root} ${capability.gitBoundary}`;
  }
  async function askGit(): Promise<string> {
    const top = await git(repository, 'rev-parse', '--show-toplevel', '--git-common-dir');
    const worktrees = await git(repository, 'worktree', 'list', '--porcelain', '-z');
    return top + worktrees;
  }
  async function change(): Promise<void> {
    await writeFile(join(root, 'passing'), '');
    await rm(join(root, 'passing'));
  }
  const sample = oneAtATime(authorize);
  await settle();
  return {
    ours: {
      async sample(budgetMs) {
        if (changing) await change();
        return sample(budgetMs);
      },
      async verify() {
        assert.equal(await authorize(), `${root} ${selected === 'repository' ? 'root' : 'none'}`);
      },
    },
    theirs: {
      sample: eachTimed(askGit),
      async verify() {
        assert.ok((await askGit()).includes(`worktree ${repository}\0`));
      },
    },
  };
}
