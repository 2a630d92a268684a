import { chmod, lstat, mkdir, readdir, readFile, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DiscardPreview, DiscardRequest } from '../../src/actions/repository-actions.ts';
import { git, makeRepository } from '../support/git.ts';
import { makeTree, readTree } from '../support/tree.ts';
import { headOf, outcomeOf, useActionLab } from './action-lab.ts';
import { commitAll, discardConfirmed as discard, previewOf as preview, stateOf } from './discard-lab.ts';

const place = useActionLab();
const actions = () => place.lab.service.actions;
const previewOf = (repo: string, request?: DiscardRequest) => preview(place.lab.service, repo, request);
const discardConfirmed = (repo: string, request?: DiscardRequest) =>
  discard(place.lab.service, repo, request);

/** Changes of every kind over `a`, `b`, `c`, `d`, `run` and `dir/e`. */
async function changeMuch(repo: string): Promise<void> {
  await makeTree(repo, ['a: 1', 'b: 1', 'c: 1', 'd: 1', 'run: 1', 'dir/e: 1', '.gitignore: *.log']);
  await commitAll(repo);
  await makeTree(repo, [
    'a: unstaged',
    'b: staged',
    'new: staged',
    'fresh/deep/f: untracked',
    'x.log: ignored',
  ]);
  await git(repo, 'add', 'b', 'new');
  await makeTree(repo, ['b: staged, then changed']);
  await unlink(join(repo, 'c'));
  await git(repo, 'rm', '-q', 'd');
  await chmod(join(repo, 'run'), 0o755);
  await unlink(join(repo, 'dir/e'));
  await symlink('../a', join(repo, 'dir/e'));
}

describe('W6: a discard', () => {
  it('R22: says first what it would destroy, each kind counted, and does nothing', async () => {
    const { repo } = place;
    await changeMuch(repo);
    const before = await stateOf(repo);
    const preview = await previewOf(repo);
    expect(preview.counts).toMatchObject({ staged: 3, unstaged: 5, untracked: 1, ignored: 0 });
    expect(preview.paths).toEqual(['a', 'b', 'c', 'd', 'dir/e', 'fresh/deep/f', 'new', 'run']);
    expect((await previewOf(repo, { ignored: true })).counts.ignored).toBe(1);
    expect(await stateOf(repo)).toEqual(before);
    expect(await actions().discarded(repo)).toEqual([]);
  });

  it('R22: takes the checkout back to the commit, keeps ignored files, and all of it can be brought back', async () => {
    const { repo } = place;
    await changeMuch(repo);
    const [before, head] = [await stateOf(repo), await headOf(repo)];
    const { archive, counts } = await discardConfirmed(repo);
    expect(counts.staged).toBe(3);
    expect(await git(repo, 'status', '--porcelain=v1', '--ignored')).toBe('!! x.log\n');
    expect((await readdir(repo)).includes('fresh')).toBe(false);
    expect(await headOf(repo)).toBe(head);
    expect((await lstat(join(repo, 'dir/e'))).isFile()).toBe(true);

    const [listed] = await actions().discarded(repo);
    expect(listed).toMatchObject({ archive, here: true, finished: true, head, branch: 'refs/heads/main' });
    const restored = await actions().restoreDiscarded(repo, { archive });
    expect(restored.conflicts).toEqual([]);
    expect(restored.restored).toEqual(['a', 'b', 'dir/e', 'new', 'run', 'fresh/deep/f']);
    expect(restored.staged).toEqual(['b', 'new']);
    expect(restored.unstaged).toEqual(['d']);
    await unlink(join(repo, 'c'));
    await git(repo, 'rm', '-q', 'd');
    expect(await stateOf(repo)).toEqual(before);
    await git(repo, 'fsck', '--strict');
  });

  it('R22: of some paths leaves all others as they are', async () => {
    const { repo } = place;
    await changeMuch(repo);
    await discardConfirmed(repo, { paths: ['a', 'dir', 'fresh', 'nothing/there'] });
    const status = (await git(repo, 'status', '--porcelain')).split('\n').filter(Boolean).sort();
    expect(status).toEqual([' D c', ' M run', 'A  new', 'D  d', 'MM b']);
  });

  it('R22: of ignored files, too, when that is asked for', async () => {
    const { repo } = place;
    await makeTree(repo, ['.gitignore: build/\n*.log']);
    await commitAll(repo);
    await makeTree(repo, ['x.log: 1', 'build/deep/out: 1', 'private.secret: 1']);
    expect(await outcomeOf(actions().discard(repo))).toBe('action_refused: actions.commit.clean');
    const { archive, counts } = await discardConfirmed(repo, { ignored: true });
    expect(counts.ignored).toBe(3);
    expect(await readTree(repo)).not.toContain('build/');
    await actions().restoreDiscarded(repo, { archive });
    expect(await readFile(join(repo, 'build/deep/out'), 'utf8')).toBe('1');
  });

  it('R22: takes names for names: patterns, options, newlines and any bytes', async () => {
    const { repo } = place;
    const odd = ['*.json', '--force', ':!x', 'a\nb', ' lead', '"q"'];
    await makeTree(repo, [...odd.map((name) => `${name}: 1`), 'foo.json: 1', 'x: 1']);
    await writeFile(Buffer.from(`${repo}/raw-\xff`, 'latin1'), '1');
    await discardConfirmed(repo, { paths: odd });
    expect((await git(repo, 'ls-files', '-o', '-z')).split('\0').length).toBe(4);
    await discardConfirmed(repo);
    expect(await git(repo, 'status', '--porcelain')).toBe('');
  });
});

