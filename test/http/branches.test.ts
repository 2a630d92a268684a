import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Branch, BranchListing } from '../../src/git/branches.ts';
import { git } from '../support/git.ts';
import { addOrigin, oidOf, setUpstream, writeHistory } from '../support/history.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { addWorktree } from '../support/http-worktrees.ts';
import { expectNestedRefused } from '../support/nested.ts';
import { ask, get } from './public-bugs/bug-table.ts';

const run = promisify(execFile);
const here = useWorktreeLab();

/** The same answer from the library and from the route. */
async function list(cwd: string): Promise<BranchListing> {
  const listing = await here.lab.service.reads.branches(cwd);
  const { body } = await ask(here.lab, get('/branches', { cwd }), 200);
  expect(body).toEqual({ ok: true, isGit: true, ...listing });
  return listing as BranchListing;
}

async function named(cwd: string, name: string): Promise<Branch | undefined> {
  return (await list(cwd)).branches.find((branch) => branch.name === name);
}

/** A line of commits, one a second, with refs on some of them. */
async function line(length: number, refs: Readonly<Record<string, number>>): Promise<void> {
  const commits = Array.from({ length }, (_, index) => ({
    parents: index === 0 ? [] : [index - 1],
    at: 1000 + index,
  }));
  await writeHistory(here.main, commits, refs);
}

