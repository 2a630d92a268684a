import { open, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createGitRunner } from '../../src/git/run-git.ts';
import { deathGuardPath } from '../../src/native/index.ts';
import { git } from '../support/git.ts';
import { mayMount, mountTmpfs } from '../support/mounts.ts';
import { filesOf, headOf, useActionLab } from './action-lab.ts';
import { type Refused, refusalOf } from './merge-lab.ts';
import { actionsWith, type Moment } from './raced-actions.ts';

const here = useActionLab();
const runner = createGitRunner({ deathGuard: deathGuardPath() });
afterAll(() => runner.close());

const put = (name: string, text: string, repo = here.repo) => writeFile(join(repo, name), text);
const commit = (repo = here.repo) => here.lab.service.actions.commit(repo, { message: 'm' });

function raced(
  step: string,
  moment: Moment,
  happen: () => Promise<unknown>,
  repo = here.repo,
): Promise<Refused> {
  return refusalOf(actionsWith(here.lab, runner, { step, moment, happen }).commit(repo, { message: 'm' }));
}

/** A commit that somebody else makes of what was committed before, whatever the index holds. */
async function moveOn(): Promise<string> {
  const oid = (await git(here.repo, 'commit-tree', '-m', 'faster', '-p', 'HEAD', 'HEAD^{tree}')).trimEnd();
  await git(here.repo, 'update-ref', 'refs/heads/main', oid);
  return oid;
}

describe('somebody is faster than a commit', () => {
  it.each<[string, string, Moment]>([
    ['before anything is staged', 'stage', 'before'],
    ['once it is staged', 'stage', 'after'],
    ['once the tree is written', 'write-tree', 'after'],
    ['once the commit is made', 'commit-tree', 'after'],
    ['in the last moment', 'update-ref', 'before'],
  ])(
    'R22: a branch that moves %s keeps their commit, and what is staged is named',
    async (_, step, moment) => {
      await put('f', 'x\n');
      let theirs = '';
      const { code, details } = await raced(step, moment, async () => {
        theirs = await moveOn();
      });
      expect([code, details]).toMatchObject([
        'ref_moved',
        { reason: 'stale-target', partial: true, stage: 'commit', staged: true },
      ]);
      expect(details['committed']).toBeUndefined();
      expect([await headOf(here.repo), await git(here.repo, 'status', '--porcelain')]).toEqual([
        theirs,
        'A  f\n',
      ]);
      const { oid } = await commit();
      expect(await git(here.repo, 'log', '-1', '--format=%P', oid)).toBe(`${theirs}\n`);
      expect(await filesOf(here.repo)).toEqual({ f: 'x\n' });
    },
  );

  it('R22: HEAD that is switched meanwhile gets no commit, and neither does the branch it left', async () => {
    const before = await headOf(here.repo);
    await put('f', 'x\n');
    const { code } = await raced('commit-tree', 'after', () =>
      git(here.repo, 'symbolic-ref', 'HEAD', 'refs/heads/unborn'),
    );
    expect(code).toBe('ref_moved');
    expect(await git(here.repo, 'for-each-ref', '--format=%(refname) %(objectname)')).toBe(
      `refs/heads/main ${before}\n`,
    );
  });

  it('R22: a branch that is taken back after it moved is told, with the commit that stood', async () => {
    const before = await headOf(here.repo);
    await put('f', 'x\n');
    let committed = '';
    const { code, details } = await raced('update-ref', 'after', async () => {
      committed = await headOf(here.repo);
      await git(here.repo, 'update-ref', 'refs/heads/main', before);
    });
    expect([code, details]).toMatchObject(['ref_moved', { committed, partial: true }]);
    expect(await headOf(here.repo)).toBe(before);
  });

  it('R22: an index lock that a dead Git leaves in the midst is named, and so is what is staged', async () => {
    const before = await headOf(here.repo);
    const lock = join(here.repo, '.git/index.lock');
    await put('f', 'x\n');
    const { code, details } = await raced('stage', 'after', () => writeFile(lock, ''));
    expect([code, details]).toMatchObject([
      'repository_locked',
      {
        what: 'index',
        recovery: { remove: 'index.lock', below: 'git dir' },
        partial: true,
        stage: 'commit',
        staged: true,
      },
    ]);
    await rm(lock);
    expect([await headOf(here.repo), await git(here.repo, 'status', '--porcelain')]).toEqual([
      before,
      'A  f\n',
    ]);
    await commit();
    expect(await filesOf(here.repo)).toEqual({ f: 'x\n' });
  });
});

/** Writes until not one more byte has room. */
async function fill(path: string): Promise<void> {
  await using file = await open(path, 'w');
  for (const size of [1024 * 1024, 4096]) {
    const piece = Buffer.alloc(size);
    try {
      for (;;) await file.write(piece);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

describe.skipIf(!mayMount)('a disk that is full in the midst of a commit', () => {
  it.each([
    ['write-tree', 'no_space', 'exit-status'],
    ['commit-tree', 'no_space', 'exit-status'],
    // Git does not say why.
    ['update-ref', 'git_failed', 'ref-not-written'],
  ])(
    'R22: at %s leaves the branch, no lock and an index that is named, and the same again commits',
    async (step, expected, reason) => {
      const name = `full at ${step}`;
      const repo = join(here.lab.place, name);
      await mountTmpfs(repo, '4m');
      await here.lab.repository(name);
      const before = await headOf(repo);
      await put('f', 'x\n', repo);
      const filler = join(repo, '.git/filler');
      const { code, details } = await raced(step, 'before', () => fill(filler), repo);
      expect([code, details]).toMatchObject([
        expected,
        { reason, partial: true, stage: 'commit', staged: true, command: step },
      ]);
      const names = await readdir(join(repo, '.git'), { recursive: true });
      expect(names.filter((one) => one.endsWith('.lock'))).toEqual([]);
      expect([await headOf(repo), await git(repo, 'ls-files')]).toEqual([before, 'f\n']);
      await rm(filler);
      await commit(repo);
      expect(await filesOf(repo)).toEqual({ f: 'x\n' });
      await git(repo, 'fsck', '--strict');
    },
  );
});
