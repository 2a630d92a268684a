import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ActionLab, createActionLab, headOf, outcomeOf } from '../actions/action-lab.ts';
import { compileSources } from '../support/compiled.ts';
import { git } from '../support/git.ts';
import { addonEnvironment } from '../support/test-binding.ts';
import { makeTree, readTree } from '../support/tree.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const program = join(import.meta.dirname, '../support/discard-host.mjs');
let lab: ActionLab;
let compiled: string;
let count = 0;
beforeAll(async () => {
  compiled = await compileSources();
  lab = await createActionLab();
}, 120_000);
afterAll(() => lab[Symbol.asyncDispose]());

/** Changes of every kind, none of which is in a commit. */
async function plant(): Promise<string> {
  count += 1;
  const repo = await lab.repository(`repo ${count}`);
  await makeTree(repo, ['a: 1', 'b: 1', 'gone: 1', 'd/e: 1']);
  await git(repo, 'add', '-A');
  await git(repo, 'commit', '-qm', 'prepared');
  await makeTree(repo, ['a: unstaged', 'b: staged', 'new/deep/f: untracked', 'link -> a']);
  await git(repo, 'add', 'b');
  await makeTree(repo, ['b: changed after it was staged', 'd/e: other']);
  await rm(join(repo, 'gone'));
  return repo;
}

async function filesOf(repo: string): Promise<readonly string[]> {
  return (await readTree(repo)).filter((line) => !line.startsWith('.git/'));
}

/** Runs the host until it dies. */
async function kill(repo: string, step: string, when: string): Promise<string> {
  const places = [compiled, join(lab.place, 'state'), lab.home, repo];
  const host = spawn(process.execPath, [program, ...places, step, when], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: addonEnvironment,
  });
  let said = '';
  host.stdout.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  const [, signal] = await once(host, 'close');
  expect(signal).toBe('SIGKILL');
  return said;
}

async function locksOf(repo: string): Promise<readonly string[]> {
  return (await readdir(join(repo, '.git'))).filter((name) => name.endsWith('.lock'));
}

/** What a person does after the restart: clears up, discards again, and brings everything back. */
async function assertNothingLost(repo: string, changed: readonly string[], head: string): Promise<void> {
  const { service } = lab;
  await service.actions.discarded(repo);
  await using capability = await service.authority.authorize(repo);
  expect((await service.files.recover(capability)).complete).toBe(true);
  const discard = () => outcomeOf(service.actions.discard(repo, { caller: 'person' }));
  let outcome = await discard();
  for (let attempt = 0; attempt < 3 && outcome.startsWith('confirmation_required'); attempt += 1) {
    outcome = await discard();
    if (outcome !== 'repository_locked: index') continue;
    // The way out that the refusal names: a Git that was killed in mid-write leaves its lock.
    for (const lock of await locksOf(repo)) await rm(join(repo, '.git', lock));
    outcome = await discard();
  }
  expect(['ok', 'action_refused: actions.commit.clean']).toContain(outcome);
  expect(await git(repo, 'status', '--porcelain')).toBe('');
  expect(await headOf(repo)).toBe(head);
  for (const { archive } of await service.actions.discarded(repo)) {
    const { conflicts } = await service.actions.restoreDiscarded(repo, { archive });
    expect(conflicts).toEqual([]);
  }
  await rm(join(repo, 'gone'));
  expect(await filesOf(repo)).toEqual(changed);
  expect(await git(repo, 'cat-file', 'blob', ':b')).toBe('staged');
  await git(repo, 'fsck', '--strict');
}

describe('R22: kill -9 of the host in mid-discard, then a restart', () => {
  const steps = ['status', 'pack-objects', 'archive', 'set-index', 'check-out-index', 'finish'];
  // Before a step is after the one before it, but for what the process has in mind; so only the long mode tries all.
  const moments = long ? ['before', 'during 2', 'during 8', 'after'] : ['during 2', 'after'];
  it.each(steps.flatMap((step) => moments.map((when) => [when, step] as const)))(
    '%s %s: nothing is lost, and the same discard goes on to the end',
    async (when, step) => {
      const repo = await plant();
      const [changed, head] = [await filesOf(repo), await headOf(repo)];
      await kill(repo, step, when);
      const isUntouched = JSON.stringify(await filesOf(repo)) === JSON.stringify(changed);
      const [listed] = await lab.service.actions.discarded(repo);
      // What was begun is reported; what was not, is as it was.
      if (!isUntouched) expect(listed).toMatchObject({ here: true });
      if (step !== 'finish') expect(listed?.finished ?? false).toBe(false);
      if (step === 'finish' && when === 'after') expect(listed?.finished).toBe(true);
      await assertNothingLost(repo, changed, head);
    },
    60_000,
  );

  it('at system calls of its changes: nothing is lost, and the same discard goes on to the end', async () => {
    const undisturbed = await plant();
    const trace = (await kill(undisturbed, 'trace', 'after')).split('\n');
    expect(await git(undisturbed, 'status', '--porcelain')).toBe('');
    expect(trace.length).toBeGreaterThan(40);
    const stride = long ? 1 : Math.ceil(trace.length / 6);
    for (let call = 1; call <= trace.length; call += stride) {
      const repo = await plant();
      const [changed, head] = [await filesOf(repo), await headOf(repo)];
      await kill(repo, `call ${call}`, 'before');
      await assertNothingLost(repo, changed, head);
    }
  });
});
