import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { type ActionLab, createActionLab, filesOf, headOf, outcomeOf } from './action-lab.ts';
import { commitFiles, contentOf, put, refusalOf, stateOf } from './merge-lab.ts';

let lab: ActionLab;
let repo: string;
/** Somebody else's clone, whose pushes are pulled. */
let other: string;
let count = 0;
beforeAll(async () => {
  lab = await createActionLab();
});
afterAll(() => lab[Symbol.asyncDispose]());
beforeEach(async () => {
  count += 1;
  repo = await lab.repository(`repo ${count}`);
  await commitFiles(repo, 'base', { f: 'one\n', k: 'kept\n' });
  const remote = join(lab.place, `remote ${count}.git`);
  other = join(lab.place, `other ${count}`);
  await git(lab.place, 'clone', '-q', '--bare', repo, remote);
  await git(lab.place, 'clone', '-q', remote, other);
  await git(repo, 'remote', 'add', 'origin', remote);
});

const pull = () => lab.service.actions.pull(repo);

async function pushed(message: string, files: Record<string, string | null>): Promise<string> {
  const oid = await commitFiles(other, message, files);
  await git(other, 'push', '-q', 'origin', 'HEAD');
  return oid;
}

describe('a pull', () => {
  it('R22: fetches and moves forward; the second one has nothing to do', async () => {
    const previous = await headOf(repo);
    const theirs = await pushed('theirs', { f: 'two\n' });
    expect(await pull()).toEqual({ kind: 'forward', oid: theirs, previous, mergedOid: theirs });
    expect([await headOf(repo), await contentOf(repo, 'f')]).toEqual([theirs, 'two\n']);
    expect(await git(repo, 'reflog', '-1', '--format=%gs')).toBe('pull\n');
    expect((await pull()).kind).toBe('none');
    await commitFiles(repo, 'ahead', { own: 'x\n' });
    expect((await pull()).kind).toBe('none');
  });

  it.each([
    ['pull.rebase', 'true'],
    ['pull.ff', 'only'],
    ['branch.main.rebase', 'true'],
    ['rebase.autoStash', 'true'],
    ['pull.octopus', 'x', 'untrusted_repository_config'],
  ])('run-pull-conflict, R22: merges, whatever %s says', async (key, value, outcome = 'ok') => {
    const theirs = await pushed('theirs', { f: 'two\n' });
    const ours = await commitFiles(repo, 'ours', { own: 'x\n' });
    await git(repo, 'config', key, value);
    expect(await outcomeOf(pull())).toBe(outcome);
    const said = await git(repo, 'log', '-1', '--format=%H|%P|%s');
    if (outcome !== 'ok') expect(said).toContain(ours);
    else {
      expect(said).toContain(`|${ours} ${theirs}|Merge remote-tracking branch 'origin/main' into main\n`);
      expect(await filesOf(repo)).toEqual({ f: 'two\n', k: 'kept\n', own: 'x\n' });
    }
  });

  it('run-pull-conflict, R22: conflicts are left as a merge, never as a rebase, though pull.rebase is set', async () => {
    const theirs = await pushed('theirs', { f: 'theirs\n' });
    const ours = await commitFiles(repo, 'ours', { f: 'ours\n' });
    await git(repo, 'config', 'pull.rebase', 'true');
    const { code, details } = await refusalOf(pull());
    expect([code, details['partial'], details['stage']]).toEqual([
      'merge_conflict',
      true,
      'merge-conflict-preserved',
    ]);
    expect([await headOf(repo), await headOf(repo, 'MERGE_HEAD')]).toEqual([ours, theirs]);
    await expect(git(repo, 'rev-parse', '--verify', 'REBASE_HEAD')).rejects.toThrow('fatal');
  });

  it('run-pull-premerge, R22: a merge in progress keeps its resolution, and nothing is fetched', async () => {
    await commitFiles(repo, 'ours', { f: 'ours\n' });
    await git(repo, 'checkout', '-q', '-b', 'side', 'HEAD~1');
    await commitFiles(repo, 'side', { f: 'side\n' });
    await git(repo, 'merge', 'main').catch(() => undefined);
    await put(repo, { f: 'resolved\n' });
    await git(repo, 'add', 'f');
    await git(other, 'push', '-q', 'origin', 'HEAD:refs/heads/side');
    const before = [await stateOf(repo), await headOf(repo, 'MERGE_HEAD')];
    expect((await refusalOf(pull())).details).toEqual({
      reasonKey: 'actions.merge.inProgress',
      operation: 'merge',
      reason: 'merge-in-progress',
    });
    expect([await stateOf(repo), await headOf(repo, 'MERGE_HEAD')]).toEqual(before);
  });

  it('R22: is refused for changes before anything is fetched', async () => {
    await pushed('theirs', { f: 'two\n' });
    await put(repo, { k: 'mine\n' });
    const before = await stateOf(repo);
    expect((await refusalOf(pull())).details).toEqual({
      reasonKey: 'actions.merge.dirtyCurrent',
      paths: ['k'],
    });
    expect(await stateOf(repo)).toEqual(before);
  });

  it('R22, W8: what is fetched overwrites no untracked and no ignored file', async () => {
    await writeFile(join(repo, '.git/info/exclude'), '.env\n');
    const theirs = await pushed('theirs', { '.env': 'theirs\n', n: 'theirs\n' });
    await put(repo, { '.env': 'mine\n', n: 'mine\n' });
    const head = await headOf(repo);
    expect((await refusalOf(pull())).details).toMatchObject({ paths: ['.env', 'n'] });
    expect([await headOf(repo), await headOf(repo, 'origin/main')]).toEqual([head, theirs]);
    expect([await contentOf(repo, '.env'), await contentOf(repo, 'n')]).toEqual(['mine\n', 'mine\n']);
  });

  it('R22: pulls the configured upstream at origin, and else the branch of its name, by full refs (W39)', async () => {
    await git(other, 'checkout', '-q', '-b', 'release');
    const release = await pushed('release', { f: 'release\n' });
    await git(repo, 'tag', 'origin/release', 'HEAD');
    await git(repo, 'config', 'branch.main.remote', 'origin');
    await git(repo, 'config', 'branch.main.merge', 'refs/heads/release');
    expect((await pull()).oid).toBe(release);
  });

  it.each([
    [
      'another branch here',
      [
        ['branch.main.remote', '.'],
        ['branch.main.merge', 'refs/heads/main'],
      ],
      'upstream-elsewhere',
    ],
    [
      'one at another remote',
      [
        ['remote.fork.url', '/nowhere'],
        ['remote.fork.fetch', '+refs/heads/*:refs/remotes/fork/*'],
        ['branch.main.remote', 'fork'],
        ['branch.main.merge', 'refs/heads/main'],
      ],
      'upstream-elsewhere',
    ],
    [
      'one that is not there',
      [
        ['branch.main.remote', 'origin'],
        ['branch.main.merge', 'refs/heads/gone'],
      ],
      'upstream-gone',
    ],
  ])('R22: an upstream that is %s is none', async (_, settings, reason) => {
    for (const [key, value] of settings as string[][]) await git(repo, 'config', key ?? '', value ?? '');
    const head = await headOf(repo);
    expect((await refusalOf(pull())).details).toEqual({ reasonKey: 'actions.pull.noRemote', reason });
    expect(await headOf(repo)).toBe(head);
  });

  it('R22: a remote of no such name, a detached HEAD and an unreachable remote leave all as it is', async () => {
    const before = await stateOf(repo);
    await git(repo, 'remote', 'set-url', 'origin', join(lab.place, 'nowhere'));
    expect(await outcomeOf(pull())).toBe('git_failed: no-remote-repository');
    await git(repo, 'remote', 'remove', 'origin');
    expect(await outcomeOf(pull())).toBe('remote_missing: actions.pull.noRemote');
    expect(await stateOf(repo)).toEqual(before);
    await git(repo, 'checkout', '-q', '--detach');
    expect(await outcomeOf(pull())).toBe('action_refused: actions.merge.detached');
  });

  it('R22: in a shallow clone, histories that the cut has parted are not merged, others are', async () => {
    const path = join(lab.place, `shallow ${count}`);
    const remote = join(lab.place, `remote ${count}.git`);
    for (const name of ['second', 'third']) await pushed(name, { f: `${name}\n` });
    await git(lab.place, 'clone', '-q', '--depth=1', `file://${remote}`, path);
    await lab.service.workspaces?.add(path);
    const theirs = await pushed('fourth', { f: 'four\n' });
    expect(await lab.service.actions.pull(path)).toMatchObject({ kind: 'forward', oid: theirs });
    await git(path, 'fetch', '-q', '--depth=1', 'origin');
    await git(path, 'checkout', '-q', '--orphan', 'apart');
    await git(path, 'commit', '-q', '-m', 'apart');
    await git(path, 'branch', '-f', 'main', 'apart');
    await git(path, 'checkout', '-q', 'main');
    const pulled = await refusalOf(lab.service.actions.pull(path));
    expect(pulled.details).toEqual({ reason: 'missing-history' });
  });

  it('R22: keeps to what a sparse checkout shows', async () => {
    await commitFiles(repo, 'more', { 'in/f': 'one\n', 'out/f': 'one\n' });
    await git(repo, 'push', '-q', 'origin', 'main');
    await git(other, 'pull', '-q');
    await git(repo, 'sparse-checkout', 'set', 'in');
    const theirs = await pushed('theirs', { 'in/f': 'two\n', 'out/f': 'two\n', 'out/n': 'x\n' });
    expect((await pull()).oid).toBe(theirs);
    expect(await contentOf(repo, 'in/f')).toBe('two\n');
    await expect(contentOf(repo, 'out/f')).rejects.toThrow('ENOENT');
    await commitFiles(repo, 'ours', { 'in/own': 'x\n' });
    await pushed('theirs', { 'out/f': 'three\n' });
    expect((await pull()).kind).toBe('merge');
    expect(await git(repo, 'status', '--porcelain')).toBe('');
    expect((await filesOf(repo))['out/f']).toBe('three\n');
  });
});
