import { join } from 'node:path';
import { expect } from 'vitest';
import { git, type HttpLab } from '../../support/http-lab.ts';
import { ask, change, runBugTable } from './bug-table.ts';

const removal = 'worktrees are not archived or removed yet: POST /worktrees/archive';
const cleanup = 'worktrees are not cleaned up yet: POST /worktrees/cleanup';

/** There is no route that deletes a branch with its worktree (decisions 6): whatever is asked, both branches stay. */
async function keepsBranches(lab: HttpLab): Promise<void> {
  const path = join(lab.sandbox, 'branch-kept');
  await git(lab.repo, 'worktree', 'add', '-q', '-b', 'b1', path);
  await git(path, 'checkout', '-q', '-b', 'b2');
  try {
    const asked = { path, force: true, deleteBranch: true };
    await ask(lab, change('POST', '/worktrees/archive', asked), 400, 'invalid_request');
    const kept = await git(
      lab.repo,
      'for-each-ref',
      '--format=%(refname:short)',
      'refs/heads/b1',
      'refs/heads/b2',
    );
    expect(kept.trim().split('\n')).toEqual(['b1', 'b2']);
    expect((await git(path, 'symbolic-ref', 'HEAD')).trim()).toBe('refs/heads/b2');
  } finally {
    await git(lab.repo, 'worktree', 'remove', '--force', path);
    await git(lab.repo, 'branch', '-q', '-D', 'b1', 'b2');
  }
}

runBugTable('worktree', 'R25', {
  scenarios: { 'wt-wrong-branch': keepsBranches, 'wt-branch-in-use': keepsBranches },
  elsewhere: {
    'wt-mid-operation': 'test/actions/commit.test.ts',
    'wt-retry-half-created': 'test/crash/create-kill.test.ts',
    'wt-create-destroys-old': 'test/http/worktrees-create.test.ts',
    'wt-auto-init-commit': 'test/http/worktrees-create.test.ts',
    'wt-create-race': 'test/http/worktrees-create.test.ts',
    'wt-base-is-self': 'test/http/worktrees-create.test.ts',
    'wt-start-command': 'test/http/worktrees-create.test.ts',
    'wt-case-collision': 'test/http/worktrees-create.test.ts',
  },
  later: {
    'wt-remove-ignored': removal,
    'wt-snapshot-moved': removal,
    'wt-unreachable-detached': removal,
    'wt-unregistered-dir': removal,
    'wt-occupant': removal,
    'wt-bare-prune': removal,
    'wt-locked': removal,
    'wt-git-fails-then-rm': removal,
    'wt-archived-access': removal,
    'wt-detached-listed': removal,
    'wt-substring-match': cleanup,
    'wt-orphan-level': cleanup,
  },
});
