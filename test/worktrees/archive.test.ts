import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import type { ArchiveOutcome } from '../../src/service.ts';
import { headOf, outcomeOf } from '../actions/action-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { addWorktree } from '../support/http-worktrees.ts';
import { commitAll, fill, useRemovalLab } from './removal-lab.ts';
import { stands, stateOf, tracesOf } from './worktree-state.ts';

const here = useRemovalLab();
const archives = () => here.service.worktreeArchives;

/** Looks, and archives exactly what it saw. */
async function archiveSeen(path = here.worktree): Promise<ArchiveOutcome> {
  const { token } = await archives().preflight(path);
  return archives().archive(path, { token });
}

const restore = (archive: string) => archives().restore(here.main, archive);

const traces = () => tracesOf(here.main, here.worktree, join(here.lab.place, 'state'));

it('R27: a clean worktree goes with its row, and its branch stays', async () => {
  const head = await headOf(here.worktree);
  const outcome = await archives().archive(here.worktree, {});
  expect(outcome).toMatchObject({ path: here.worktree, branch: 'task' });
  expect([await stands(here.worktree), await traces(), await headOf(here.main, 'refs/heads/task')]).toEqual([
    false,
    [],
    head,
  ]);
  expect(await archives().archived(here.main)).toMatchObject([
    { archive: outcome.archive, path: here.worktree, branch: 'task', files: 0 },
  ]);
});

type Make = (worktree: string, main: string) => Promise<unknown>;
const states: Readonly<Record<string, Make>> = {
  'nothing of its own': async () => undefined,
  'staged, unstaged, untracked and ignored files': async (worktree) => {
    await mkdir(join(worktree, 'deep/er'), { recursive: true });
    await fill(worktree, {
      '.gitignore': '*.db\n',
      'a.db': 'secret\0bytes',
      'deep/er/new': 'x',
      staged: '1',
    });
    await git(worktree, 'add', 'staged');
    await fill(worktree, { staged: '2', f: 'changed\n' });
  },
  'a staged and an unstaged deletion': async (worktree) => {
    await git(worktree, 'rm', '-q', 'g');
    await promisify(execFile)('rm', [join(worktree, 'f')]);
  },
  'links, and a file that can be run': async (worktree) => {
    await symlink('../somewhere/else', join(worktree, 'link'));
    await writeFile(join(worktree, 'run'), '#!/bin/sh\n', { mode: 0o755 });
  },
  'names that no text holds': async (worktree) => {
    await writeFile(Buffer.concat([Buffer.from(`${worktree}/`), Buffer.from([0x66, 0xff, 0x0a])]), 'x');
  },
  'a file that Git was told not to look at': async (worktree) => {
    await git(worktree, 'update-index', '--assume-unchanged', 'f');
    await fill(worktree, { f: 'mine\n' });
  },
  'a merge with conflicts in the middle': async (worktree, main) => {
    await fill(worktree, { f: 'theirs\n' });
    await commitAll(worktree, 'theirs');
    await fill(main, { f: 'ours\n' });
    await commitAll(main, 'ours');
    await git(worktree, 'merge', '-q', 'main').catch(() => undefined);
  },
  'commits on a detached HEAD, and one that was amended away': async (worktree) => {
    await git(worktree, 'checkout', '-q', '--detach');
    await fill(worktree, { f: 'first\n' });
    await commitAll(worktree, 'first');
    await fill(worktree, { f: 'second\n' });
    await git(worktree, 'commit', '-q', '-a', '--amend', '-m', 'second');
  },
};

it.each(Object.entries(states))(
  'R27: archived and restored, a worktree is as it was: %s',
  async (_title, make) => {
    await make(here.worktree, here.main);
    const before = await stateOf(here.worktree);
    const commits = before['(log)']?.trim().split('\n') ?? [];
    const { archive } = await archiveSeen();
    expect([await stands(here.worktree), await traces()]).toEqual([false, []]);
    // Nothing may depend on objects that Git is free to collect.
    await git(here.main, 'reflog', 'expire', '--expire=now', '--all');
    await git(here.main, 'gc', '-q', '--prune=now');
    const outcome = await restore(archive);
    expect(outcome).toMatchObject({ path: here.worktree, missing: [] });
    expect(await stateOf(here.worktree)).toEqual(before);
    for (const commit of commits) await git(here.worktree, 'cat-file', '-e', `${commit}^{tree}`);
    await git(here.worktree, 'fsck', '--strict', '--no-dangling');
    expect((await archives().preflight(here.worktree)).path).toBe(here.worktree);
    expect((await traces()).length).toBe(1);
  },
  30_000,
);

