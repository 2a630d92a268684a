import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

const many: Files = Object.fromEntries(
  Array.from({ length: 200 }, (_, index) => [`many/${index}`, `${index}\n`]),
);
const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const around = long ? ['before', 'after'] : ['after'];
/** Of steps that write files or refs: a Git that dies in its middle may leave something. */
const within = long
  ? ['before', 'during 1', 'during 4', 'during 9', 'after']
  : ['before', 'during 3', 'after'];

/** What a checkout takes from elsewhere, and at which moments of which steps its host dies. */
const steps: readonly (readonly [action: 'pull' | 'updateFromBase', step: string, moments: string[]])[] = [
  ['pull', 'fetch', within],
  ['pull', 'merge-tree', around],
  ['pull', 'commit-tree', around],
  ['pull', 'refresh-index', around],
  ['pull', 'check-out', within],
  ['pull', 'update-ref', within],
  ['updateFromBase', 'merge-tree', around],
  ['updateFromBase', 'commit-tree', around],
  ['updateFromBase', 'check-out', within],
  ['updateFromBase', 'update-ref', within],
];
const rows = steps.flatMap(([action, step, moments]) => moments.map((when) => [action, when, step] as const));

/** A checkout on `topic` or `main` that has a commit of its own, and what is to be taken: a commit with many files. */
async function prepare(action: 'pull' | 'updateFromBase', name: string) {
  const repo = await lab.repository(name);
  await commitFiles(repo, 'base', { f: 'one\n' });
  if (action === 'updateFromBase') {
    const cwd = join(lab.place, `${name} tree`);
    await git(repo, 'worktree', 'add', '-q', '-b', 'topic', cwd);
    const theirs = await commitFiles(repo, 'theirs', many);
    return {
      repo,
      cwd,
      ref: 'refs/heads/topic',
      ours: await commitFiles(cwd, 'ours', { f: 'ours\n' }),
      theirs,
    };
  }
  const [remote, other] = [join(lab.place, `${name}.git`), join(lab.place, `${name} other`)];
  await git(lab.place, 'clone', '-q', '--bare', repo, remote);
  await git(lab.place, 'clone', '-q', remote, other);
  await git(repo, 'remote', 'add', 'origin', remote);
  const theirs = await commitFiles(other, 'theirs', many);
  await git(other, 'push', '-q', 'origin', 'HEAD');
  return {
    repo,
    cwd: repo,
    ref: 'refs/heads/main',
    ours: await commitFiles(repo, 'ours', { f: 'ours\n' }),
    theirs,
  };
}

async function locksOf(repo: string): Promise<string[]> {
  const names = await readdir(join(repo, '.git'), { recursive: true });
  return names.filter((name) => name.endsWith('.lock')).map((name) => join(repo, '.git', name));
}

/** The lock that a Git left when it was killed is named by the refusal; who reads it takes it away. */
async function unlocking(repo: string, outcome: string, act: () => Promise<unknown>): Promise<string> {
  if (!outcome.startsWith('repository_locked')) return outcome;
  for (const lock of await locksOf(repo)) await rm(lock);
  return outcomeOf(act());
}

it.each(rows)(
  'R22: kill -9 of the host of a %s %s %s leaves the branch as it was or whole, and the way on is named',
  async (action, when, step) => {
    const { repo, cwd, ref, ours, theirs } = await prepare(action, `${action} ${step} ${when}`);
    const host = spawn(
      process.execPath,
      [program, compiled, join(lab.place, 'state'), lab.home, cwd, action, step, when],
      { stdio: 'inherit' },
    );
    const [, signal] = await once(host, 'exit');
    expect(signal).toBe('SIGKILL');

    const parentsOf = (commit: string) => git(repo, 'log', '-1', '--format=%P', commit);
    const now = await headOf(repo, ref);
    if (now !== ours) expect(await parentsOf(now)).toBe(`${ours} ${theirs}\n`);
    const act = () => lab.service.actions[action](cwd);
    let outcome = await unlocking(repo, await outcomeOf(act()), act);
    if (outcome === 'action_refused: actions.merge.dirtyCurrent') {
      // Files that the dead Git had written or not; all of them are in one of the two commits.
      expect([step, when]).toEqual(['check-out', expect.stringMatching(/^during/)]);
      for (const lock of await locksOf(repo)) await rm(lock);
      await git(cwd, 'reset', '-q', '--hard');
      await git(cwd, 'clean', '-q', '-f', '-d');
      outcome = await outcomeOf(act());
    }
    const isDone = outcome === 'action_refused: actions.updateFromBase.upToDate';
    if (isDone) expect(now).not.toBe(ours);
    else expect(outcome).toBe('ok');
    const merged = await headOf(repo, ref);
    expect(await parentsOf(merged)).toBe(`${ours} ${theirs}\n`);
    expect(await filesOf(repo, ref)).toEqual({ f: 'ours\n', ...many });
    expect(await git(cwd, 'status', '--porcelain')).toBe('');
    await git(repo, 'fsck', '--strict');
    if ((await locksOf(repo)).length === 0) return;
    // A Git that died after it had moved the branch keeps the lock of HEAD; the next change names it.
    expect([step, when]).toEqual(['update-ref', expect.stringMatching(/^during/)]);
    await writeFile(join(cwd, 'next'), 'x\n');
    const commit = () => lab.service.actions.commit(cwd, { message: 'next' });
    const next = await outcomeOf(commit());
    expect([next, await unlocking(repo, next, commit)]).toEqual(['repository_locked: exit-status', 'ok']);
  },
  60_000,
);
