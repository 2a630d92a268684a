import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { compileSources } from '../support/compiled.ts';
import { git } from '../support/git.ts';
import { commitAll, fill, useRemovalLab } from '../worktrees/removal-lab.ts';
import { stands, stateOf, tracesOf } from '../worktrees/worktree-state.ts';

const program = join(import.meta.dirname, '../support/worktree-host.mjs');
const isLong = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
/** How many of the changes of one act the host dies at, before and after by turns. */
const moments = isLong ? Number.POSITIVE_INFINITY : 7;
const here = useRemovalLab();
let compiled: string;
beforeAll(async () => {
  compiled = await compileSources();
}, 180_000);

/** Ends by kill -9, or says how many changes it made. */
async function host(act: string, selector: string, archive: string, count: number, when: string) {
  const words = [program, compiled, join(here.lab.place, 'state'), here.lab.home, act, selector, archive];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...words, String(count), when]);
    return Number(stdout);
  } catch (error) {
    expect((error as { signal?: unknown }).signal, String(error)).toBe('SIGKILL');
    return null;
  }
}

function chosen(count: number): readonly number[] {
  const all = Array.from({ length: count }, (_, index) => index + 1);
  if (count <= moments) return all;
  return Array.from({ length: moments }, (_, index) => 1 + Math.round((index * (count - 1)) / (moments - 1)));
}

const traces = () => tracesOf(here.main, here.worktree, join(here.lab.place, 'state'));

async function dirty(worktree: string): Promise<void> {
  await git(worktree, 'checkout', '-q', '--detach');
  await fill(worktree, { f: 'committed nowhere\n' });
  await commitAll(worktree, 'nowhere');
  await mkdir(join(worktree, 'deep'));
  await fill(worktree, { '.gitignore': '*.db\n', 'a.db': 'ignored', 'deep/new': 'untracked', staged: '1' });
  await git(worktree, 'add', 'staged');
  await fill(worktree, { staged: '2' });
}

/** A new service recovers at its start, as the next server does. */
async function recovered(): Promise<void> {
  const service = await here.lab.another();
  expect(await service.worktreeArchives.recover({ dryRun: false })).toEqual([]);
}

it('R27: a host that is killed at any change of an archive or a restoration loses no file and no commit, and leaves no trace', async () => {
  await dirty(here.worktree);
  const before = await stateOf(here.worktree);
  const changes = (await host('archive', here.worktree, '-', 0, 'never')) ?? 0;
  const list = () => here.service.worktreeArchives.archived(here.main);
  const [first] = await list();
  const restored = (await host('restore', here.main, first?.archive ?? '', 0, 'never')) ?? 0;
  expect([changes > 10, restored > 3, await stateOf(here.worktree)]).toEqual([true, true, before]);

  for (const [turn, count] of chosen(changes).entries()) {
    const when = turn % 2 === 0 ? 'before' : 'after';
    await host('archive', here.worktree, '-', count, when);
    await recovered();
    if (!(await stands(here.worktree))) {
      const kept = await list();
      await here.service.worktreeArchives.restore(here.main, kept.at(-1)?.archive ?? '');
    }
    expect([count, when, await stateOf(here.worktree), (await traces()).length]).toEqual([
      count,
      when,
      before,
      1,
    ]);
  }

  for (const [turn, count] of chosen(restored).entries()) {
    const when = turn % 2 === 0 ? 'after' : 'before';
    const { token } = await here.service.worktreeArchives.preflight(here.worktree);
    const { archive } = await here.service.worktreeArchives.archive(here.worktree, { token });
    await host('restore', here.main, archive, count, when);
    await recovered();
    if (!(await stands(here.worktree))) await here.service.worktreeArchives.restore(here.main, archive);
    expect([count, when, await stateOf(here.worktree), (await traces()).length]).toEqual([
      count,
      when,
      before,
      1,
    ]);
  }
}, 600_000);
