import assert from 'node:assert/strict';
import type { Cleanup } from '../harness/cleanup.ts';
import { eachTimed } from '../harness/timing.ts';
import type { Contest } from '../harness/trial.ts';
import { diverging, makeHistory, ownCommits, pairs } from '../sides/history.ts';
import { git } from '../sides/repository.ts';
import { settle } from '../sides/settle.ts';
import { openWorkspace } from '../sides/workspace.ts';

/** The Git commands run as soon as what they need is known, as a program would that cares for time. */
export async function prepareBranches(cleanup: Cleanup): Promise<Contest> {
  const { service, root } = await openWorkspace(cleanup, makeHistory);
  const ours = async () => (await service.reads.branches(root))?.branches ?? [];
  const fields = '--format=%(refname)%00%(objectname)%00%(committerdate:unix)';
  async function theirs(): Promise<readonly string[]> {
    const [refs] = await Promise.all([
      git(root, 'for-each-ref', fields, 'refs/heads/', 'refs/remotes/origin/'),
      git(root, 'symbolic-ref', 'HEAD'),
    ]);
    const oids = new Map(refs.split('\n').map((line) => line.split('\0').slice(0, 2) as [string, string]));
    const counts: Promise<string>[] = [];
    for (const [ref, oid] of oids) {
      const remote = oids.get(ref.replace('refs/heads/', 'refs/remotes/origin/'));
      if (remote === undefined || remote === oid) continue;
      counts.push(git(root, 'rev-list', '--left-right', '--count', `${oid}...${remote}`));
    }
    return Promise.all(counts);
  }
  await settle();
  return {
    ours: {
      sample: eachTimed(ours),
      async verify() {
        const branches = await ours();
        assert.equal(branches.filter((branch) => branch.hasLocal).length, pairs);
        assert.equal(branches.filter((branch) => branch.localAhead !== undefined).length, diverging);
      },
    },
    theirs: {
      sample: eachTimed(theirs),
      async verify() {
        assert.equal((await theirs()).length, diverging);
      },
    },
  };
}

export async function prepareCommits(cleanup: Cleanup): Promise<Contest> {
  const { service, root } = await openWorkspace(cleanup, makeHistory);
  const ours = () => service.reads.commits(root, { base: 'main' });
  const fields = '--format=%(refname)%00%(objectname)%00%(upstream)';
  async function theirs(): Promise<readonly string[]> {
    const branch = (await git(root, 'symbolic-ref', 'HEAD')).trim();
    const base = 'refs/remotes/origin/main';
    await git(root, 'for-each-ref', fields, branch, base, 'refs/heads/main');
    const start = (await git(root, 'merge-base', base, branch)).trim();
    const format = '--format=%H%x00%an%x00%at%x00%s';
    const [commits, unpushed] = await Promise.all([
      git(root, 'log', '-z', format, '--max-count=201', branch, `^${start}`),
      git(root, 'rev-list', '--max-count=200', branch, `^${start}`, '^refs/remotes/origin/topic'),
    ]);
    return [...commits.split('\0').slice(0, 1), ...unpushed.trimEnd().split('\n')];
  }
  await settle();
  return {
    ours: {
      sample: eachTimed(ours),
      async verify() {
        const { commits } = await ours();
        assert.equal(commits.length, ownCommits);
        assert.equal(commits.filter((commit) => commit.unpushed).length, ownCommits / 2);
      },
    },
    theirs: {
      sample: eachTimed(theirs),
      async verify() {
        assert.equal((await theirs()).length, 1 + ownCommits / 2);
      },
    },
  };
}
