import { lstat, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { git } from '../support/git.ts';
import { randomOf } from '../support/random-of.ts';
import { headOf, useActionLab } from './action-lab.ts';
import { editAtRandom, type Random } from './random-edits.ts';

const here = useActionLab();
const seeds = Array.from({ length: process.env['WORKSPACE_AUTHORITY_LONG'] === '1' ? 400 : 30 }, (_, n) => n);
/** What the merges came to, so that none of it is left out. */
const seen = new Set<string>();
const actions = ['mergeToBase', 'updateFromBase', 'pull'] as const;

async function commitAll(root: string, random: Random, edits: number): Promise<string> {
  await editAtRandom(root, random, edits);
  await git(root, 'add', '-A', '.');
  await git(root, 'commit', '-q', '--allow-empty', '-m', `edit ${random(1000)}`);
  return headOf(root);
}

/** All that a merge leaves in a checkout: files as they lie there, all stages of the index, what Git says of both. */
async function stateOf(root: string) {
  const index = await git(root, 'ls-files', '-s', '-z');
  const listed = await git(root, 'ls-files', '-z', '--cached', '--others');
  const files: Record<string, string> = {};
  for (const name of new Set(listed.split('\0').filter((path) => path !== ''))) {
    const path = join(root, name);
    const entry = await lstat(path).catch(() => null);
    if (entry?.isSymbolicLink()) files[name] = `-> ${await readlink(path)}`;
    else if (entry?.isFile()) files[name] = `${entry.mode & 0o100} ${await readFile(path, 'latin1')}`;
  }
  return { index, files, status: await git(root, 'status', '--porcelain', '-z', '--untracked-files=all') };
}

/** What the checked-out branch is made of now: its tree and its parents, whoever made the commit. */
const headFacts = (root: string) => git(root, 'log', '-1', '--format=%T %P');
const mergeHead = (root: string) => headOf(root, 'MERGE_HEAD').catch(() => null);

describe('a merge of random histories', () => {
  it.each(seeds)(
    'R20, R22: comes to what plain Git comes to, seed %i',
    { timeout: 120_000 },
    async (seed) => {
      const random = randomOf(seed);
      const action = actions[seed % actions.length] as (typeof actions)[number];
      const { repo } = here;
      await commitAll(repo, random, 8);
      const tree = here.beside('tree');
      await git(repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
      for (let round = random(3); round >= 0; round -= 1) await commitAll(tree, random, 1 + random(4));
      for (let round = random(3); round > 0; round -= 1) await commitAll(repo, random, 1 + random(4));
      // Whose checkout takes what; a pull gets its commits from the other machine.
      const [target, theirs] =
        action === 'mergeToBase' ? [repo, await headOf(tree)] : [tree, await headOf(repo)];
      if (action === 'pull') {
        const remote = here.beside('remote.git');
        await git(here.lab.place, 'clone', '-q', '--bare', repo, remote);
        await git(remote, 'update-ref', 'refs/heads/topic', theirs);
        await git(repo, 'remote', 'add', 'origin', remote);
      }
      const twin = here.beside('twin');
      await git(here.lab.place, 'clone', '-q', '--no-hardlinks', target, twin);
      expect(await headOf(twin)).toBe(await headOf(target));
      if (action === 'pull') await git(twin, 'fetch', '-q', here.beside('remote.git'), theirs);
      else await git(twin, 'fetch', '-q', repo, theirs);

      const plain = await git(twin, 'merge', '-q', '--no-edit', theirs).then(
        () => 'ok',
        () => 'conflict',
      );
      const run = here.lab.service.actions[action](tree);
      const error: unknown = await run.then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error !== null && !isAuthorityError(error)) throw error;
      const reasonKey = error?.details['reasonKey'];
      if (reasonKey === 'actions.updateFromBase.upToDate') expect(plain).toBe('ok');
      else
        expect([error?.code ?? 'ok', reasonKey]).toEqual(
          plain === 'ok' ? ['ok', undefined] : ['merge_conflict', 'actions.merge.conflict'],
        );

      seen.add(error === null ? `${action} ${(await run).kind}` : `${action} ${error.code}`);
      expect(await stateOf(target)).toEqual(await stateOf(twin));
      expect([await headFacts(target), await mergeHead(target)]).toEqual([
        await headFacts(twin),
        await mergeHead(twin),
      ]);
      if (plain === 'conflict') {
        const unmerged = (await git(twin, 'diff', '--name-only', '--diff-filter=U', '-z'))
          .split('\0')
          .slice(0, -1);
        expect(error?.details['conflictFiles']).toEqual(unmerged);
      }
      await git(repo, 'fsck', '--strict');
    },
  );

  it('R22: of both kinds, with conflicts and without', () => {
    for (const action of actions) {
      for (const outcome of ['merge', 'merge_conflict']) expect([...seen]).toContain(`${action} ${outcome}`);
    }
  });
});