describe('GET /branches', () => {
  it('R41: tells every field of the wire contract, local branches and those of origin together', async () => {
    await addOrigin(here.main);
    const commits = [
      { parents: [], at: 10 },
      { parents: [0], at: 20 },
      { parents: [1], at: 30 },
      { parents: [0], at: 40 },
    ];
    await writeHistory(here.main, commits, {
      'refs/heads/main': 2,
      'refs/remotes/origin/main': 3,
      'refs/heads/same': 1,
      'refs/remotes/origin/same': 1,
      'refs/heads/only-local': 1,
      'refs/remotes/origin/only/remote': 0,
      'refs/remotes/other/main': 0,
      'refs/tags/v1': 0,
    });
    await setUpstream(here.main, 'main', 'main');
    const [oid0, oid1, oid2, oid3] = await Promise.all(
      ['v1', 'heads/same', 'heads/main', 'origin/main'].map((name) => oidOf(here.main, name)),
    );
    const both = { hasLocal: true, hasRemote: true, current: false };
    expect(await list(here.main)).toEqual({
      defaultBranch: 'main',
      current: 'main',
      branches: [
        {
          ...both,
          name: 'main',
          committerDate: 40,
          localOid: oid2,
          remoteOid: oid3,
          localAhead: 2,
          localBehind: 1,
          current: true,
        },
        {
          name: 'only-local',
          committerDate: 20,
          hasLocal: true,
          hasRemote: false,
          localOid: oid1,
          current: false,
        },
        { ...both, name: 'same', committerDate: 20, localOid: oid1, remoteOid: oid1 },
        {
          name: 'only/remote',
          committerDate: 10,
          hasLocal: false,
          hasRemote: true,
          remoteOid: oid0,
          current: false,
        },
      ],
    });
  });

  it.each([
    ['has the branch of its name for upstream', 'x'],
    ['has another upstream', 'main'],
    ['has an upstream that is gone', 'gone'],
    ['has no upstream', null],
  ])('R41: a branch is compared with the branch of its name, also when it %s', async (_, upstream) => {
    await addOrigin(here.main);
    await line(6, {
      'refs/heads/x': 5,
      'refs/remotes/origin/x': 2,
      'refs/heads/main': 0,
      'refs/remotes/origin/main': 0,
    });
    if (upstream !== null) await setUpstream(here.main, 'x', upstream);
    expect(await named(here.main, 'x')).toMatchObject({ localAhead: 3, localBehind: 0 });
    expect(await named(here.main, 'main')).not.toHaveProperty('localAhead');
  });

  it.each([
    ['ahead', 4, 1, { localAhead: 3, localBehind: 0 }],
    ['behind', 1, 4, { localAhead: 0, localBehind: 3 }],
  ])('R41: tells a tracked branch that is %s only', async (_, local, remote, counts) => {
    await addOrigin(here.main);
    await line(5, { 'refs/heads/x': local, 'refs/remotes/origin/x': remote });
    await setUpstream(here.main, 'x', 'x');
    expect(await named(here.main, 'x')).toMatchObject(counts);
  });

  it('W39: a tag of the name of a branch is another ref, and changes nothing', async () => {
    await line(3, { 'refs/heads/main': 2, 'refs/heads/x': 1, 'refs/tags/main': 0, 'refs/tags/x': 0 });
    await git(here.main, 'checkout', '-q', '--detach');
    await git(here.main, 'symbolic-ref', 'HEAD', 'refs/heads/x');
    expect(await git(here.main, 'symbolic-ref', '--short', 'HEAD')).toBe('heads/x\n');
    const listing = await list(here.main);
    expect(listing).toMatchObject({ current: 'x', defaultBranch: 'main' });
    expect(listing.branches).toMatchObject([
      { name: 'main', localOid: await oidOf(here.main, 'refs/heads/main'), current: false },
      { name: 'x', localOid: await oidOf(here.main, 'refs/heads/x'), current: true },
    ]);
  });

  it('W40: a default branch that is not local is called by its name on origin, and is listed', async () => {
    await addOrigin(here.main);
    await line(2, { 'refs/heads/topic': 1, 'refs/remotes/origin/trunk': 0 });
    await git(here.main, 'symbolic-ref', 'HEAD', 'refs/heads/topic');
    await git(here.main, 'branch', '-q', '-D', 'main');
    await git(here.main, 'symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/trunk');
    const listing = await list(here.main);
    expect(listing).toMatchObject({ defaultBranch: 'origin/trunk', current: 'topic' });
    expect(listing.branches.map(({ name }) => name)).toEqual(['topic', 'trunk']);
  });

  it('R41: a detached HEAD has no current branch', async () => {
    await git(here.main, 'checkout', '-q', '--detach');
    const listing = await list(here.main);
    expect(listing).toMatchObject({ current: null, defaultBranch: 'main' });
    expect(listing.branches).toMatchObject([{ name: 'main', current: false }]);
  });

  it('R41: an unborn branch is current and not listed', async () => {
    await git(here.main, 'symbolic-ref', 'HEAD', 'refs/heads/unborn');
    const listing = await list(here.main);
    expect(listing.current).toBe('unborn');
    expect(listing.branches.map(({ name }) => name)).toEqual(['main']);
  });

  it('R41: a repository without a commit has no branches, and the unborn one is its default', async () => {
    const path = join(here.place, 'empty');
    await git('/', 'init', '-q', '-b', 'trunk', path);
    await here.lab.service.workspaces?.add(path);
    expect(await list(path)).toEqual({ defaultBranch: 'trunk', current: 'trunk', branches: [] });
  });

  it('R33: a worktree has its own current branch', async () => {
    const path = await addWorktree(here.main, join(here.place, 'linked'), 'feat/x');
    expect(await list(path)).toMatchObject({ current: 'feat/x', defaultBranch: 'main' });
    expect(await list(here.main)).toMatchObject({ current: 'main' });
  });

  it('R20: names of any script, and those that no command should be given, are told as they are', async () => {
    const names = [
      '-x',
      '--help',
      'ä/한',
      "it's",
      'a"b',
      'a$(b)`c`',
      'a]b',
      'origin/main',
      'heads/main',
      'HEAD',
      '{}',
    ];
    const oid = await oidOf(here.main, 'HEAD');
    for (const name of names) await git(here.main, 'update-ref', `refs/heads/${name}`, oid);
    const listed = (await list(here.main)).branches.map(({ name }) => name);
    expect(listed).toEqual([...names, 'main'].sort());
  });

  it('R20: a branch whose name is not UTF-8 is left out, and does not become another one', async () => {
    const script = 'git -C "$1" update-ref "refs/heads/$(printf \'a\\377\')" HEAD';
    await run('bash', ['-c', script, 'bash', here.main]);
    await git(here.main, 'branch', 'a\ufffd');
    const { branches } = await list(here.main);
    expect(branches.map(({ name }) => name)).toEqual(['a\ufffd', 'main']);
  });

  it('a remote-tracking ref that leads to no commit is no branch', async () => {
    await addOrigin(here.main);
    await writeFile(join(here.main, 'blob'), 'x');
    const blob = (await git(here.main, 'hash-object', '-w', 'blob')).trim();
    await git(here.main, 'update-ref', 'refs/remotes/origin/blob', blob);
    expect((await list(here.main)).branches.map(({ name }) => name)).toEqual(['main']);
  });

  it('a shallow clone tells the branches it has', async () => {
    const path = join(here.place, 'shallow');
    await line(5, { 'refs/heads/main': 4, 'refs/heads/other': 3 });
    await git('/', 'clone', '-q', '--depth=1', '--no-single-branch', `file://${here.main}`, path);
    await here.lab.service.workspaces?.add(path);
    const listing = await list(path);
    expect(listing.defaultBranch).toBe('main');
    expect(listing.branches).toMatchObject([
      { name: 'main', hasLocal: true, hasRemote: true, committerDate: 1004 },
      { name: 'other', hasLocal: false, hasRemote: true, committerDate: 1003 },
    ]);
  });

  it('a ref to an object that is missing fails the answer, and is not left out of it', async () => {
    await git(here.main, 'commit', '-q', '--allow-empty', '-m', 'second');
    const oid = await oidOf(here.main, 'HEAD');
    await rm(join(here.main, '.git/objects', oid.slice(0, 2), oid.slice(2)));
    await ask(here.lab, get('/branches', { cwd: here.main }), 502, 'git_failed');
  });

  it('R03: a plain directory has none, and a nested one gets none of the repository around it', async () => {
    const { body } = await ask(here.lab, get('/branches', { cwd: here.lab.plain }), 200);
    expect(body).toEqual({ ok: true, isGit: false, branches: [] });
    await expectNestedRefused(here.lab, '/branches');
  });

  it('R41: a missing selector is named as older clients know it, and nothing else is accepted', async () => {
    const { body } = await ask(here.lab, { path: '/branches' }, 400, 'invalid_request');
    expect(body?.['error']).toBe('cwd required');
    await ask(here.lab, get('/branches', { cwd: here.main, base: 'main' }), 400, 'invalid_request');
  });

  it('R02: an unregistered repository and a directory in a worktree are refused', async () => {
    await ask(here.lab, get('/branches', { cwd: here.lab.outside }), 403, 'workspace_not_authorized');
    const below = join(await addWorktree(here.main, join(here.place, 'w'), 'w'), 'sub');
    await mkdir(below);
    await ask(here.lab, get('/branches', { cwd: below }), 403, 'workspace_not_authorized');
  });
});
