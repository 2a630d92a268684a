import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { type ActionLab, createActionLab, filesOf, headOf, outcomeOf } from '../actions/action-lab.ts';
import { commitFiles, type Files } from '../actions/merge-lab.ts';
import { compileSources } from '../support/compiled.ts';
import { git } from '../support/git.ts';

const program = join(import.meta.dirname, '../support/action-host.mjs');
let lab: ActionLab;
let compiled: string;
beforeAll(async () => {
  compiled = await compileSources();
  lab = await createActionLab();
}, 120_000);
afterAll(() => lab[Symbol.asyncDispose]());

const moments = ['before', 'during 1', 'during 3', 'during 6', 'after'];
/** Steps that write more than an object, so that a Git that dies in its middle may leave something. */
const writing: ReadonlySet<string> = new Set(['check-out', 'update-ref']);
const many: Files = Object.fromEntries(
  Array.from({ length: 300 }, (_, index) => [`many/${index}`, `${index}\n`]),
);

/** What the refusals that follow a kill may say: each names what is in the way, and none is a half-done branch. */
const named = [
  'ok',
  'repository_locked: index',
  // The lock of a ref, as `details.what` says.
  'repository_locked: exit-status',
  'action_refused: actions.merge.dirtyOwner',
];

async function killed(name: string, step: string, when: string) {
  const repo = await lab.repository(name);
  await commitFiles(repo, 'base', { f: 'one\n', k: 'one\n' });
  const tree = join(lab.place, `${name} tree`);
  await git(repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
  await commitFiles(tree, 'ours', { f: 'ours\n', ...many });
  const base = await commitFiles(repo, 'theirs', { k: 'theirs\n' });
  await dieAt(tree, step, when);
  return { repo, tree, base };
}

async function dieAt(tree: string, step: string, when: string): Promise<void> {
  const places = [compiled, join(lab.place, 'state'), lab.home, tree];
  const host = spawn(process.execPath, [program, ...places, 'mergeToBase', step, when], { stdio: 'inherit' });
  const [, signal] = await once(host, 'exit');
  expect(signal).toBe('SIGKILL');
}

/** Merges as somebody does who removes just the locks that the refusals name. */
async function unlocking(repo: string, tree: string): Promise<unknown> {
  for (;;) {
    const merge = lab.service.actions.mergeToBase(tree);
    const error: unknown = await merge.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!isAuthorityError(error) || error.code !== 'repository_locked') return merge;
    const { remove } = error.details['recovery'] as { remove: string };
    await rm(join(repo, '.git', remove));
  }
}

async function locksOf(repo: string): Promise<string[]> {
  const names = await readdir(join(repo, '.git'), { recursive: true });
  return names.filter((name) => name.endsWith('.lock')).map((name) => join(repo, '.git', name));
}

describe('a merge to the base', () => {
  const steps = ['merge-tree', 'commit-tree', 'refresh-index', 'check-out', 'update-ref'];

  const momentsOf = (step: string) => (writing.has(step) ? moments : ['before', 'after']);

  it.each(steps.flatMap((step) => momentsOf(step).map((when) => [when, step] as const)))(
    'R22: kill -9 of the host %s %s leaves the branch as it was or whole, and the way on is named',
    async (when, step) => {
      const { repo, tree, base } = await killed(`${step} ${when}`, step, when);
      const ours = await headOf(tree);
      const now = await headOf(repo, 'refs/heads/main');
      if (now !== base) expect(await git(repo, 'log', '-1', '--format=%P', now)).toBe(`${base} ${ours}\n`);
      const merge = () => outcomeOf(lab.service.actions.mergeToBase(tree));
      let outcome = await merge();
      expect(named).toContain(outcome);
      if (outcome !== 'ok') expect(when).toMatch(/^during|^after/);
      if (outcome.startsWith('repository_locked')) outcome = await outcomeOf(unlocking(repo, tree));
      if (outcome.includes('dirtyOwner')) {
        // Files that the dead Git had written or not; all of them are in one of the two commits.
        expect(step).toBe('check-out');
        for (const lock of await locksOf(repo)) await rm(lock);
        await git(repo, 'reset', '-q', '--hard');
        await git(repo, 'clean', '-q', '-f', '-d');
        outcome = await merge();
      }
      expect(outcome).toBe('ok');
      expect(await git(repo, 'log', '-1', '--format=%P', 'refs/heads/main')).toBe(`${base} ${ours}\n`);
      expect(await filesOf(repo, 'refs/heads/main')).toEqual({ f: 'ours\n', k: 'theirs\n', ...many });
      expect(await git(repo, 'status', '--porcelain')).toBe('');
      expect(await git(tree, 'status', '--porcelain')).toBe('');
      await git(repo, 'fsck', '--strict');
      const locks = await locksOf(repo);
      if (locks.length > 0) {
        // A Git that died after it had moved the branch keeps the lock of a log; the next change names it.
        expect([step, when]).toEqual(['update-ref', expect.stringMatching(/^during/)]);
        await commitFiles(tree, 'next', { next: 'x\n' });
        expect(await merge()).toBe('repository_locked: exit-status');
        expect(await outcomeOf(unlocking(repo, tree))).toBe('ok');
        expect(await locksOf(repo)).toEqual([]);
        expect(await git(repo, 'status', '--porcelain')).toBe('');
      }
    },
    60_000,
  );
});

it.each(moments)(
  'R22: kill -9 of the host %s a merge with conflicts leaves the base where it was, and what stands there is named',
  async (when) => {
    const repo = await lab.repository(`conflict ${when}`);
    await commitFiles(repo, 'base', { f: 'one\n' });
    const tree = join(lab.place, `conflict ${when} tree`);
    await git(repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
    await commitFiles(tree, 'ours', { f: 'ours\n', ...many });
    const base = await commitFiles(repo, 'theirs', { f: 'theirs\n' });
    await dieAt(tree, 'merge', when);
    expect(await headOf(repo)).toBe(base);
    const merge = () => outcomeOf(lab.service.actions.mergeToBase(tree));
    let outcome = await merge();
    if (outcome.startsWith('repository_locked')) {
      expect(when).toMatch(/^during/);
      outcome = await outcomeOf(unlocking(repo, tree));
    }
    expect([
      'merge_conflict: actions.merge.conflict',
      'action_refused: actions.merge.inProgress',
      'unmerged_index: actions.merge.conflict',
      'action_refused: actions.merge.dirtyOwner',
    ]).toContain(outcome);
    if (when === 'before') expect(outcome).toBe('merge_conflict: actions.merge.conflict');
    if (when === 'after') expect(outcome).toBe('action_refused: actions.merge.inProgress');
    expect(await headOf(repo)).toBe(base);
    await git(repo, 'fsck', '--strict');
  },
  60_000,
);
