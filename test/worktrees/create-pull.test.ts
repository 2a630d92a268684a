import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { AuthorityError } from '../../src/errors/index.ts';
import { parseBranchName, parseCommitOid, parseRefName } from '../../src/git/values.ts';
import type { PullSelector, VerifiedPulls } from '../../src/service.ts';
import { headOf, outcomeOf, useActionLab } from '../actions/action-lab.ts';
import { git } from '../support/git.ts';

/** What the forge of this test says, whatever a caller claims. */
let said = { head: '', headRef: 'feature', forkOwner: null as string | null };
let asked = 0;
const forge: VerifiedPulls = {
  verify: async ({ number, owner }, address) => {
    asked += 1;
    if (owner !== 'owner') throw new AuthorityError('identity_changed');
    expect(address).toMatch(/^\//);
    return {
      number,
      headOid: parseCommitOid(said.head) ?? raise(),
      headRef: parseBranchName(said.headRef) ?? raise(),
      baseRef: parseBranchName('main'),
      forkOwner: said.forkOwner === null ? null : parseBranchName(said.forkOwner),
      remoteRef: parseRefName(`refs/pull/${number}/head`) ?? raise(),
    };
  },
};

function raise(): never {
  throw new Error('not well formed');
}

const at = useActionLab({ verifiedPulls: forge });

const pull: PullSelector = {
  host: 'h',
  owner: 'owner',
  repo: 'repo',
  number: 12,
  headRef: 'evil',
  forkOwner: 'evil',
};

/** A clone of the repository of the test, whose origin offers pull request 12 with a commit of its own. */
async function cloneWithPull(headRef: string, forkOwner: string | null = null): Promise<string> {
  await git(at.repo, 'checkout', '-q', '-b', 'work');
  await writeFile(join(at.repo, 'pulled.txt'), 'pulled\n');
  await git(at.repo, 'add', '.');
  await git(at.repo, 'commit', '-qm', 'pulled');
  await git(at.repo, 'update-ref', 'refs/pull/12/head', 'HEAD');
  said = { head: await headOf(at.repo), headRef, forkOwner };
  await git(at.repo, 'checkout', '-q', 'main');
  if (forkOwner === null) await git(at.repo, 'branch', '-q', '-m', 'work', headRef);
  else await git(at.repo, 'branch', '-q', '-D', 'work');
  const clone = at.beside('clone');
  await git(dirname(clone), 'clone', '-q', '--', at.repo, clone);
  await at.lab.service.workspaces?.add(clone);
  return clone;
}

async function expectNoPrivateRef(repo: string): Promise<void> {
  expect(await git(repo, 'for-each-ref', 'refs/workspace-authority/')).toBe('');
}

it('R25: run-create-pr-server-truth: the head, its name and its base are those of the forge', async () => {
  const clone = await cloneWithPull('feature');
  const made = await at.lab.service.worktrees.create(clone, { pull });
  expect(made).toMatchObject({
    branch: 'feature',
    pullNumber: 12,
    prHeadSha: said.head,
    baseRef: await headOf(at.repo, 'main'),
    baseRefName: 'main',
    upstream: 'origin/feature',
  });
  expect(await headOf(made.path)).toBe(said.head);
  expect(await git(made.path, 'status', '--porcelain')).toBe('');
});

it('R25: run-create-pr-fork, run-create-pr-taken, run-create-pr-temp-ref: a fork has its name, a number, and no upstream', async () => {
  const clone = await cloneWithPull('dark-mode', 'alice');
  const first = await at.lab.service.worktrees.create(clone, { pull });
  const second = await at.lab.service.worktrees.create(clone, { pull });
  expect([first.branch, first.upstream, second.branch]).toEqual([
    'alice/dark-mode',
    null,
    'alice/dark-mode-1',
  ]);
  await expectNoPrivateRef(clone);
});

it('R25: run-create-pr-wrong-sha: a head that is not the commit of the forge is refused, and nothing is left', async () => {
  const clone = await cloneWithPull('feature');
  const headOid = said.head;
  const expectedHeadOid = await headOf(at.repo, 'main');
  said = { ...said, head: expectedHeadOid };
  await expect(at.lab.service.worktrees.create(clone, { pull })).rejects.toMatchObject({
    code: 'pull_request_head_moved',
    details: { expectedHeadOid, headOid },
  });
  await expectNoPrivateRef(clone);
  expect((await git(clone, 'branch', '--format=%(refname:short)')).trim()).toBe('main');
});

it('R25: a refusal of the forge is the answer, before anything is fetched', async () => {
  const clone = await cloneWithPull('feature');
  const other = { ...pull, owner: 'other' };
  const outcome = await outcomeOf(at.lab.service.worktrees.create(clone, { pull: other }));
  expect(outcome).toBe('identity_changed');
});

it('R41: a transaction is answered again without the forge', async () => {
  const clone = await cloneWithPull('feature');
  await at.lab.service.sessions?.create({ id: 'session-of-a-pull', cwd: clone });
  const request = { pull, txId: 'transaction-of-a-pull', sourceSessionId: 'session-of-a-pull' };
  const made = await at.lab.service.worktrees.create(clone, request);
  const before = asked;
  expect(await at.lab.service.worktrees.create(clone, request)).toEqual({ ...made, replayed: true });
  expect(asked).toBe(before);
});

it('R25: the private ref of a dead process is taken away, one of somebody else is not', async () => {
  const clone = await cloneWithPull('feature');
  const uuid = '00000000-0000-4000-8000-000000000000';
  const dead = `refs/workspace-authority/pull/1-1-1-00000000-${uuid}`;
  await git(clone, 'update-ref', dead, 'HEAD');
  await git(clone, 'update-ref', 'refs/workspace-authority/pull/other', 'HEAD');
  await at.lab.service.worktrees.create(clone, { intent: 'branch-off' });
  expect((await git(clone, 'for-each-ref', '--format=%(refname)', 'refs/workspace-authority/')).trim()).toBe(
    'refs/workspace-authority/pull/other',
  );
});
