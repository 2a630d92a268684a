import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ActionLab, createActionLab } from '../actions/action-lab.ts';
import { compileSources } from '../support/compiled.ts';
import { git } from '../support/git.ts';
import { testAddonPath } from '../support/test-binding.ts';

const program = join(import.meta.dirname, '../support/create-host.mjs');
let lab: ActionLab;
let compiled: string;
let steps = 0;
beforeAll(async () => {
  compiled = await compileSources();
  lab = await createActionLab();
  const host = await startHost(await prepare('whole'), 0, 'never', 'whole');
  expect(host.code).toBe(0);
  steps = host.steps;
}, 120_000);
afterAll(() => lab[Symbol.asyncDispose]());

async function prepare(name: string): Promise<string> {
  const repo = await lab.repository(name);
  await writeFile(join(repo, 'f'), 'content\n');
  await git(repo, 'add', '.');
  await git(repo, 'commit', '-qm', 'f');
  await lab.service.sessions?.create({ id: `session-${name}`, cwd: repo });
  return repo;
}

/** Runs a host to its end. */
async function startHost(repo: string, step: number, when: string, name: string) {
  const places = [compiled, testAddonPath, join(lab.place, 'state'), lab.home, repo];
  const words = [...places, String(step), when, `transaction-${name}`, `session-${name}`];
  const host = fork(program, words, { execArgv: [] });
  let counted = 0;
  host.on('message', (message) => {
    counted = Number(message);
  });
  const [code, signal] = await once(host, 'exit');
  return { code, signal, steps: counted };
}

async function rowsOf(repo: string): Promise<readonly string[]> {
  const rows = (await git(repo, 'worktree', 'list', '--porcelain')).split('\n');
  return rows.filter((row) => row.startsWith('worktree ')).map((row) => row.slice('worktree '.length));
}

async function branchesOf(repo: string): Promise<readonly string[]> {
  return (await git(repo, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/')).trim().split('\n');
}

/** Kills a host at a step, recovers, and asks the same again. */
async function killAndRecover(step: number, when: string): Promise<void> {
  const name = `${step}-${when.replaceAll(' ', '-')}`;
  const repo = await prepare(name);
  expect((await startHost(repo, step, when, name)).signal).toBe('SIGKILL');

  const recovered = await lab.service.worktrees.recover();
  expect(recovered.filter(({ action }) => action === 'left')).toEqual([]);
  expect(await lab.service.worktrees.recover()).toEqual([]);
  // Either all of it is there, or nothing.
  const [rows, branches] = [await rowsOf(repo), await branchesOf(repo)];
  expect([rows.length, branches]).toEqual(rows.length === 2 ? [2, ['main', 'task']] : [1, ['main']]);

  const request = {
    intent: 'branch-off',
    branchName: 'task',
    txId: `transaction-${name}`,
    sourceSessionId: `session-${name}`,
  } as const;
  const made = await lab.service.worktrees.create(repo, request);
  expect([made.branch, made.replayed, made.warnings]).toEqual(['task', rows.length === 2, []]);
  expect(await rowsOf(repo)).toEqual([repo, made.path]);
  expect(await branchesOf(repo)).toEqual(['main', 'task']);
  expect(await readFile(join(made.path, 'f'), 'utf8')).toBe('content\n');
  expect(await git(made.path, 'status', '--porcelain')).toBe('');
  await using capability = await lab.service.authority.authorize(made.path);
  expect(capability.kind).toBe('managed-worktree');
  expect((await lab.service.worktrees.create(repo, request)).workspaceId).toBe(made.workspaceId);
  const names = await readdir(dirname(made.path));
  expect(names.filter((entry) => entry.startsWith('.pending-'))).toEqual([]);
  await git(repo, 'fsck', '--strict');
}

describe('kill -9 of a host that makes a worktree (wt-retry-half-created)', () => {
  const numbers = Array.from({ length: 18 }, (_, index) => index + 1);

  it('R25: every change that a creation makes is a step of this test', () => {
    expect(steps).toBe(numbers.length);
  });

  // After a step is before the next one but for what this process remembers, so each moment is here once, and all of them in the long form.
  const isLong = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
  const moments = numbers.flatMap((step) => {
    const all = ['before', 'during 1', 'during 5', 'after'].map((when) => [step, when] as const);
    return isLong ? all : all.filter(([, when]) => when === (step % 3 === 0 ? 'after' : 'before'));
  });

  it.each(moments)(
    'R25: at step %i, %s it, recovery leaves all or nothing, and the same transaction comes to one worktree',
    killAndRecover,
    30_000,
  );
});
