import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AllowedDriver } from '../../src/git/allowed-drivers.ts';
import { git } from '../support/git.ts';
import { outcomeOf, useActionLab } from './action-lab.ts';

const program = '/usr/bin/git-lfs';

/** As docs/git.md says it. */
const lfs: AllowedDriver = {
  kind: 'filter',
  name: 'lfs',
  process: { program, words: ['filter-process'] },
};

const here = useActionLab({ allowedDrivers: [lfs] });

const content = 'large\n'.repeat(1000);
const file = () => join(here.repo, 'big.bin');
const commit = () => here.lab.service.actions.commit(here.repo, { message: 'm' });

/** A repository in which a person has said `git lfs install --local` and `git lfs track`. */
async function tracked(): Promise<void> {
  for (const [key, value] of [
    ['filter.lfs.clean', 'git-lfs clean -- %f'],
    ['filter.lfs.smudge', 'git-lfs smudge -- %f'],
    ['filter.lfs.process', 'git-lfs filter-process'],
    ['filter.lfs.required', 'true'],
    ['lfs.repositoryformatversion', '0'],
  ] as const)
    await git(here.repo, 'config', key, value);
  await writeFile(join(here.repo, '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
  await writeFile(file(), content);
}

describe.skipIf(!isInstalled())('git-lfs, as the operator allows it', () => {
  it('R20: stores a pointer, and neither diff nor snapshot takes the file for changed', async () => {
    await tracked();
    await commit();
    const pointer = await git(here.repo, 'cat-file', 'blob', 'HEAD:big.bin');
    expect(pointer).toMatch(
      /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:[0-9a-f]{64}\nsize 6000\n$/,
    );
    const { reads, snapshots } = here.lab.service;
    expect(await reads.diff(here.repo, {})).toMatchObject({ files: [] });
    expect(await snapshots.read(here.repo)).toMatchObject({ dirty: false });
    await writeFile(file(), `${content}more\n`);
    const diff = await reads.diff(here.repo, {});
    expect(diff.files.map(({ path, additions, deletions }) => [path, additions, deletions])).toEqual([
      ['big.bin', 2, 2],
    ]);
  });

  it('R22: brings the content back where a merge checks the file out', async () => {
    await git(here.repo, 'branch', 'task');
    await tracked();
    await commit();
    await git(here.repo, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    await git(here.repo, 'reset', '-q', '--hard', 'task');
    await rm(file(), { force: true });
    const tree = here.beside('tree');
    await git(here.repo, 'worktree', 'add', '-q', '-b', 'behind', tree, 'task');
    await git(here.repo, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    await here.lab.service.actions.updateFromBase(tree);
    expect(await readFile(join(tree, 'big.bin'), 'utf8')).toBe(content);
    expect(
      await git(tree, '-c', `filter.lfs.process=${program} filter-process`, 'status', '--porcelain'),
    ).toBe('');
  });

  it('W18: is refused by name where the operator has not allowed it', async () => {
    await tracked();
    const service = await here.lab.another({ allowedDrivers: [] });
    expect(await outcomeOf(service.actions.commit(here.repo, { message: 'm' }))).toBe(
      'untrusted_repository_config',
    );
    expect(await git(here.repo, 'log', '--format=%s')).toBe('first\n');
  });
});

function isInstalled(): boolean {
  try {
    execFileSync(program, ['version']);
    return true;
  } catch {
    return false;
  }
}
