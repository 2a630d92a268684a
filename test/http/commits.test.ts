import { execFile } from 'node:child_process';
import { access, chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { addOrigin, oidOf, setUpstream } from '../support/history.ts';
import { useCommits } from '../support/http-commits.ts';
import {
  addOwnWorktree,
  addPluginWorktree,
  addWorktree,
  administrationOf,
} from '../support/http-worktrees.ts';
import { expectNestedRefused } from '../support/nested.ts';
import { ask, get } from './public-bugs/bug-table.ts';

const run = promisify(execFile);
const { here, list, subjects, refused, line, history } = useCommits();

describe('GET /commits', () => {
  it('R41: tells every field of the wire contract, newest first', async () => {
    await addOrigin(here.main);
    await line(4, { 'refs/heads/main': 1, 'refs/heads/topic': 3, 'refs/remotes/origin/topic': 2 });
    const [base, pushed, tip] = await Promise.all(
      ['main', 'origin/topic', 'topic'].map((name) => oidOf(here.main, name)),
    );
    expect(await list(here.main)).toEqual({
      base: 'main',
      baseRef: base,
      remoteRef: 'refs/remotes/origin/topic',
      commits: [
        {
          sha: tip,
          short: tip?.slice(0, 7),
          author: 'a',
          at: 1_003_000,
          subject: 'commit 3',
          unpushed: true,
        },
        {
          sha: pushed,
          short: pushed?.slice(0, 7),
          author: 'a',
          at: 1_002_000,
          subject: 'commit 2',
          unpushed: false,
        },
      ],
    });
  });

  it('R41: starts at the best common ancestor, from either side of a fork', async () => {
    const commits = [0, 1, 2, 3].map((index) => ({
      parents: index === 0 ? [] : [index === 3 ? 1 : index - 1],
      at: index,
    }));
    await history(commits, { 'refs/heads/main': 2, 'refs/heads/topic': 3 });
    const listing = await list(here.main, 'main');
    expect(listing.baseRef).toBe(await oidOf(here.main, 'main~1'));
    expect(listing.commits.map(({ subject }) => subject)).toEqual(['commit 3']);
  });

  it('W14: no program runs that the configuration names for signatures, and the commit is listed', async () => {
    await line(3, { 'refs/heads/main': 0, 'refs/heads/topic': 2 });
    const [marker, program] = [join(here.place, 'marker'), join(here.place, 'program')];
    await writeFile(program, `#!/bin/sh\n: > '${marker}'\nexit 1\n`);
    await chmod(program, 0o755);
    const [headers, message] = (await git(here.main, 'cat-file', 'commit', 'HEAD')).split('\n\n');
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----';
    const file = join(here.main, '.git/signed');
    await writeFile(file, `${headers}\n${signature}\n\n${message}`);
    const oid = (await git(here.main, 'hash-object', '-t', 'commit', '-w', file)).trim();
    await git(here.main, 'update-ref', 'refs/heads/topic', oid);
    for (const key of [
      'gpg.program',
      'gpg.openpgp.program',
      'core.pager',
      'core.fsmonitor',
      'diff.external',
    ]) {
      await git(here.main, 'config', key, program);
    }
    await git(here.main, 'config', 'log.showSignature', 'true');
    await git(here.main, 'log', '-1');
    await access(marker);
    await rm(marker);
    expect((await list(here.main)).commits[0]).toMatchObject({ sha: oid, subject: 'commit 2' });
    await expect(access(marker)).rejects.toThrow();
  });

  it('R20: what a person set for the eyes changes nothing', async () => {
    await line(4, { 'refs/heads/main': 0, 'refs/heads/topic': 3 });
    const before = await list(here.main);
    const tastes = {
      'log.date': 'relative',
      'log.decorate': 'full',
      'log.follow': 'true',
      'log.mailmap': 'true',
      'log.diffMerges': 'on',
      'format.pretty': 'oneline',
      'color.ui': 'always',
      'core.abbrev': '4',
      'i18n.logOutputEncoding': 'UTF-16',
      'notes.displayRef': 'refs/notes/*',
    };
    for (const [key, value] of Object.entries(tastes)) await git(here.main, 'config', key, value);
    await git(here.main, 'notes', 'add', '-m', 'note', 'HEAD');
    await git(here.main, 'replace', 'HEAD', 'main');
    expect(await list(here.main)).toEqual(before);
  });

  it('R41: of more than 200 commits the newest are listed, and it is said that there are more', async () => {
    await addOrigin(here.main);
    await line(202, { 'refs/heads/main': 0, 'refs/heads/topic': 201, 'refs/remotes/origin/topic': 150 });
    const listing = await list(here.main);
    expect(listing.truncated).toBe(true);
    expect(listing.commits).toHaveLength(200);
    expect(listing.commits.map(({ subject }) => subject).slice(0, 2)).toEqual(['commit 201', 'commit 200']);
    expect(listing.commits.filter(({ unpushed }) => unpushed)).toHaveLength(51);
    const exact = await list(here.main, await oidOf(here.main, 'topic~200'));
    expect(exact.commits).toHaveLength(200);
    expect(exact).not.toHaveProperty('truncated');
  });

  describe('what was pushed', () => {
    it.each([
      ['all of it, when the remote has the tip', { 'refs/remotes/origin/topic': 3 }, [false, false]],
      ['none, when it has no more than the base', { 'refs/remotes/origin/topic': 1 }, [true, true]],
      ['none, when it has less than the base', { 'refs/remotes/origin/topic': 0 }, [true, true]],
      ['none, when there is no such branch', {}, [true, true]],
    ])('R41: %s', async (_, refs, unpushed) => {
      await addOrigin(here.main);
      await line(4, { 'refs/heads/main': 1, 'refs/heads/topic': 3, ...refs });
      const listing = await list(here.main);
      expect(listing.commits.map((commit) => commit.unpushed)).toEqual(unpushed);
      expect(listing).not.toHaveProperty('degraded');
    });

    it('R41: a configured upstream of another name counts, and comes first', async () => {
      await addOrigin(here.main);
      await line(4, {
        'refs/heads/main': 0,
        'refs/heads/topic': 3,
        'refs/remotes/origin/topic': 3,
        'refs/remotes/origin/review': 2,
      });
      await setUpstream(here.main, 'topic', 'review');
      const listing = await list(here.main);
      expect(listing.remoteRef).toBe('refs/remotes/origin/review');
      expect(listing.commits.map(({ unpushed }) => unpushed)).toEqual([true, false, false]);
    });

    it('R41: an upstream that is gone leaves it unknown, which is said and counts as not pushed', async () => {
      await addOrigin(here.main);
      await line(3, { 'refs/heads/main': 0, 'refs/heads/topic': 2, 'refs/remotes/origin/topic': 2 });
      await setUpstream(here.main, 'topic', 'gone');
      const listing = await list(here.main);
      expect(listing).toMatchObject({ remoteRef: 'refs/remotes/origin/gone', degraded: ['unpushed'] });
      expect(listing.commits.map(({ unpushed }) => unpushed)).toEqual([true, true]);
    });

    it('R41: a local upstream says nothing of what was pushed', async () => {
      await line(3, { 'refs/heads/main': 2, 'refs/heads/base': 0, 'refs/heads/topic': 2 });
      await git(here.main, 'config', 'branch.topic.remote', '.');
      await git(here.main, 'config', 'branch.topic.merge', 'refs/heads/main');
      const listing = await list(here.main, 'base');
      expect(listing.remoteRef).toBeNull();
      expect(listing.commits.map(({ unpushed }) => unpushed)).toEqual([true, true]);
    });

    it('R41: with a detached HEAD it is unknown', async () => {
      await line(3, { 'refs/heads/main': 0, 'refs/heads/topic': 2 });
      await git(here.main, 'checkout', '-q', '--detach', 'topic');
      const listing = await list(here.main);
      expect(listing).toMatchObject({ base: 'main', remoteRef: null, degraded: ['unpushed'] });
      expect(listing.commits.map(({ unpushed }) => unpushed)).toEqual([true, true]);
    });
  });

  it('R41: an unborn branch has no commits, and so has the base itself', async () => {
    await line(2, { 'refs/heads/main': 1, 'refs/heads/topic': 1 });
    const base = await oidOf(here.main, 'main');
    const none = { base: 'main', remoteRef: null, commits: [] };
    expect(await list(here.main)).toEqual({ ...none, baseRef: base });
    await git(here.main, 'symbolic-ref', 'HEAD', 'refs/heads/unborn');
    expect(await list(here.main)).toEqual({ ...none, baseRef: null });
    const path = join(here.place, 'empty');
    await git('/', 'init', '-q', '-b', 'trunk', path);
    await here.lab.service.workspaces?.add(path);
    expect(await list(path)).toEqual({ base: null, baseRef: null, remoteRef: null, commits: [] });
    await refused(path, 'trunk');
  });

  it('a branch that is there and cannot be read is no unborn one', async () => {
    await line(2, { 'refs/heads/main': 0, 'refs/heads/topic': 1 });
    await writeFile(join(here.main, '.git/refs/heads/topic'), 'garbage\n');
    await ask(here.lab, get('/commits', { cwd: here.main }), 502, 'git_failed');
  });

  it('without any default branch the whole history is listed', async () => {
    await line(2, { 'refs/heads/topic': 1 });
    await git(here.main, 'checkout', '-q', '--detach');
    await git(here.main, 'branch', '-q', '-D', 'main');
    const listing = await list(here.main);
    expect(listing).toMatchObject({ base: null, baseRef: null });
    expect(listing.commits).toHaveLength(2);
  });

  it('histories that share nothing have no common ancestor, and all of the branch is listed', async () => {
    await history(
      [
        { parents: [], at: 1 },
        { parents: [], at: 2 },
        { parents: [1], at: 3 },
      ],
      {
        'refs/heads/main': 0,
        'refs/heads/topic': 2,
      },
    );
    const listing = await list(here.main, 'main');
    expect(listing).toMatchObject({ base: 'main', baseRef: null });
    expect(listing.commits.map(({ subject }) => subject)).toEqual(['commit 2', 'commit 1']);
  });

  it('a shallow clone lists what it has', async () => {
    const path = join(here.place, 'shallow');
    await line(6, { 'refs/heads/main': 2, 'refs/heads/topic': 5 });
    await git('/', 'clone', '-q', '--depth=2', '--no-single-branch', `file://${here.main}`, path);
    await here.lab.service.workspaces?.add(path);
    const listing = await list(path, 'main');
    expect(listing).toMatchObject({ baseRef: null, remoteRef: 'refs/remotes/origin/topic' });
    expect(listing.commits.map(({ subject, unpushed }) => [subject, unpushed])).toEqual([
      ['commit 5', false],
      ['commit 4', false],
    ]);
  });

  it('R41: names and subjects that are not UTF-8 break no other field', async () => {
    await history(
      [
        { parents: [], at: 1 },
        {
          parents: [0],
          at: 2,
          subject: Buffer.from('caf\xe9', 'latin1'),
          author: Buffer.from('J\xf6rg', 'latin1'),
        },
        { parents: [1], at: 3, subject: 'ä "한" \\ \u2028 <b>\tx', author: 'Ä 한' },
        { parents: [2], at: 4, subject: '\n\nbody of a commit\nsecond line' },
        { parents: [3], at: 5, subject: '' },
      ],
      { 'refs/heads/main': 0, 'refs/heads/topic': 4 },
    );
    expect((await list(here.main)).commits).toMatchObject([
      { subject: '', author: 'a', at: 5000 },
      { subject: 'body of a commit second line' },
      { subject: 'ä "한" \\ \u2028 <b>\tx', author: 'Ä 한', at: 3000 },
      { subject: 'caf\ufffd', author: 'J\ufffdrg', at: 2000 },
    ]);
  });

  it('R41: a subject in a declared encoding is told in UTF-8', async () => {
    await line(2, { 'refs/heads/main': 0, 'refs/heads/topic': 1 });
    const script = `printf 'caf\\351' | git -C "$1" -c i18n.commitEncoding=ISO-8859-1 -c user.name=a -c user.email=a@e commit -q --allow-empty -F -`;
    await run('bash', ['-c', script, 'bash', here.main], {
      env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    });
    expect((await subjects(here.main))[0]).toBe('café');
  });

  it('R41: a branch whose name is not UTF-8 still has commits', async () => {
    await line(3, { 'refs/heads/main': 0, 'refs/heads/topic': 2 });
    const script = 'git -C "$1" checkout -q -b "$(printf \'a\\377\')"';
    await run('bash', ['-c', script, 'bash', here.main]);
    const listing = await list(here.main);
    expect(listing).toMatchObject({ remoteRef: null, degraded: ['unpushed'] });
    expect(listing.commits).toHaveLength(2);
  });

  describe('of a worktree', () => {
    it('R41: run-commits: one commit over the base of a managed one, and no remote', async () => {
      const makers = [
        () => addOwnWorktree(here.main, here.lab.managedRoot, 'own', null),
        () => addPluginWorktree(here.main, here.lab.pluginRoot, 'plugin'),
      ];
      for (const make of makers) {
        const path = await make();
        const base = await oidOf(here.main, 'main');
        await git(path, 'commit', '-q', '--allow-empty', '-m', 'mine');
        await git(here.main, 'commit', '-q', '--allow-empty', '-m', 'theirs');
        const listing = await list(path);
        expect(listing).toMatchObject({ base: 'main', baseRef: base });
        expect(listing.commits).toMatchObject([{ subject: 'mine', unpushed: true }]);
      }
    });

    it('R41: a base that is not there any more gives way to the branch it was', async () => {
      const baseRef = 'a'.repeat(40);
      const path = await addPluginWorktree(here.main, here.lab.pluginRoot, 'plugin', { baseRef });
      await git(path, 'commit', '-q', '--allow-empty', '-m', 'mine');
      expect(await list(path)).toMatchObject({ base: 'main', baseRef: await oidOf(here.main, 'main') });
    });

    it('R41: a linked one is compared with the default branch', async () => {
      const path = await addWorktree(here.main, join(here.place, 'linked'), 'feat/x');
      await git(path, 'commit', '-q', '--allow-empty', '-m', 'mine');
      expect(await subjects(path)).toEqual(['mine']);
    });

    it('R26: sec-poison-commits: metadata in a main checkout is not read, and nothing of it becomes an option', async () => {
      const directory = join(here.main, '.git/dsh-worktree');
      await mkdir(directory);
      const option = `--output=${here.place}/sentinel`;
      const metadata = {
        version: 1,
        baseRef: option,
        baseRefName: option,
        mainRepoRoot: here.main,
        branch: 'main',
      };
      await writeFile(join(directory, 'worktree.json'), JSON.stringify(metadata));
      expect(await list(here.main)).toMatchObject({ base: 'main', commits: [] });
      const linked = await addPluginWorktree(here.main, here.lab.pluginRoot, 'plugin', {
        baseRef: option,
        baseRefName: option,
      });
      await access(join(await administrationOf(linked), 'dsh-worktree/worktree.json'));
      expect(await list(linked)).toMatchObject({ base: 'main', commits: [] });
      expect(await readdir(here.place)).not.toContain('sentinel');
    });
  });

  it('R03: a plain directory has none, and a nested one gets none of the repository around it', async () => {
    const plain = await ask(
      here.lab,
      get('/commits', { cwd: here.lab.plain }),
      422,
      'git_repository_required',
    );
    expect(plain.body?.['error']).toBe('git repository required');
    await expectNestedRefused(here.lab, '/commits');
  });

  it('R02: who may not ask learns nothing of the base', async () => {
    const cwd = here.lab.outside;
    await ask(here.lab, get('/commits', { cwd, base: '--all' }), 403, 'workspace_not_authorized');
  });

  it('R41: a missing selector is named as older clients know it, and nothing else is accepted', async () => {
    const { body } = await ask(here.lab, { path: '/commits' }, 400, 'invalid_request');
    expect(body?.['error']).toBe('cwd required');
    await ask(here.lab, get('/commits', { cwd: here.main, limit: '1' }), 400, 'invalid_request');
  });
});
