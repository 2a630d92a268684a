import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pluginHash } from '../../src/proof/managed-namespace.ts';
import { git } from '../support/http-lab.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { change } from './public-bugs/bug-table.ts';

const at = useWorktreeLab();

async function create(json: object) {
  return at.lab.server.send(change('POST', '/worktrees', json));
}

const tx = { intent: 'branch-off', branchName: 'tx-replay', slug: 'tx-replay', sourceTitle: 'Tx source' };

describe('POST /worktrees', () => {
  it.each([
    ['run-bad-create', {}, 400, 'cwd required'],
    ['sec-create-base-expr', { base: 'HEAD~1', intent: 'branch-off' }, 422, 'invalid base revision'],
    ['intent of another kind', { intent: 'pr-checkout' }, 400, 'invalid worktree request'],
    ['an id of a transaction without a session', { txId: 'a'.repeat(16) }, 400, 'invalid worktree request'],
    ['a pull request without a number', { pull: { host: 'h' } }, 400, 'invalid pull request selector'],
    [
      'sec-create-pull-base-option',
      {
        pull: {
          host: 'github.com',
          owner: 'safe',
          repo: 'repo',
          number: 1,
          headRef: 's',
          baseRef: '--output=x',
        },
      },
      422,
      'invalid base revision',
    ],
    ['a branch that is nowhere (W20)', { branchName: 'nowhere' }, 422, 'branch_not_found'],
    ['a branch below another (W20)', { branchName: 'main/x', intent: 'branch-off' }, 409, 'branch_conflict'],
    ['wt-start-command', { startCommand: 'touch x' }, 400, 'invalid_request'],
  ])('R41: %s is refused and said why', async (id, json, status, error) => {
    const answer = await create(id === 'run-bad-create' ? json : { cwd: at.main, ...json });
    expect([answer.status, answer.body?.['error'], answer.body?.['ok']]).toEqual([status, error, false]);
    expect(typeof answer.body?.['message']).toBe('string');
    expect((await git(at.main, 'branch', '--format=%(refname:short)')).trim()).toBe('main');
  });

  it('R41: run-tx-create, run-tx-second-tab, run-tx-after-retired: made once, said again, and gone for good', async () => {
    const sourceSessionId = 'session-create-tx-source';
    await at.lab.service.sessions?.create({ id: sourceSessionId, cwd: at.main });
    const json = { cwd: at.main, ...tx, sourceSessionId, txId: 'client-create-tx-0001' };
    const made = await create(json);
    expect([made.status, made.body?.['branch'], made.body?.['txId']]).toEqual([201, 'tx-replay', json.txId]);
    expect(made.body?.['workspaceId']).toMatch(/./);
    const again = await create({ ...json, sourceTitle: 'Renamed' });
    expect([again.status, again.body]).toEqual([200, { ...made.body, replayed: true }]);
    // The claim of a session is a lease: the first one has settled.
    expect((await create({ ...json, txId: 'client-create-tx-0002' })).status).toBe(201);
    const path = String(made.body?.['path']);
    await git(at.main, 'worktree', 'remove', '--force', path);
    const retired = await create(json);
    expect([retired.status, retired.body]).toMatchObject([
      410,
      { ok: false, error: 'transaction_retired', txState: 'retired', txId: json.txId, path },
    ]);
    const after = await create({ ...json, branchName: 'tx-after-retired', txId: 'client-create-tx-0003' });
    expect(after.status).toBe(201);
    const different = await create({ ...json, branchName: 'other', txId: 'client-create-tx-0002' });
    expect([different.status, different.body]).toMatchObject([
      409,
      { error: 'transaction_conflict', reason: 'transaction-request-mismatch' },
    ]);
  });

  it('R41: run-tx-stale-base: a failure that left nothing says so, and the session may try again', async () => {
    const sourceSessionId = 'session-stale-selector';
    await at.lab.service.sessions?.create({ id: sourceSessionId, cwd: at.main });
    const json = { cwd: at.main, intent: 'branch-off', sourceSessionId, txId: 'client-stale-tx-0001' };
    const stale = await create({ ...json, base: 'refs/heads/does-not-exist' });
    expect([stale.status, stale.body]).toMatchObject([422, { txState: 'absent', txId: json.txId }]);
    expect((await create({ ...json, txId: 'client-stale-tx-0002' })).status).toBe(201);
  });

  it('R25: run-legacy-root: what the existing plugin left in its own root is none of ours', async () => {
    const legacy = join(at.lab.pluginRoot, pluginHash(at.main));
    await mkdir(legacy, { recursive: true });
    const made = await create({ cwd: at.main, intent: 'branch-off', branchName: 'legacy-adopted' });
    expect(made.status).toBe(201);
    const record = join(dirname(String(made.body?.['path'])), 'owner.json');
    expect(JSON.parse(await readFile(record, 'utf8'))).toMatchObject({ version: 2, mainRoot: at.main });
  });

  it('R25: run-parallel-create, wt-create-race: two at once get a path and a branch each', async () => {
    const json = { cwd: at.main, intent: 'branch-off', branchName: 'parallel-task' };
    const both = await Promise.all([create(json), create(json)]);
    expect(both.map(({ status }) => status)).toEqual([201, 201]);
    expect(new Set(both.map(({ body }) => body?.['path'])).size).toBe(2);
    expect(both.map(({ body }) => body?.['branch']).sort()).toEqual(['parallel-task', 'parallel-task-1']);
  });

  it('R25: wt-base-is-self: work on an existing branch shows as its difference to the default branch', async () => {
    await git(at.main, 'checkout', '-q', '-b', 'feature');
    await writeFile(join(at.main, 'new.txt'), 'new\n');
    await git(at.main, 'add', '.');
    await git(at.main, '-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-qm', 'new');
    await git(at.main, 'checkout', '-q', 'main');
    const { body } = await create({ cwd: at.main, branchName: 'feature' });
    expect([body?.['branch'], body?.['baseRefName']]).toEqual(['feature', 'main']);
    const diff = await at.lab.server.send({
      path: `/diff?${new URLSearchParams({ cwd: String(body?.['path']), mode: 'task' })}`,
    });
    expect(diff.body?.['files']).toMatchObject([{ path: 'new.txt', status: 'added' }]);
  });

  it('R06: wt-create-destroys-old, wt-case-collision: a branch of that name keeps its commits, in any case', async () => {
    await git(at.main, 'branch', 'Task');
    const oid = (await git(at.main, 'rev-parse', 'Task')).trim();
    const { body } = await create({ cwd: at.main, intent: 'branch-off', branchName: 'task' });
    expect(body?.['branch']).toBe('task-1');
    expect((await git(at.main, 'rev-parse', 'Task')).trim()).toBe(oid);
  });

  it('R03: wt-auto-init-commit: a repository without a commit gets none', async () => {
    const unborn = join(at.place, 'unborn');
    await mkdir(unborn);
    await git(unborn, 'init', '-q');
    await writeFile(join(unborn, 'file'), 'x');
    await at.lab.service.workspaces?.add(unborn);
    expect((await create({ cwd: unborn, intent: 'branch-off' })).status).toBe(422);
    expect(await git(unborn, 'status', '--porcelain')).toBe('?? file\n');
    await rm(unborn, { recursive: true });
  });
});
