import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ActionLab, createActionLab, filesOf, headOf, outcomeOf } from '../actions/action-lab.ts';
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

const steps = ['stage', 'write-tree', 'commit-tree', 'update-ref'];
const moments = ['before', 'during 1', 'during 4', 'after'];

it.each(steps.flatMap((step) => moments.map((when) => [when, step] as const)))(
  'R22: kill -9 of the host %s %s leaves the state before or after, and the next commit finishes the work',
  async (when, step) => {
    const repo = await lab.repository(`${step} ${when}`);
    await writeFile(join(repo, 'f'), 'content\n');
    const before = await headOf(repo);
    const places = [compiled, join(lab.place, 'state'), lab.home, repo];
    const host = spawn(process.execPath, [program, ...places, 'commit', step, when], { stdio: 'inherit' });
    const [, signal] = await once(host, 'exit');
    expect(signal).toBe('SIGKILL');

    const head = await headOf(repo);
    if (head !== before) {
      expect(await headOf(repo, 'HEAD^')).toBe(before);
      expect(await filesOf(repo)).toEqual({ f: 'content\n' });
    }
    const commit = () => outcomeOf(lab.service.actions.commit(repo, { message: 'after the restart' }));
    const outcome = await commit();
    if (head === before)
      expect(['ok', 'repository_locked: index', 'repository_locked: exit-status']).toContain(outcome);
    else expect(['action_refused: actions.commit.clean', 'repository_locked: index']).toContain(outcome);
    if (outcome.startsWith('repository_locked')) {
      // The way out that the refusal names: a Git that was killed in mid-write leaves its lock.
      expect(when.startsWith('during')).toBe(true);
      for (const lock of await locksOf(repo)) await rm(lock);
      await commit();
    }
    expect(await git(repo, 'rev-list', '--count', 'HEAD')).toBe('2\n');
    expect(await filesOf(repo)).toEqual({ f: 'content\n' });
    expect(await git(repo, 'status', '--porcelain')).toBe('');
    const locks = await locksOf(repo);
    if (locks.length > 0) {
      // A Git that died after it had moved the branch keeps the lock of HEAD; the next change names it.
      expect([when, step]).toEqual([expect.stringContaining('during'), 'update-ref']);
      await writeFile(join(repo, 'g'), 'more\n');
      expect(await commit()).toBe('repository_locked: exit-status');
      for (const lock of locks) await rm(lock);
      expect(await commit()).toBe('ok');
    }
    expect(await locksOf(repo)).toEqual([]);
    await git(repo, 'fsck', '--strict');
  },
  30_000,
);

async function locksOf(repo: string): Promise<string[]> {
  const names = await readdir(join(repo, '.git'), { recursive: true });
  return names.filter((name) => name.endsWith('.lock')).map((name) => join(repo, '.git', name));
}