it('decisions 1.1: what would be lost is refused with a preview, and force confirms exactly what was shown to the same caller', async () => {
  await fill(here.worktree, { new: '1' });
  const ask = (caller: string) => outcomeOf(archives().archive(here.worktree, { force: true, caller }));
  expect(await ask('one')).toBe('worktree_unsafe: unsafe');
  expect(await ask('other')).toBe('worktree_unsafe: unsafe');
  await fill(here.worktree, { new: '2' });
  expect(await ask('one')).toBe('worktree_unsafe: unsafe');
  expect(await outcomeOf(archives().archive(here.worktree, { caller: 'one' }))).toBe(
    'worktree_unsafe: unsafe',
  );
  expect([await ask('one'), await stands(here.worktree)]).toEqual(['ok', false]);
});

it('R27: the token of another state archives nothing', async () => {
  const { token } = await archives().preflight(here.worktree);
  await fill(here.worktree, { new: '1' });
  expect(await outcomeOf(archives().archive(here.worktree, { token }))).toBe('worktree_changed');
  expect(await stands(join(here.worktree, 'new'))).toBe(true);
});

const refusals: Readonly<Record<string, readonly [Make, string]>> = {
  'a worktree lock': [(worktree, main) => git(main, 'worktree', 'lock', worktree), 'worktree_locked'],
  'a repository inside': [
    (worktree) => makeRepository(join(worktree, 'nested')),
    'worktree_blocked: repositories-inside',
  ],
  'a session': [
    async (worktree) => here.service.sessions?.create({ cwd: worktree }),
    'session_active: active-session',
  ],
};

it.each(Object.entries(refusals))('R27: %s is covered by no token', async (_title, [make, refusal]) => {
  await fill(here.worktree, { new: 'x' });
  await make(here.worktree, here.main);
  const before = await stateOf(here.worktree);
  const { token } = await archives().preflight(here.worktree);
  expect(await outcomeOf(archives().archive(here.worktree, { token, force: true }))).toBe(refusal);
  expect(await stateOf(here.worktree)).toEqual(before);
});

it('R33: a linked worktree that was not made here is never archived', async () => {
  const linked = await addWorktree(here.main, `${here.main} linked`, 'linked');
  expect(await outcomeOf(archives().archive(linked, { force: true }))).toBe(
    'worktree_not_managed: not-managed',
  );
  expect(await stands(linked)).toBe(true);
});

it('R27: a worktree that was replaced by a link is not what is archived', async () => {
  const moved = `${here.main} moved`;
  await rename(here.worktree, moved);
  await symlink(moved, here.worktree);
  expect(await outcomeOf(archives().archive(here.worktree, { force: true }))).toMatch(
    /^workspace_not_authorized/,
  );
  expect(await stands(join(moved, 'f'))).toBe(true);
});

it('R27: restoring overwrites nothing: where the path is taken it stands beside, and a branch that is in use stays', async () => {
  await fill(here.worktree, { new: 'kept' });
  const { archive } = await archiveSeen();
  await mkdir(here.worktree);
  await fill(here.worktree, { foreign: 'x' });
  await git(here.main, 'checkout', '-q', 'task');
  const outcome = await restore(archive);
  expect(outcome).toMatchObject({ path: `${here.worktree}-1`, branch: null });
  expect([await readFile(join(outcome.path, 'new'), 'utf8'), await readdir(here.worktree)]).toEqual([
    'kept',
    ['foreign'],
  ]);
});

it('R27: what does not fit the quota destroys nothing, and says so', async () => {
  await using small = await here.lab.another({ archives: { quotaBytes: 1000 } });
  await fill(here.worktree, { large: 'x'.repeat(100_000) });
  const { token } = await small.worktreeArchives.preflight(here.worktree);
  expect(await outcomeOf(small.worktreeArchives.archive(here.worktree, { token }))).toBe(
    'archive_quota_exceeded',
  );
  expect([await stands(join(here.worktree, 'large')), (await traces()).length]).toEqual([true, 1]);
});

it('an archive of another repository is not found', async () => {
  const { archive } = await archiveSeen();
  const other = await here.lab.repository(`other than ${here.main.slice(-2)}`);
  const error = await archives()
    .restore(other, archive)
    .catch((reason: unknown) => reason);
  expect(isAuthorityError(error) && error.code).toBe('archive_not_found');
});
