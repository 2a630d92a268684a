import { lstat, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import type { CreateWorktreeRequest } from '../../src/service.ts';
import { headOf, outcomeOf, useActionLab } from '../actions/action-lab.ts';
import { git } from '../support/git.ts';

const at = useActionLab();

function create(request: CreateWorktreeRequest = {}, selector = at.repo) {
  return at.lab.service.worktrees.create(selector, request);
}

async function branchesOf(repo: string): Promise<readonly string[]> {
  return (await git(repo, 'for-each-ref', '--format=%(refname:short)', 'refs/heads/')).trim().split('\n');
}

async function rowsOf(repo: string): Promise<number> {
  return (await git(repo, 'worktree', 'list')).trim().split('\n').length;
}

/** What a refused creation must leave: one branch, one row, and no file of its own in the directory of the worktrees. */
async function expectNothingLeft(repo: string): Promise<void> {
  expect(await branchesOf(repo)).toEqual(['main']);
  expect(await rowsOf(repo)).toBe(1);
}

async function commitFile(repo: string, name: string, content: string): Promise<void> {
  await writeFile(join(repo, name), content);
  await git(repo, 'add', '.');
  await git(repo, 'commit', '-qm', name);
}

/** A clone of the repository of the test, registered. */
async function cloneOf(repo: string): Promise<string> {
  const clone = at.beside('clone');
  await git(dirname(clone), 'clone', '-q', '--', repo, clone);
  await at.lab.service.workspaces?.add(clone);
  return clone;
}

describe('creation of worktrees', () => {
  it('R25: a new branch is checked out in a managed worktree that is a workspace', async () => {
    await commitFile(at.repo, 'a.txt', 'a\n');
    const made = await create({ intent: 'branch-off', branchName: 'task/one', sourceTitle: ' Source ' });
    expect(made).toMatchObject({
      branch: 'task/one',
      baseRef: await headOf(at.repo),
      baseRefName: 'main',
      copiedFrom: null,
      upstream: null,
      replayed: false,
      warnings: [],
    });
    expect(made.path.endsWith('-task-one')).toBe(true);
    expect(await readFile(join(made.path, 'a.txt'), 'utf8')).toBe('a\n');
    expect(await git(made.path, 'status', '--porcelain')).toBe('');
    await using capability = await at.lab.service.authority.authorize(made.path);
    expect(capability.kind).toBe('managed-worktree');
    const rows = (await at.lab.service.workspaces?.list()) ?? [];
    expect(rows.find(({ id }) => id === made.workspaceId)).toMatchObject({
      path: made.path,
      title: 'Source · task/one',
    });
    expect(await readdir(dirname(made.path))).not.toContain(expect.stringMatching(/^\.pending/));
  });

  it('R25: a taken name gets a number, and the branch that has it keeps its commit', async () => {
    const first = await create({ intent: 'branch-off', branchName: 'task' });
    await commitFile(first.path, 'kept.txt', 'kept\n');
    const kept = await headOf(at.repo, 'refs/heads/task');
    const second = await create({ intent: 'branch-off', branchName: 'task' });
    const third = await create({ intent: 'branch-off', branchName: 'TASK' });
    expect([second.branch, third.branch]).toEqual(['task-1', 'TASK-2']);
    expect(await headOf(at.repo, 'refs/heads/task')).toBe(kept);
    expect(new Set([first.path, second.path, third.path]).size).toBe(3);
  });

  it('R25: without a name the branch is made from the slug, or made up', async () => {
    const slugged = await create({ intent: 'branch-off', slug: '  Fix: the Ünïcode/../Login! ' });
    expect(slugged.branch).toMatch(/^[a-z0-9][a-z0-9.-]*$/);
    const madeUp = await create({ intent: 'branch-off' });
    expect(madeUp.branch).toMatch(/^[a-z]+-[a-z]+-[0-9a-f]{4}$/);
  });

  it('R25: a free branch is checked out itself, and is compared with where it left the default branch', async () => {
    const base = await headOf(at.repo);
    await git(at.repo, 'branch', 'feature');
    await commitFile(at.repo, 'later.txt', 'later\n');
    const made = await create({ branchName: 'feature' });
    expect(made).toMatchObject({ branch: 'feature', baseRef: base, baseRefName: 'main', copiedFrom: null });
    expect((await git(made.path, 'symbolic-ref', 'HEAD')).trim()).toBe('refs/heads/feature');
  });

  it('R25: a branch that is checked out elsewhere is copied', async () => {
    const made = await create({ branchName: 'main' });
    expect(made).toMatchObject({ branch: 'main-1', copiedFrom: 'main', baseRef: null, baseRefName: null });
    expect(await headOf(made.path)).toBe(await headOf(at.repo));
  });

  it('R25: a branch that only origin has gets a local one that follows it, fetched first', async () => {
    const clone = await cloneOf(at.repo);
    await git(at.repo, 'branch', 'remote-only');
    const made = await create({ branchName: 'remote-only' }, clone);
    expect(made).toMatchObject({ branch: 'remote-only', upstream: 'origin/remote-only' });
    expect((await git(made.path, 'rev-parse', '--symbolic-full-name', '@{upstream}')).trim()).toBe(
      'refs/remotes/origin/remote-only',
    );
  });

  it('R25: a base given by its commit is the commit, wherever branches have gone', async () => {
    const oid = await headOf(at.repo);
    await commitFile(at.repo, 'later.txt', 'later\n');
    const made = await create({ intent: 'branch-off', base: oid, branchName: 'old' });
    expect([made.baseRef, await headOf(made.path)]).toEqual([oid, oid]);
  });

  it('R25: run-immutable-base: a base that moves while the worktree is made is what it was', async () => {
    const oid = await headOf(at.repo);
    const workspaces = async () => (await at.lab.service.workspaces?.list()) ?? [];
    let moved = false;
    const service = await at.lab.another({
      registry: {
        async find(path) {
          // Asked between the look at the base and the worktree.
          if (path.endsWith('-immutable') && !moved) {
            moved = true;
            await commitFile(at.repo, 'moved.txt', 'moved');
          }
          return (await workspaces()).find((row) => row.path === path) ?? null;
        },
        list: workspaces,
      },
    });
    const made = await service.worktrees.create(at.repo, { intent: 'branch-off', branchName: 'immutable' });
    expect([made.baseRef, await headOf(made.path), made.workspaceId]).toEqual([oid, oid, null]);
    expect(await headOf(at.repo)).not.toBe(oid);
  });

  it.each<readonly [CreateWorktreeRequest, string]>([
    [{ intent: 'branch-off', base: 'HEAD~1' }, 'invalid_base_revision: malformed'],
    [{ intent: 'branch-off', base: '--output=x' }, 'invalid_base_revision: malformed'],
    [{ intent: 'branch-off', base: 'refs/heads/absent' }, 'invalid_base_revision: not-found'],
    [{ intent: 'branch-off', base: 'a'.repeat(40) }, 'invalid_base_revision: not-found'],
    [{ intent: 'branch-off', branchName: '-b' }, 'invalid_branch_name'],
    [{ intent: 'branch-off', branchName: 'a..b' }, 'invalid_branch_name'],
    [{ intent: 'branch-off', branchName: 'main/below' }, 'branch_conflict'],
    [{ branchName: 'absent' }, 'branch_not_found'],
    [{ txId: 'short', sourceSessionId: 'session-1' }, 'invalid_request: invalid'],
    [{ txId: 'long-enough-transaction' }, 'invalid_request: invalid'],
    [
      { pull: { host: 'h', owner: 'o', repo: 'r', number: 1, headRef: 'x', baseRef: '--output=x' } },
      'invalid_base_revision: malformed',
    ],
    [{ pull: { host: 'h', owner: 'o', repo: 'r', number: 1, headRef: 'x' } }, 'not_offered: no-forge'],
  ])('R20: %j is refused and leaves nothing', async (request, outcome) => {
    expect(await outcomeOf(create(request))).toBe(outcome);
    await expectNothingLeft(at.repo);
  });

  it('R20: a branch above the name of another cannot be made', async () => {
    await git(at.repo, 'branch', 'feat/x');
    expect(await outcomeOf(create({ intent: 'branch-off', branchName: 'feat' }))).toBe('branch_conflict');
  });

  it('R03: a repository without a commit, and a plain directory, give no worktree and get no commit', async () => {
    const unborn = at.beside('unborn');
    await mkdir(unborn);
    await writeFile(join(unborn, 'file'), 'x');
    await at.lab.service.workspaces?.add(unborn);
    expect(await outcomeOf(create({ intent: 'branch-off' }, unborn))).toBe('git_repository_required');
    await git(unborn, 'init', '-q');
    expect(await outcomeOf(create({ intent: 'branch-off' }, unborn))).toBe(
      'invalid_base_revision: not-found',
    );
    expect(await git(unborn, 'status', '--porcelain')).toBe('?? file\n');
  });

  it('R20: filters of the repository do not run, and nothing is made', async () => {
    await git(at.repo, 'config', 'filter.evil.smudge', `touch ${at.beside('ran')}`);
    expect(await outcomeOf(create({ intent: 'branch-off' }))).toBe('untrusted_repository_config');
    await expectNothingLeft(at.repo);
    await expect(lstat(at.beside('ran'))).rejects.toThrow('ENOENT');
  });

  it('R20: no hook runs', async () => {
    const ran = at.beside('ran');
    await mkdir(join(at.repo, '.git/hooks'), { recursive: true });
    for (const hook of ['post-checkout', 'reference-transaction'])
      await writeFile(join(at.repo, '.git/hooks', hook), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    await create({ intent: 'branch-off' });
    await expect(lstat(ran)).rejects.toThrow('ENOENT');
  });

  it('R25: sec-root-symlink-nothing: a directory of worktrees that is a symbolic link is refused, and nothing is made behind it', async () => {
    const first = await create({ intent: 'branch-off', branchName: 'first' });
    const [home, aside, elsewhere] = [dirname(first.path), at.beside('aside'), at.beside('elsewhere')];
    await rename(home, aside);
    await mkdir(elsewhere);
    await symlink(elsewhere, home);
    try {
      expect(await outcomeOf(create({ intent: 'branch-off', branchName: 'second' }))).toBe(
        'managed_root_unusable: is a symbolic link',
      );
      expect(await readdir(elsewhere)).toEqual([]);
      expect(await branchesOf(at.repo)).toEqual(['first', 'main']);
    } finally {
      await rm(home);
      await rename(aside, home);
    }
  });

  it('R25: a path that somebody else has, and a row that is left of one, are passed over', async () => {
    const first = await create({ intent: 'branch-off', branchName: 'x' });
    await writeFile(`${first.path.slice(0, -1)}y`, 'a file of somebody');
    const second = await create({ intent: 'branch-off', branchName: 'y' });
    expect(second.path).toBe(`${first.path.slice(0, -1)}y-1`);
    expect(await readFile(`${first.path.slice(0, -1)}y`, 'utf8')).toBe('a file of somebody');
    await rm(first.path, { recursive: true });
    await git(at.repo, 'branch', '-q', '-m', 'x', 'x-renamed');
    const third = await create({ intent: 'branch-off', branchName: 'x' });
    expect(third).toMatchObject({ branch: 'x', path: `${first.path}-1` });
  });

  it('R25: eight creations at once from two services do not collide', async () => {
    const other = await at.lab.another();
    const services = [at.lab.service, other];
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        services[index % 2]?.worktrees.create(at.repo, { intent: 'branch-off', branchName: 'same' }),
      ),
    );
    expect(new Set(made.map((one) => one?.path)).size).toBe(8);
    expect(new Set(made.map((one) => one?.branch)).size).toBe(8);
    expect(await rowsOf(at.repo)).toBe(9);
  });
});

