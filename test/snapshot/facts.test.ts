import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSnapshots } from '../../src/snapshot/snapshots.ts';
import { commitFile } from '../git/git-lab.ts';
import { git } from '../support/git.ts';
import { createSnapshotLab, type SnapshotLab } from './snapshot-lab.ts';

describe('what a snapshot says of a checkout', () => {
  let lab: SnapshotLab;
  let count = 0;
  beforeAll(async () => {
    lab = await createSnapshotLab();
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  const fresh = () => {
    count += 1;
    return lab.makeRepository(`repository-${count}`);
  };

  /** A clone of a fresh repository, on a branch of its own. */
  async function clone(): Promise<{ readonly origin: string; readonly path: string }> {
    const origin = await fresh();
    await commitFile(origin, 'k', 'one\n');
    const name = `clone-${count}`;
    await git(lab.place, 'clone', '-q', origin, name);
    return { origin, path: await lab.register(name) };
  }

  it('R41: an unchanged main checkout', async () => {
    const path = await fresh();
    const sha = (await git(path, 'rev-parse', 'HEAD')).trim();
    const before = Date.now();
    const { at, ...snapshot } = await lab.read(path);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(snapshot).toEqual({
      cwd: path,
      isGit: true,
      repoRoot: path,
      mainRepoRoot: path,
      isLinkedWorktree: false,
      managed: false,
      baseRefName: 'main',
      baseRef: sha,
      defaultBranch: 'main',
      branch: 'main',
      detached: false,
      detachedShort: null,
      sha,
      unborn: false,
      dirty: false,
      changedFileCount: 0,
      untrackedCount: 0,
      aheadBehind: { ahead: 0, behind: 0 },
      upstream: null,
      originDelta: null,
      diffStat: { additions: 0, deletions: 0, files: 0 },
      remote: null,
      github: null,
      forgeAuth: 'no_remote',
      prHeadRef: null,
      prNumber: null,
      prLookupSha: sha,
      prRequireShaMatch: false,
      prPollingDisabled: true,
      pr: null,
      gitKnown: { head: true, status: true, aheadBehind: true, originDelta: true, diffStat: true },
      degraded: [],
    });
  });

  it('W7: untracked files count, whatever status.showUntrackedFiles says, and ignored ones do not', async () => {
    const path = await fresh();
    await commitFile(path, 'k', 'one\ntwo\n');
    await git(path, 'config', 'status.showUntrackedFiles', 'no');
    await commitFile(path, '.gitignore', '*.log\n');
    await mkdir(join(path, 'new'));
    await writeFile(join(path, 'new/a\nb'), 'x\n');
    await writeFile(join(path, 'new/c'), 'x\n');
    await writeFile(join(path, 'x.log'), 'x\n');
    await writeFile(join(path, 'k'), 'one\nthree\nfour\n');
    const { dirty, changedFileCount, untrackedCount, diffStat } = await lab.read(path);
    expect({ dirty, changedFileCount, untrackedCount }).toEqual({
      dirty: true,
      changedFileCount: 3,
      untrackedCount: 2,
    });
    expect(diffStat).toEqual({ additions: 2, deletions: 1, files: 1 });
  });

  it('decisions 4: the ignore file of the user counts', async () => {
    const excludesFile = join(lab.place, 'ignore');
    await writeFile(excludesFile, 'private\n');
    const { authority, git: runner, configuration } = lab;
    const user = async () => ({ excludesFile });
    const snapshots = createSnapshots({ authority, git: runner, configuration, user });
    const path = await fresh();
    await writeFile(join(path, 'private'), '');
    await writeFile(join(path, 'public'), '');
    expect(await snapshots.read(path)).toMatchObject({ untrackedCount: 1 });
    expect(await lab.read(path)).toMatchObject({ untrackedCount: 2 });
    await snapshots.close();
  });

  it('W39: a tag of the same name changes nothing', async () => {
    const path = await fresh();
    await git(path, 'checkout', '-q', '-b', 'topic');
    await commitFile(path, 'k', 'one\n');
    await git(path, 'tag', 'topic', 'main');
    await git(path, 'tag', 'main', 'topic~0');
    const sha = (await git(path, 'rev-parse', 'refs/heads/topic')).trim();
    expect(await lab.read(path)).toMatchObject({
      branch: 'topic',
      sha,
      defaultBranch: 'main',
      baseRef: (await git(path, 'rev-parse', 'refs/heads/main')).trim(),
      aheadBehind: { ahead: 1, behind: 0 },
      diffStat: { additions: 1, deletions: 0, files: 1 },
    });
  });

  it('R41: compares with the base, the branch at origin and the upstream', async () => {
    const { origin, path } = await clone();
    await git(path, 'checkout', '-q', '-b', 'topic');
    await commitFile(path, 'a', 'one\n');
    await git(path, 'push', '-q', 'origin', 'topic');
    await git(path, 'branch', '-q', '--set-upstream-to=origin/main');
    await commitFile(path, 'b', 'one\ntwo\n');
    await commitFile(origin, 'k', 'two\n');
    await git(path, 'fetch', '-q');
    await writeFile(join(path, 'b'), 'one\n');
    const snapshot = await lab.read(path);
    expect(snapshot).toMatchObject({
      baseRefName: 'main',
      aheadBehind: { ahead: 2, behind: 1 },
      upstream: { ref: 'origin/main', ahead: 2, behind: 1 },
      originDelta: { ahead: 1, behind: 0 },
      diffStat: { additions: 2, deletions: 0, files: 2 },
      remote: origin,
      github: null,
      degraded: [],
    });
  });

  it('R41: on the base itself, the numbers are against origin', async () => {
    const { origin, path } = await clone();
    await commitFile(path, 'a', 'one\n');
    await commitFile(origin, 'k', 'two\n');
    await git(path, 'fetch', '-q');
    expect(await lab.read(path)).toMatchObject({
      branch: 'main',
      originDelta: { ahead: 1, behind: 1 },
      diffStat: { additions: 1, deletions: 0, files: 1 },
    });
  });

  it('W40: a default branch that is only at origin is a base by its name', async () => {
    const { path } = await clone();
    await git(path, 'checkout', '-q', '-b', 'topic');
    await git(path, 'branch', '-q', '-D', 'main');
    await commitFile(path, 'a', 'one\n');
    expect(await lab.read(path)).toMatchObject({
      defaultBranch: 'origin/main',
      baseRefName: 'origin/main',
      aheadBehind: { ahead: 1, behind: 0 },
    });
  });

  it('an upstream that is gone is none', async () => {
    const { path } = await clone();
    await git(path, 'config', 'branch.main.merge', 'refs/heads/gone');
    expect(await lab.read(path)).toMatchObject({ upstream: null, degraded: [] });
  });

  it('an unborn branch: nothing is committed, and everything in the index is new', async () => {
    await mkdir(join(lab.place, 'unborn'));
    await git(join(lab.place, 'unborn'), 'init', '-q', '-b', 'main');
    const path = await lab.register('unborn');
    await writeFile(join(path, 'k'), 'one\n');
    await git(path, 'add', 'k');
    expect(await lab.read(path)).toMatchObject({
      branch: 'main',
      unborn: true,
      sha: null,
      dirty: true,
      changedFileCount: 1,
      untrackedCount: 0,
      aheadBehind: null,
      diffStat: { additions: 1, deletions: 0, files: 1 },
      degraded: [],
    });
  });

  it('a detached HEAD', async () => {
    const path = await fresh();
    await commitFile(path, 'k', 'one\n');
    await git(path, 'checkout', '-q', '--detach', 'HEAD~1');
    const sha = (await git(path, 'rev-parse', 'HEAD')).trim();
    expect(await lab.read(path)).toMatchObject({
      branch: null,
      detached: true,
      detachedShort: sha.slice(0, 7),
      sha,
      unborn: false,
      aheadBehind: { ahead: 0, behind: 1 },
    });
  });

  it('conflicts are changes', async () => {
    const path = await fresh();
    await commitFile(path, 'k', 'one\n');
    await git(path, 'checkout', '-q', '-b', 'other', 'HEAD~1');
    await commitFile(path, 'k', 'two\n');
    await git(path, 'merge', '-q', 'main').catch(() => undefined);
    expect(await lab.read(path)).toMatchObject({ dirty: true, changedFileCount: 1, untrackedCount: 0 });
  });

  it('R04: a branch whose ref is damaged is not taken for an unborn one', async () => {
    const path = await fresh();
    await writeFile(join(path, '.git/refs/heads/main'), 'garbage\n');
    expect(await lab.read(path)).toMatchObject({
      sha: null,
      unborn: false,
      aheadBehind: null,
      diffStat: null,
      dirty: null,
      gitKnown: { head: false, status: false, aheadBehind: false, originDelta: false, diffStat: false },
      degraded: [{ stage: 'head' }, { stage: 'status' }, { stage: 'diff-stat' }],
    });
  });

  it('R04, W18: what the configuration does not allow is unknown, and the rest is told', async () => {
    const path = await fresh();
    await git(path, 'config', 'filter.x.clean', 'false');
    await git(path, 'config', 'remote.origin.url', 'https://user:secret@github.com/o/r.git');
    const snapshot = await lab.read(path);
    expect(snapshot).toMatchObject({
      branch: 'main',
      dirty: null,
      changedFileCount: null,
      untrackedCount: null,
      aheadBehind: { ahead: 0, behind: 0 },
      remote: 'https://github.com/o/r.git',
      github: { host: 'github.com', owner: 'o', repo: 'r' },
      gitKnown: { head: true, status: false },
      degraded: expect.arrayContaining([
        { stage: 'status', message: expect.stringContaining('filter.x.clean') },
      ]),
    });
    expect(JSON.stringify(snapshot)).not.toContain('secret');
  });

  it('R04: a damaged index is no clean tree', async () => {
    const path = await fresh();
    await commitFile(path, 'k', 'one\n');
    await writeFile(join(path, '.git/index'), 'DIRCgarbage');
    const snapshot = await lab.read(path);
    expect(snapshot).toMatchObject({ dirty: null, changedFileCount: null, gitKnown: { status: false } });
    expect(snapshot.degraded.map(({ stage }) => stage)).toContain('status');
  });

  it('R04: commits that are missing leave the difference unknown', async () => {
    const path = await fresh();
    await commitFile(path, 'k', 'one\n');
    await git(path, 'checkout', '-q', '-b', 'topic');
    await commitFile(path, 'k', 'two\n');
    const parent = (await git(path, 'rev-parse', 'HEAD~1~1')).trim();
    await rm(join(path, '.git/objects', parent.slice(0, 2), parent.slice(2)), { force: true });
    const snapshot = await lab.read(path);
    expect(snapshot).toMatchObject({ branch: 'topic', aheadBehind: null, gitKnown: { aheadBehind: false } });
  });

  it('R33: a linked worktree has its own HEAD, index and files', async () => {
    const path = await fresh();
    await commitFile(path, 'k', 'one\n');
    const linked = join(lab.place, `linked-${count}`);
    await git(path, 'worktree', 'add', '-q', '-b', 'topic', linked);
    await commitFile(linked, 'k', 'two\n');
    await writeFile(join(linked, 'new'), 'x');
    expect(await lab.read(linked)).toMatchObject({
      repoRoot: linked,
      mainRepoRoot: path,
      isLinkedWorktree: true,
      managed: false,
      branch: 'topic',
      untrackedCount: 1,
      aheadBehind: { ahead: 1, behind: 0 },
    });
    expect(await lab.read(path)).toMatchObject({ branch: 'main', dirty: false });
  });

  it('R41: a plain directory has no repository', async () => {
    await mkdir(join(lab.place, 'plain'), { recursive: true });
    const path = await lab.register('plain');
    expect(await lab.snapshots.read(path)).toEqual({ cwd: path, isGit: false, at: expect.any(Number) });
  });
});
