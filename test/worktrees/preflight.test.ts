import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Preflight } from '../../src/service.ts';
import { outcomeOf } from '../actions/action-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { addWorktree, administrationOf } from '../support/http-worktrees.ts';
import { commitAll, fill, useRemovalLab } from './removal-lab.ts';

const here = useRemovalLab();
const look = (path = here.worktree): Promise<Preflight> => here.service.worktreeArchives.preflight(path);

it('R27: a worktree with nothing of its own is safe to archive, and asking twice gives the same token', async () => {
  const first = await look();
  expect(first).toMatchObject({ safe: true, blockers: [], branch: 'task', operation: null });
  expect(await look()).toEqual(first);
});

interface Case {
  readonly make: (worktree: string, main: string) => Promise<unknown>;
  readonly seen: Partial<Record<keyof Preflight, unknown>>;
  readonly blockers?: readonly string[];
}

const one = (path: string) => ({ count: 1, paths: [path] });
const cases: Readonly<Record<string, Case>> = {
  'a staged file': {
    make: async (worktree) => {
      await fill(worktree, { new: 'x' });
      await git(worktree, 'add', 'new');
    },
    seen: { staged: one('new'), unstaged: { count: 0, paths: [] } },
  },
  'a changed file': { make: (worktree) => fill(worktree, { f: 'changed\n' }), seen: { unstaged: one('f') } },
  'an untracked file': { make: (worktree) => fill(worktree, { new: 'x' }), seen: { untracked: one('new') } },
  'an untracked file that the configuration hides (W7)': {
    make: async (worktree, main) => {
      await git(main, 'config', 'status.showUntrackedFiles', 'no');
      await fill(worktree, { new: 'x' });
    },
    seen: { untracked: one('new') },
  },
  'an ignored file (W8)': {
    make: (worktree) => fill(worktree, { '.gitignore': '*.db\n', 'local.db': 'x' }),
    seen: { ignored: one('local.db'), untracked: one('.gitignore') },
  },
  'a file that the ignore file of the user names': {
    make: (worktree) => fill(worktree, { 'a.secret': 'x' }),
    seen: { ignored: one('a.secret') },
  },
  'ignored files in an ignored directory, each by name': {
    make: async (worktree) => {
      await mkdir(join(worktree, 'deep/er'), { recursive: true });
      await fill(worktree, { '.gitignore': 'deep/\n', 'deep/er/a': 'x', 'deep/b': 'x' });
    },
    seen: { ignored: { count: 2, paths: ['deep/b', 'deep/er/a'] } },
  },
  'a change that Git was told not to look at': {
    make: async (worktree) => {
      await git(worktree, 'update-index', '--assume-unchanged', 'f');
      await fill(worktree, { f: 'my secret\n' });
    },
    seen: { hidden: one('f') },
  },
  'a sparse file that stands there all the same': {
    make: async (worktree) => {
      await git(worktree, 'update-index', '--skip-worktree', 'f');
      await fill(worktree, { f: 'my own\n' });
    },
    seen: { hidden: one('f') },
  },
  'a commit that is not pushed': {
    make: async (worktree) => {
      await fill(worktree, { new: 'x' });
      await commitAll(worktree, 'more');
    },
    seen: { unpushed: expect.objectContaining({ count: 1 }), unreachable: { count: 0, newest: [] } },
  },
  'commits on a detached HEAD that no ref reaches': {
    make: async (worktree) => {
      await git(worktree, 'checkout', '-q', '--detach');
      await fill(worktree, { new: 'x' });
      await commitAll(worktree, 'nowhere');
    },
    seen: { branch: null, unreachable: expect.objectContaining({ count: 1 }) },
  },
  'a merge in the middle': {
    make: async (worktree, main) => {
      await fill(worktree, { f: 'theirs\n' });
      await commitAll(worktree, 'theirs');
      await fill(main, { f: 'ours\n' });
      await commitAll(main, 'ours');
      await git(worktree, 'merge', '-q', 'main').catch(() => undefined);
    },
    seen: { operation: 'merge', unstaged: one('f') },
  },
  'a repository inside': {
    make: (worktree) => makeRepository(join(worktree, 'nested')),
    seen: { repositories: one('nested') },
    blockers: ['repositories'],
  },
  'a repository in an ignored directory': {
    make: async (worktree) => {
      await fill(worktree, { '.gitignore': 'vendor/\n' });
      await makeRepository(join(worktree, 'vendor/nested'));
    },
    seen: { repositories: expect.objectContaining({ count: 1 }) },
    blockers: ['repositories'],
  },
  'a worktree lock': {
    make: (worktree, main) => git(main, 'worktree', 'lock', worktree),
    seen: { safe: true, locks: { worktree: true, index: false } },
    blockers: ['locked'],
  },
  'a lock of the index': {
    make: async (worktree) => writeFile(join(await administrationOf(worktree), 'index.lock'), ''),
    seen: { safe: true, locks: { worktree: false, index: true } },
    blockers: ['index-locked'],
  },
};

it.each(Object.entries(cases))('R27: sees %s', async (_title, { make, seen, blockers = [] }) => {
  const before = await look();
  await make(here.worktree, here.main);
  const found = await look();
  expect(found).toMatchObject({ safe: false, ...seen, blockers });
  expect(found.token).not.toBe(before.token);
});

it('R28: names the sessions and processes that are in it', async () => {
  const session = await here.service.sessions?.create({ cwd: here.worktree });
  const { occupants, blockers } = await look();
  expect([occupants.map(({ sessionId }) => sessionId).includes(session?.id ?? ''), blockers]).toEqual([
    true,
    ['session'],
  ]);
});

it('R33: a linked worktree that was not made here, and a main checkout, are refused', async () => {
  const linked = await addWorktree(
    here.main,
    join(here.lab.place, `linked of ${here.main.slice(-1)}`),
    'linked',
  );
  for (const path of [linked, here.main])
    expect(await outcomeOf(look(path))).toBe('worktree_not_managed: not-managed');
});

it('R04: a worktree that nobody may name stays unauthorised, whatever is asked about it', async () => {
  expect(await outcomeOf(look(join(here.worktree, 'nothing')))).toBe('workspace_not_authorized');
});
