import { describe, expect, it } from 'vitest';
import { type LadderFacts, ladderOf } from '../../src/actions/ladder.ts';

/** A topic branch with one commit of its own, pushed and clean. */
const settled: LadderFacts = {
  branch: 'topic',
  detached: false,
  unborn: false,
  baseRefName: 'main',
  baseRef: '0'.repeat(40),
  changedFileCount: 0,
  untrackedCount: 0,
  aheadBehind: { ahead: 1, behind: 0 },
  upstream: null,
  originDelta: { ahead: 0, behind: 0 },
  github: null,
  managed: false,
  gitKnown: { head: true, status: true, aheadBehind: true, originDelta: true },
  degraded: [],
  unmerged: 0,
  untrackedRepositories: 0,
  hasOrigin: true,
  standing: null,
  isPullRequest: false,
};

const nothingKnown: LadderFacts = {
  ...settled,
  branch: null,
  baseRefName: null,
  baseRef: null,
  changedFileCount: null,
  untrackedCount: null,
  aheadBehind: null,
  originDelta: null,
  gitKnown: { head: false, status: false, aheadBehind: false, originDelta: false },
  unmerged: null,
  untrackedRepositories: null,
  hasOrigin: null,
  standing: 'unknown',
};

const changed = { changedFileCount: 1 };

function reasons(facts: LadderFacts, running = false): Record<string, string | null> {
  return Object.fromEntries(ladderOf(facts, running).map(({ id, reasonKey }) => [id, reasonKey]));
}