describe('decisions 1.1: a discard is done for exactly one state', () => {
  it('R22: a token of an older state is refused with the new preview, which is accepted', async () => {
    const { repo } = place;
    await makeTree(repo, ['new: 1']);
    const { token } = await previewOf(repo);
    await makeTree(repo, ['newer: 1']);
    const stale = actions().discard(repo, { token });
    await expect(stale).rejects.toMatchObject({
      code: 'state_changed',
      details: { paths: ['new', 'newer'] },
    });
    expect(await readFile(join(repo, 'new'), 'utf8')).toBe('1');
    const fresh = await stale.catch((error: { details: DiscardPreview }) => error.details.token);
    await actions().discard(repo, { token: String(fresh) });
    expect(await git(repo, 'status', '--porcelain')).toBe('');
  });

  const changes: readonly (readonly [title: string, change: (repo: string) => Promise<unknown>])[] = [
    ['another content of the same length', (repo) => writeFile(join(repo, 'new'), '2')],
    ['another mode', (repo) => chmod(join(repo, 'new'), 0o755)],
    ['staging', (repo) => git(repo, 'add', 'new')],
    ['another branch', (repo) => git(repo, 'switch', '-qc', 'other')],
    ['a commit', (repo) => git(repo, 'commit', '-q', '--allow-empty', '-m', 'more')],
    ['a deletion', (repo) => rm(join(repo, 'also'))],
  ];
  it.each(changes)('R22: %s makes it another one', async (_title, change) => {
    const { repo } = place;
    await makeTree(repo, ['new: 1', 'also: 1']);
    const { token } = await previewOf(repo);
    await change(repo);
    expect(await outcomeOf(actions().discard(repo, { token }))).toBe(
      'state_changed: actions.discard.confirm',
    );
    expect((await readdir(repo)).includes('new')).toBe(true);
  });

  it('R41: the second request of the same caller for the same state and scope is the confirmation', async () => {
    const { repo } = place;
    await makeTree(repo, ['new: 1', 'other: 1']);
    const ask = (caller: string, paths?: readonly string[]) =>
      outcomeOf(actions().discard(repo, { caller, ...(paths === undefined ? {} : { paths }) }));
    const required = 'confirmation_required: actions.discard.confirm';
    expect(await ask('one')).toBe(required);
    expect(await ask('two')).toBe(required);
    expect(await ask('one', ['new'])).toBe(required);
    await makeTree(repo, ['newer: 1']);
    expect(await ask('one')).toBe(required);
    expect(await ask('one')).toBe('ok');
    await makeTree(repo, ['new: 1', 'other: 1']);
    // A confirmation is used up, and the files are others.
    expect(await ask('one')).toBe(required);
  });

  it('R22: without a caller nothing but a token confirms', async () => {
    const { repo } = place;
    await makeTree(repo, ['new: 1']);
    const first = await previewOf(repo);
    expect((await previewOf(repo)).token).toBe(first.token);
  });
});