describe('transactions of creation', () => {
  const txId = 'transaction-of-a-test-1';
  const session = async (id: string) => {
    await at.lab.service.sessions?.create({ id, cwd: at.repo });
    return id;
  };
  const request = (sourceSessionId: string): CreateWorktreeRequest => ({
    intent: 'branch-off',
    branchName: 'tx',
    txId,
    sourceSessionId,
  });

  it('W43: a second request gets the answer of the first, whatever the workspace is called by then', async () => {
    const asked = request(await session('session-replay'));
    const first = await create({ ...asked, sourceTitle: 'Before' });
    const again = await create({ ...asked, sourceTitle: 'After' });
    expect(again).toEqual({ ...first, replayed: true });
    expect(await rowsOf(at.repo)).toBe(2);
  });

  it('R41: two at once come to one worktree', async () => {
    const asked = request(await session('session-twice'));
    const [one, other] = await Promise.all([create(asked), create(asked)]);
    expect(one.path).toBe(other.path);
    expect([one.replayed, other.replayed].sort()).toEqual([false, true]);
  });

  it('R41: another request under the same id is refused', async () => {
    const asked = request(await session('session-other'));
    await create(asked);
    expect(await outcomeOf(create({ ...asked, branchName: 'different' }))).toBe(
      'transaction_conflict: transaction-request-mismatch',
    );
  });

  it('R41: a worktree that is gone is not made again, one that was replaced is not given out', async () => {
    const asked = request(await session('session-retired'));
    const made = await create(asked);
    await rm(made.path, { recursive: true });
    const refusal = await create(asked).catch((error: unknown) => error);
    if (!isAuthorityError(refusal)) throw refusal;
    expect([refusal.code, refusal.details['txState'], refusal.details['txId']]).toEqual([
      'transaction_retired',
      'retired',
      txId,
    ]);
    expect(refusal.details['result']).toMatchObject({ path: made.path });
    await mkdir(made.path);
    expect(await outcomeOf(create(asked))).toBe('transaction_conflict: transaction-target-replaced');
  });

  it('R41: a row that was taken away is made anew', async () => {
    const asked = request(await session('session-row-gone'));
    const made = await create(asked);
    await at.lab.service.workspaces?.remove(made.path);
    const again = await create(asked);
    expect(again.workspaceId).not.toBe(made.workspaceId);
    expect((await create(asked)).workspaceId).toBe(again.workspaceId);
  });

  it('R41: a damaged receipt is a refusal', async () => {
    const asked = request(await session('session-damaged'));
    const made = await create(asked);
    await writeFile(join(dirname(made.path), `.receipt-${txId}.json`), '{');
    expect(await outcomeOf(create(asked))).toBe('transaction_conflict: transaction-receipt-invalid');
  });

  it('R27: only a session of the selected workspace makes a worktree, and a failure says that nothing is left', async () => {
    const elsewhere = await create(request('session-unknown')).catch((error: unknown) => error);
    expect(elsewhere).toMatchObject({ code: 'creation_source_changed', details: { txId } });
    const asked = { ...request(await session('session-absent')), base: 'refs/heads/absent' };
    const refusal = await create(asked).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'invalid_base_revision', details: { txId, txState: 'absent' } });
    const { base: _, ...right } = asked;
    expect((await create({ ...right, txId: 'transaction-of-a-test-2' })).replayed).toBe(false);
  });

  it('R41: a session makes one worktree after the other', async () => {
    const asked = request(await session('session-twofold'));
    const first = await create(asked);
    const second = await create({ ...asked, txId: 'transaction-of-a-test-2' });
    expect([first.branch, second.branch]).toEqual(['tx', 'tx-1']);
  });
});
