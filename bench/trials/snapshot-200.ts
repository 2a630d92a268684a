import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cleanup } from '../harness/cleanup.ts';
import { eachTimed } from '../harness/timing.ts';
import type { Contest } from '../harness/trial.ts';
import { git } from '../sides/repository.ts';
import { openWorktrees } from '../sides/worktree.ts';

const count = 200;
const directories = 10;
const filesEach = 10;
const atOnce = 8;

/** Our side looks each time: the 3 seconds in which an answer is simply given again are switched off. */
export async function prepare(cleanup: Cleanup): Promise<Contest> {
  const limits = { snapshotFreshMs: 0 };
  const { service, worktrees } = await openWorktrees(cleanup, { made: count, limits, fill });
  const read = () => service.snapshots.readMany(worktrees);
  await untilKept(read);
  return {
    ours: {
      sample: eachTimed(read),
      async verify() {
        const { found } = await read();
        assert.equal(found.size, count);
        for (const snapshot of found.values()) assert.ok(snapshot.isGit && snapshot.dirty === false);
      },
    },
    theirs: {
      sample: eachTimed(() => askGit(worktrees)),
      async verify() {
        for (const status of await askGit(worktrees)) assert.ok(!/^[12u?] /m.test(status));
      },
    },
  };
}

async function fill(main: string): Promise<void> {
  for (let index = 0; index < directories; index += 1) {
    const directory = join(main, `directory-${index}`);
    await mkdir(directory);
    for (let file = 0; file < filesEach; file += 1) {
      await writeFile(join(directory, `file-${file}`), `${index} ${file}\n`);
    }
  }
  await git(main, 'add', '--', '.');
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
  await git(main, ...identity, 'commit', '--quiet', '--no-gpg-sign', '-m', 'files');
}

/** Stamps take two seconds to settle, and the first answers are those before the watches. */
async function untilKept(read: () => Promise<unknown>): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await read();
    await sleep(2500);
  }
}

/** What a snapshot asks Git, without the second look at the configuration that ours takes. */
async function askGit(worktrees: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = [];
  const rest = worktrees.entries();
  const worker = async (): Promise<void> => {
    for (const [index, worktree] of rest) {
      await git(worktree, 'config', '--list', '-z', '--show-scope');
      await git(worktree, 'rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
      await git(worktree, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads/main');
      answers[index] = await git(worktree, 'status', '--porcelain=v2', '--branch', '--untracked-files=all');
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return answers;
}
