import { mkdir, readdir, readFile, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DiscardRequest } from '../../src/actions/repository-actions.ts';
import { git, makeRepository } from '../support/git.ts';
import { makeTree, readTree } from '../support/tree.ts';
import { headOf, outcomeOf, useActionLab } from './action-lab.ts';
import { commitAll, discardConfirmed as discard, stateOf } from './discard-lab.ts';

const place = useActionLab();
const actions = () => place.lab.service.actions;
const discardConfirmed = (repo: string, request?: DiscardRequest) =>
  discard(place.lab.service, repo, request);

describe('a discard in unusual repositories', () => {
  it('R22: without a commit takes everything', async () => {
    const repo = place.beside('unborn');
    await mkdir(repo);
    await git(repo, 'init', '-q', '-b', 'main');
    await place.lab.service.workspaces?.add(repo);
    await makeTree(repo, ['staged: 1', 'intended: 1', 'untracked: 1']);
    await git(repo, 'add', 'staged');
    await git(repo, 'add', '-N', 'intended');
    const { archive } = await discardConfirmed(repo);
    expect(await git(repo, 'status', '--porcelain')).toBe('');
    const { restored, staged } = await actions().restoreDiscarded(repo, { archive });
    expect(restored).toEqual(['intended', 'staged', 'untracked']);
    expect(staged).toEqual(['staged']);
  });

  it('R22: leaves submodules and repositories inside alone, and names them', async () => {
    const { repo } = place;
    const origin = place.beside('origin');
    await makeRepository(origin);
    await git(repo, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', origin, 'sub');
    await commitAll(repo);
    await makeRepository(join(repo, 'inner'));
    await git(join(repo, 'sub'), 'commit', '-q', '--allow-empty', '-m', 'more');
    await makeTree(repo, ['sub/untracked: 1', 'new: 1']);
    const moved = await headOf(join(repo, 'sub'));
    const { left } = await discardConfirmed(repo);
    expect(left).toEqual(['sub', 'inner/']);
    expect(await headOf(join(repo, 'sub'))).toBe(moved);
    expect(await readFile(join(repo, 'sub/untracked'), 'utf8')).toBe('1');
    expect(await git(repo, 'status', '--porcelain')).toBe(' M sub\n?? inner/\n');
  });

  it('R22: in a sparse checkout touches only what is checked out', async () => {
    const { repo } = place;
    await makeTree(repo, ['in/a: 1', 'out/b: 1']);
    await commitAll(repo);
    await git(repo, 'sparse-checkout', 'set', 'in');
    await makeTree(repo, ['in/a: 2', 'in/new: 1']);
    await discardConfirmed(repo);
    expect(await git(repo, 'status', '--porcelain')).toBe('');
    expect(await readdir(repo)).not.toContain('out');
    expect(await readFile(join(repo, 'in/a'), 'utf8')).toBe('1');
  });

  it('R22: on a detached HEAD, and with files and directories that changed places', async () => {
    const { repo } = place;
    await makeTree(repo, ['f: 1', 'd/x: 1', 'd/y: 1']);
    await commitAll(repo);
    await git(repo, 'switch', '-q', '--detach');
    const before = await stateOf(repo);
    await rm(join(repo, 'd'), { recursive: true });
    await unlink(join(repo, 'f'));
    await makeTree(repo, ['d: file', 'f/in: file']);
    await git(repo, 'add', '-A');
    await discardConfirmed(repo);
    expect(await stateOf(repo)).toEqual(before);
  });

  it('R22: in a linked worktree keeps to it, and any checkout of the repository can bring it back', async () => {
    const { repo } = place;
    const linked = place.beside('linked');
    await git(repo, 'worktree', 'add', '-q', linked);
    await place.lab.service.workspaces?.add(linked);
    await makeTree(linked, ['new: 1']);
    await makeTree(repo, ['other: 1']);
    const { archive } = await discardConfirmed(linked);
    expect(await git(repo, 'status', '--porcelain')).toBe('?? other\n');
    expect(await actions().discarded(repo)).toMatchObject([{ archive, here: false }]);
    expect((await actions().restoreDiscarded(repo, { archive })).restored).toEqual(['new']);
  });
});

describe('what was discarded', () => {
  it('R41: is never put over something else, and is said to be in the way', async () => {
    const { repo } = place;
    await makeTree(repo, ['t: 1', 'u: 1']);
    await commitAll(repo);
    await makeTree(repo, ['t: mine', 'u: mine', 'new: mine']);
    const { archive } = await discardConfirmed(repo);
    await makeTree(repo, ['t: later', 'new: later']);
    const outcome = await actions().restoreDiscarded(repo, { archive });
    expect(outcome.restored).toEqual(['u']);
    expect(outcome.conflicts).toEqual([
      { path: 't', reason: 'in-the-way' },
      { path: 'new', reason: 'in-the-way' },
    ]);
    expect(await readTree(repo)).toEqual(expect.arrayContaining(['t: later', 'new: later', 'u: mine']));
  });

  it('R41: comes back in part, again and again, and belongs to its repository alone', async () => {
    const { repo, lab } = place;
    await makeTree(repo, ['one: 1', 'two: 2']);
    const { archive } = await discardConfirmed(repo);
    const restore = (paths: readonly string[]) => actions().restoreDiscarded(repo, { archive, paths });
    expect((await restore(['one'])).restored).toEqual(['one']);
    expect((await restore(['one'])).present).toEqual(['one']);
    expect(await readdir(repo)).not.toContain('two');
    const other = await lab.repository(`other of ${archive}`);
    expect(await actions().discarded(other)).toEqual([]);
    for (const id of [archive, '20260101000000000-0123456789abcdef', '../registry.json', '']) {
      expect(await outcomeOf(actions().restoreDiscarded(other, { archive: id }))).toBe('archive_not_found');
    }
  });
});

describe('many discards at once', () => {
  it('run-limiter-pins, R20: each keeps to its own repository while it waits for a process', async () => {
    const repos = await Promise.all(
      Array.from({ length: 8 }, (_, count) =>
        place.lab.repository(`many ${count} of ${place.beside('x').length}`),
      ),
    );
    await Promise.all(repos.map((repo, count) => makeTree(repo, [`only-${count}: 1`])));
    const archives = await Promise.all(repos.map((repo) => discardConfirmed(repo)));
    for (const [count, repo] of repos.entries()) {
      expect(await git(repo, 'status', '--porcelain')).toBe('');
      const { archive } = archives[count] ?? { archive: '' };
      expect((await actions().restoreDiscarded(repo, { archive })).restored).toEqual([`only-${count}`]);
    }
  });
});