describe('the ladder', () => {
  it('R41: has the entries of the contract in its order', () => {
    expect(ladderOf(settled, false)).toEqual([
      { id: 'commit', disabled: true, reasonKey: 'actions.commit.clean' },
      { id: 'pull', disabled: true, reasonKey: 'actions.pull.upToDate', params: { behind: 0 } },
      { id: 'push', disabled: true, reasonKey: 'actions.push.nothing', params: { ahead: 0 } },
      { id: 'mergeToBase', disabled: false, reasonKey: null },
      { id: 'updateFromBase', disabled: true, reasonKey: 'actions.updateFromBase.upToDate' },
      { id: 'discard', disabled: true, reasonKey: 'actions.commit.clean' },
      { id: 'fetch', disabled: false, reasonKey: null, readOnly: true },
      { id: 'archive', disabled: true, reasonKey: 'actions.archive.notManaged', warn: false },
    ]);
  });

  it('R41: leaves out mergeToBase on the base itself', () => {
    expect(reasons({ ...settled, branch: 'main' })).not.toHaveProperty('mergeToBase');
    expect(reasons({ ...nothingKnown, branch: 'main', baseRefName: 'main' })).toHaveProperty('mergeToBase');
  });

  it('R41: has createPr where a pull request could be made, and does not offer what no forge was asked about', () => {
    const github = { host: 'github.com', owner: 'o', repo: 'r' };
    expect(reasons({ ...settled, github })).toMatchObject({ createPr: 'actions.failed' });
    expect(Object.keys(reasons({ ...settled, github }))).toEqual([
      'commit',
      'pull',
      'push',
      'createPr',
      'mergeToBase',
      'updateFromBase',
      'discard',
      'fetch',
      'archive',
    ]);
    for (const other of [
      { isPullRequest: true },
      { branch: null, detached: true },
      { aheadBehind: { ahead: 0, behind: 2 } },
      { aheadBehind: null },
    ]) {
      expect(reasons({ ...settled, github, ...other })).not.toHaveProperty('createPr');
    }
  });

  it('R04: offers nothing of what is not known', () => {
    expect(reasons(nothingKnown)).toEqual({
      commit: 'actions.failed',
      pull: 'actions.failed',
      push: 'actions.failed',
      mergeToBase: 'actions.failed',
      updateFromBase: 'actions.failed',
      discard: 'actions.failed',
      fetch: 'actions.failed',
      archive: 'actions.archive.notManaged',
    });
  });

  it('R41: while somebody works in the checkout, only what is read-only is offered', () => {
    const running = ladderOf({ ...settled, ...changed, managed: true }, true);
    for (const { id, disabled, reasonKey, readOnly } of running) {
      if (id === 'fetch') expect([disabled, reasonKey, readOnly]).toEqual([false, null, true]);
      else expect([id, disabled, reasonKey]).toEqual([id, true, 'actions.disabled.agentRunning']);
    }
  });

  const behind = { originDelta: { ahead: 0, behind: 2 } };
  const cases: readonly (readonly [string, Partial<LadderFacts>, Record<string, string | null>])[] = [
    [
      'an untracked file',
      { changedFileCount: 1, untrackedCount: 1 },
      { commit: null, discard: null, mergeToBase: null },
    ],
    ['a changed file', changed, { commit: null, discard: null, mergeToBase: 'actions.merge.dirtyCurrent' }],
    [
      'only a repository inside (W31)',
      { changedFileCount: 1, untrackedCount: 1, untrackedRepositories: 1 },
      { commit: 'actions.commit.clean', discard: 'actions.commit.clean', mergeToBase: null },
    ],
    ['commits to pull', behind, { pull: null }],
    ['commits to pull and a changed file', { ...behind, ...changed }, { pull: 'actions.merge.dirtyCurrent' }],
    [
      'commits to pull and an untracked file',
      { ...behind, changedFileCount: 1, untrackedCount: 1 },
      { pull: null },
    ],
    [
      'an upstream of another name',
      { originDelta: null, upstream: { ref: 'origin/other', ahead: 0, behind: 1 } },
      { pull: null, push: null },
    ],
    [
      'an upstream that is no branch of origin',
      { upstream: { ref: 'elsewhere/topic', ahead: 0, behind: 1 } },
      { pull: 'actions.pull.noRemote' },
    ],
    [
      'a branch that origin does not have',
      { originDelta: null },
      { pull: 'actions.pull.noRemote', push: null },
    ],
    ['commits to push', { originDelta: { ahead: 3, behind: 0 } }, { push: null }],
    [
      'no remote',
      { hasOrigin: false, originDelta: null },
      { pull: 'actions.pull.noRemote', push: 'actions.push.noRemote', fetch: 'actions.pull.noRemote' },
    ],
    ['the checkout of a pull request', { isPullRequest: true }, { push: 'actions.push.prCheckout' }],
    [
      'a detached HEAD',
      { branch: null, detached: true, originDelta: null },
      {
        commit: 'actions.commit.clean',
        pull: 'actions.merge.detached',
        push: 'actions.push.noBranch',
        mergeToBase: 'actions.merge.detached',
        updateFromBase: 'actions.merge.detached',
      },
    ],
    [
      'an unborn branch with a file',
      { unborn: true, aheadBehind: null, originDelta: null, changedFileCount: 1, untrackedCount: 1 },
      {
        commit: null,
        discard: null,
        push: 'actions.push.noBranch',
        updateFromBase: 'actions.merge.detached',
      },
    ],
    [
      'a base to update from',
      { aheadBehind: { ahead: 0, behind: 1 } },
      { mergeToBase: 'actions.mergeToBase.nothing', updateFromBase: null },
    ],
    [
      'no base',
      { baseRef: null, baseRefName: null, aheadBehind: null },
      { mergeToBase: 'actions.mergeToBase.noOwner', updateFromBase: 'actions.updateFromBase.noBase' },
    ],
    [
      'a base whose distance is not known',
      { aheadBehind: null, gitKnown: { ...settled.gitKnown, aheadBehind: false } },
      { mergeToBase: 'actions.failed', updateFromBase: 'actions.failed', commit: 'actions.commit.clean' },
    ],
    ['an upstream that is not known', { degraded: [{ stage: 'upstream' }] }, { pull: 'actions.failed' }],
    [
      'a rebase in the middle',
      { standing: 'rebase', ...changed, ...behind },
      {
        commit: 'actions.merge.inProgress',
        pull: 'actions.merge.inProgress',
        mergeToBase: 'actions.merge.inProgress',
        discard: 'actions.merge.inProgress',
        fetch: null,
      },
    ],
    [
      'a merge that is resolved',
      { standing: 'merge', ...behind },
      { commit: null, pull: 'actions.merge.inProgress', discard: 'actions.merge.inProgress' },
    ],
    [
      'a merge with conflicts',
      { standing: 'merge', unmerged: 1, ...changed },
      { commit: 'actions.merge.conflict', mergeToBase: 'actions.merge.inProgress' },
    ],
    [
      'conflicts that no merge left',
      { unmerged: 1, ...changed },
      {
        commit: 'actions.merge.conflict',
        discard: 'actions.merge.conflict',
        mergeToBase: 'actions.merge.conflict',
      },
    ],
    ['a managed worktree', { managed: true }, { archive: null }],
    ['a managed worktree with changes', { managed: true, ...changed }, { archive: null }],
    [
      'a managed worktree with a merge in the middle',
      { managed: true, standing: 'merge' },
      { archive: null },
    ],
    ['a managed worktree without a commit', { managed: true, unborn: true }, { archive: 'actions.failed' }],
    [
      'a managed worktree of unknown status',
      { managed: true, changedFileCount: null },
      { archive: 'actions.failed' },
    ],
  ];

  it.each(cases)('R41: %s', (_, facts, expected) => {
    expect(reasons({ ...settled, ...facts })).toMatchObject(expected);
  });

  it('R41: says how far, as far as it is known', () => {
    const paramsOf = (facts: Partial<LadderFacts>) =>
      Object.fromEntries(
        ladderOf({ ...settled, ...facts }, false).flatMap(({ id, params }) =>
          params === undefined ? [] : [[id, params]],
        ),
      );
    expect(paramsOf({ originDelta: { ahead: 3, behind: 2 } })).toEqual({
      pull: { behind: 2 },
      push: { ahead: 3 },
    });
    expect(paramsOf({ originDelta: null })).toEqual({ push: { ahead: 1 } });
    expect(paramsOf({ originDelta: null, aheadBehind: null })).toEqual({});
  });

  it.each([
    ['nothing', {}, false],
    ['a changed file', changed, true],
    ['a status that is not known', { changedFileCount: null }, true],
    ['a commit that is not pushed', { originDelta: { ahead: 1, behind: 0 } }, true],
    ['a commit on a branch that origin does not have', { originDelta: null }, true],
    ['a new branch at its base', { originDelta: null, aheadBehind: { ahead: 0, behind: 4 } }, false],
    ['an origin that is not known', { gitKnown: { ...settled.gitKnown, originDelta: false } }, true],
    ['a detached HEAD, which needs a word', { branch: null, detached: true }, true],
    ['a merge in the middle', { standing: 'merge' }, true],
  ] as const)('R41: archive warns of %s: %j', (_, facts, warn) => {
    expect(ladderOf({ ...settled, ...facts }, false).at(-1)).toMatchObject({ id: 'archive', warn });
  });
});
