import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toStoredIdentity } from '../../src/capability/identity.ts';
import { runningProcess } from '../../src/capability/process-owner.ts';
import { type Journal, journalName } from '../../src/worktrees/journal.ts';
import { headOf, useActionLab } from '../actions/action-lab.ts';
import { git } from '../support/git.ts';
import { leaveCreation } from '../support/left-creation.ts';
import { testBinding } from '../support/test-binding.ts';

const at = useActionLab();
const txId = 'transaction-of-a-test';
/** Directory of the worktrees of the repository, by way of a creation that was whole. */
async function homeOf(): Promise<string> {
  const made = await at.lab.service.worktrees.create(at.repo, { intent: 'branch-off', branchName: 'whole' });
  return dirname(made.path);
}

async function identityOf(path: string) {
  const directory = await testBinding.openRoot(path, {});
  try {
    return toStoredIdentity(directory.identity());
  } finally {
    directory.close();
  }
}

/** What a process that died leaves when it has got so far. */
async function leave(home: string, said: Partial<Journal> = {}): Promise<string> {
  return leaveCreation(home, { branch: 'task', oid: await headOf(at.repo), txId }, said);
}

async function recover() {
  const recovered = await at.lab.service.worktrees.recover();
  return recovered.map(({ action, reason }) => [action, reason]);
}

async function branchIsThere(): Promise<boolean> {
  return (await git(at.repo, 'for-each-ref', 'refs/heads/task')) !== '';
}

/** As the creation makes it. */
async function makeOwnBranch(): Promise<void> {
  const reason = `workspace-authority: created for ${txId}`;
  await git(at.repo, 'update-ref', '--create-reflog', '-m', reason, 'refs/heads/task', 'HEAD');
}

describe('recovery of creations', () => {
  it('R25: run-recover-prepared: a branch of that name that somebody else made is kept', async () => {
    await leave(await homeOf());
    await git(at.repo, 'branch', 'task');
    expect(await recover()).toEqual([['rolled-back', 'branch-changed']]);
    expect([await branchIsThere(), await recover()]).toEqual([true, []]);
  });

  it('R25: run-recover-rolledback: where path and row are gone, the branch that was made goes', async () => {
    const home = await homeOf();
    const root = await identityOf(at.repo);
    await leave(home, { phase: 'added', root, gitDirectory: root });
    await makeOwnBranch();
    expect(await recover()).toEqual([['rolled-back', null]]);
    expect(await branchIsThere()).toBe(false);
  });

  it('R25: a branch that was made and has moved since is kept', async () => {
    await leave(await homeOf());
    await makeOwnBranch();
    await git(at.repo, 'commit', '-q', '--allow-empty', '-m', 'work');
    await git(at.repo, 'update-ref', 'refs/heads/task', 'HEAD');
    expect(await recover()).toEqual([['rolled-back', 'branch-changed']]);
    expect(await headOf(at.repo, 'refs/heads/task')).toBe(await headOf(at.repo));
  });

  it('W42: what a process that lives owns is not touched, and a creation beside it says so', async () => {
    const owner = runningProcess(process.ppid);
    if (owner === null) throw new Error('no parent');
    const path = await leave(await homeOf(), { owner });
    await mkdir(path);
    await makeOwnBranch();
    expect(await recover()).toEqual([['left', 'transaction-owner-live']]);
    const made = await at.lab.service.worktrees.create(at.repo, {
      intent: 'branch-off',
      branchName: 'other',
    });
    expect(made.warnings).toMatchObject([{ stage: 'recovery-transaction-owner-live' }]);
    expect(await branchIsThere()).toBe(true);
    // The same number in another life of the machine, or with another start, is another process.
    await leave(dirname(path), { owner: { ...owner, startTime: '1' } });
    expect(await recover()).toEqual([['rolled-back', null]]);
    expect(await branchIsThere()).toBe(false);
  });

  it.each([
    ['not JSON', '{'],
    ['another version', JSON.stringify({ version: 2 })],
    ['a path for a name', null],
  ])('R26: a journal that is %s is left as it is', async (_title, content) => {
    const home = await homeOf();
    await leave(home);
    const file = join(home, journalName(txId));
    const text = content ?? (await readFile(file, 'utf8')).replace('left-task', '../left-task');
    await writeFile(file, text);
    expect(await recover()).toEqual([['left', 'journal-invalid']]);
    expect(await readFile(file, 'utf8')).toBe(text);
    await rm(file);
  });

  it.each([
    ['not the one that was made', 'path-not-ours'],
    ['the one that was made, with a file of somebody', 'path-not-empty'],
  ])('R25: a directory that is %s keeps its files', async (_title, reason) => {
    const home = await homeOf();
    const path = join(home, 'left-task');
    await mkdir(path);
    await writeFile(join(path, 'file'), 'of somebody');
    await leave(home, { root: await identityOf(reason === 'path-not-ours' ? at.repo : path) });
    expect(await recover()).toEqual([['left', reason]]);
    expect(await readFile(join(path, 'file'), 'utf8')).toBe('of somebody');
    await rm(join(home, journalName(txId)));
  });

  it('R06: the journal of a repository that is not registered any more is left', async () => {
    const home = await homeOf();
    await leave(home);
    await at.lab.service.workspaces?.remove(at.repo);
    expect(await recover()).toEqual([['left', 'workspace_not_authorized']]);
    await rm(join(home, journalName(txId)));
  });

  it('R25: run-postadd-failure: what fails after Git knows the worktree is kept, and finished when it is asked for again', async () => {
    await writeFile(join(at.repo, 'a.txt'), 'a\n');
    await git(at.repo, 'add', '.');
    await git(at.repo, 'commit', '-qm', 'a');
    await at.lab.service.sessions?.create({ id: 'session-post-add', cwd: at.repo });
    const refusing = await at.lab.another({
      workspaceRegistrar: { register: () => Promise.reject(new Error('the host refuses')) },
    });
    const request = {
      intent: 'branch-off',
      branchName: 'task',
      txId,
      sourceSessionId: 'session-post-add',
    } as const;
    await expect(refusing.worktrees.create(at.repo, request)).rejects.toThrow('the host refuses');
    const rows = await git(at.repo, 'worktree', 'list', '--porcelain');
    const path =
      rows
        .split('\n')
        .findLast((row) => row.startsWith('worktree '))
        ?.slice('worktree '.length) ?? '';
    await writeFile(join(path, 'a.txt'), 'changed\n');
    const made = await at.lab.service.worktrees.create(at.repo, request);
    expect([made.path, made.replayed]).toEqual([path, true]);
    expect(await readFile(join(path, 'a.txt'), 'utf8')).toBe('changed\n');
  });
});