describe('what a discard refuses', () => {
  const unsafe = ['../x', '/etc/passwd', 'a//b', './a', 'a/../b', '', 'a\0b', '.git/config', 'x/.GIT/hooks'];
  it.each(unsafe.map((path) => [path]))('W6: the path %j, under the key of the contract', async (path) => {
    const { repo } = place;
    await makeTree(repo, ['new: 1']);
    expect(await outcomeOf(actions().discard(repo, { paths: ['new', path] }))).toBe(
      'action_refused: actions.discard.unsafePath',
    );
    expect(await readFile(join(repo, 'new'), 'utf8')).toBe('1');
  });

  const rows: readonly (readonly [
    title: string,
    prepare: (repo: string) => Promise<unknown>,
    outcome: string,
  ])[] = [
    ['a clean checkout', async () => undefined, 'action_refused: actions.commit.clean'],
    [
      'a merge that waits for its commit',
      async (repo) => {
        await git(repo, 'switch', '-qc', 'side');
        await makeTree(repo, ['s: 1']);
        await commitAll(repo);
        await git(repo, 'switch', '-q', 'main');
        await git(repo, 'merge', '-q', '--no-ff', '--no-commit', 'side');
      },
      'action_refused: actions.merge.inProgress',
    ],
    [
      'a rebase in the middle',
      async (repo) => {
        await mkdir(join(repo, '.git/rebase-merge'));
        await makeTree(repo, ['new: 1']);
      },
      'action_refused: actions.merge.inProgress',
    ],
    [
      'a bisection',
      async (repo) => {
        await makeTree(repo, ['new: 1']);
        await git(repo, 'bisect', 'start');
      },
      'action_refused: actions.merge.inProgress',
    ],
    ['no FIFO, which Git does not see either', (repo) => makeTree(repo, ['new: 1', 'p |']), 'ok'],
    [
      'nothing but a repository inside',
      (repo) => makeRepository(join(repo, 'inner')),
      'action_refused: actions.commit.clean',
    ],
    [
      'an ignored directory where the commit has a file',
      async (repo) => {
        await makeTree(repo, ['.gitignore: *.log', 't: 1']);
        await commitAll(repo);
        await unlink(join(repo, 't'));
        await makeTree(repo, ['t/x.log: private']);
      },
      'action_refused: actions.discard.blocked',
    ],
  ];
  it.each(rows)('R22: %s', async (_title, prepare, outcome) => {
    const { repo } = place;
    await prepare(repo);
    const before = await git(repo, 'status', '--porcelain', '--ignored');
    const asked = async () => await discardConfirmed(repo);
    expect(await outcomeOf(asked())).toBe(outcome);
    if (outcome !== 'ok') expect(await git(repo, 'status', '--porcelain', '--ignored')).toBe(before);
  });

  it('W6: an empty list of paths', async () => {
    const { repo } = place;
    await makeTree(repo, ['new: 1']);
    expect(await outcomeOf(actions().discard(repo, { paths: [] }))).toBe('discard_paths_empty');
  });

  it('R22: while the index is locked: nothing is changed, and the way out is told', async () => {
    const { repo } = place;
    await makeTree(repo, ['new: 1']);
    const { token } = await previewOf(repo);
    await writeFile(join(repo, '.git/index.lock'), '');
    await expect(actions().discard(repo, { token })).rejects.toMatchObject({
      code: 'repository_locked',
      details: { what: 'index', recovery: { remove: 'index.lock' } },
    });
    expect(await actions().discarded(repo)).toEqual([]);
    await rm(join(repo, '.git/index.lock'));
    await actions().discard(repo, { token });
  });
});
