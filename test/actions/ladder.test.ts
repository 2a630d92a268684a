import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { LadderEntry } from '../../src/actions/ladder.ts';
import { createSnapshotLab } from '../snapshot/snapshot-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { outcomeOf, useActionLab } from './action-lab.ts';

const here = useActionLab();

const put = (name: string, text: string) => writeFile(join(here.repo, name), text);
const ladder = async (running = false) =>
  (await here.lab.service.reads.actions(here.repo, { running })).ladder;
const find = (entries: readonly LadderEntry[], id: string) => entries.find((entry) => entry.id === id);

interface Commit {
  readonly addAll?: boolean;
}

/** What brings a repository with a remote, and a pushed branch of its own, into a state. */
const states: readonly (readonly [string, () => Promise<unknown>, Commit])[] = [
  ['nothing', async () => undefined, {}],
  ['a new file', () => put('new', 'x\n'), {}],
  ['a changed file', () => put('tracked', 'changed\n'), {}],
  ['a staged file', () => put('new', 'x\n').then(() => git(here.repo, 'add', 'new')), {}],
  ['a file that only the index has', () => stagedOnly(), { addAll: false }],
  ['a deleted file', () => rm(join(here.repo, 'tracked')), {}],
  ['an ignored file', () => put('x.secret', 'x\n'), {}],
  ['a repository inside', () => makeRepository(join(here.repo, 'nest')), {}],
  ['a commit that is not pushed', () => git(here.repo, 'commit', '-q', '--allow-empty', '-m', 'more'), {}],
  ['another branch', () => git(here.repo, 'checkout', '-q', '-b', 'other'), {}],
  ['a detached HEAD', () => git(here.repo, 'checkout', '-q', '--detach'), {}],
  ['an unborn branch', () => git(here.repo, 'checkout', '-q', '--orphan', 'unborn'), {}],
  ['an unborn branch and nothing', () => emptyUnborn(), {}],
  ['no remote', () => git(here.repo, 'remote', 'remove', 'origin'), {}],
  ['a bisect', () => git(here.repo, 'bisect', 'start'), {}],
  ['a cherry-pick', () => put('.git/CHERRY_PICK_HEAD', 'x\n'), {}],
  ['a merge with a conflict', () => conflict(), {}],
  ['a merge that is resolved', () => conflict().then(() => git(here.repo, 'add', 'tracked')), {}],
  ['conflicts without a merge', () => conflict().then(() => rm(join(here.repo, '.git/MERGE_HEAD'))), {}],
];

async function stagedOnly(): Promise<void> {
  await put('new', 'x\n');
  await git(here.repo, 'add', 'new');
  await rm(join(here.repo, 'new'));
}

async function emptyUnborn(): Promise<void> {
  await git(here.repo, 'checkout', '-q', '--orphan', 'unborn');
  await git(here.repo, 'rm', '-q', '-r', '-f', '.');
}

async function conflict(): Promise<void> {
  await git(here.repo, 'checkout', '-q', '-b', 'side');
  await put('tracked', 'side\n');
  await git(here.repo, 'commit', '-q', '-a', '-m', 'side');
  await git(here.repo, 'checkout', '-q', 'topic');
  await put('tracked', 'topic\n');
  await git(here.repo, 'commit', '-q', '-a', '-m', 'topic');
  await git(here.repo, 'merge', '-q', 'side').catch(() => undefined);
}

/** A branch `topic` at origin, with a tracked file. */
async function prepare(): Promise<void> {
  const remote = here.beside('remote.git');
  await git(here.lab.place, 'init', '-q', '--bare', remote);
  await git(here.repo, 'remote', 'add', 'origin', remote);
  await git(here.repo, 'push', '-q', 'origin', 'main');
  await git(here.repo, 'checkout', '-q', '-b', 'topic');
  await put('tracked', 'one\n');
  await git(here.repo, 'add', 'tracked');
  await git(here.repo, 'commit', '-q', '-m', 'tracked');
  await git(here.repo, 'push', '-q', 'origin', 'topic');
}

/** The key of a refusal, null when the action was done. */
async function keyOf(action: Promise<unknown>): Promise<string | null> {
  const outcome = await outcomeOf(action);
  return outcome === 'ok' ? null : (/actions\.\S+/.exec(outcome)?.[0] ?? outcome);
}

describe('the ladder of a repository', () => {
  it.each(states)(
    'R41: after %s, says of commit, push and fetch what they then do',
    async (_, arrange, options) => {
      await prepare();
      await arrange();
      const entries = await ladder();
      const { actions } = here.lab.service;
      const told = (id: string) => find(entries, id)?.reasonKey;
      expect(told('fetch')).toBe(await keyOf(actions.fetch(here.repo)));
      // A push of what is there already is done, and does nothing.
      const pushed = await keyOf(actions.push(here.repo));
      expect([pushed, pushed ?? 'actions.push.nothing']).toContain(told('push'));
      expect(told('commit')).toBe(await keyOf(actions.commit(here.repo, { message: 'm', ...options })));
      expect(entries.every(({ disabled, reasonKey }) => disabled === (reasonKey !== null))).toBe(true);
    },
  );

  it('R04: what was just changed is in the next ladder, however often it is asked for', async () => {
    for (let round = 0; round < 3; round += 1) {
      expect(find(await ladder(), 'commit')?.reasonKey).toBe('actions.commit.clean');
      await put(`file-${round}`, 'x\n');
      expect(find(await ladder(), 'commit')?.reasonKey).toBe(null);
      await here.lab.service.actions.commit(here.repo, { message: 'm' });
    }
  });

  it('R04: a file of Git that cannot be read is no state', async () => {
    await put('f', 'x\n');
    await put('.git/MERGE_HEAD', 'no object\n');
    const entries = await ladder();
    expect([find(entries, 'commit')?.reasonKey, find(entries, 'discard')?.reasonKey]).toEqual([
      'actions.failed',
      'actions.failed',
    ]);
  });

  it('R03: a nested directory and a plain one have none', async () => {
    const nested = join(here.repo, 'nested');
    const plain = here.beside('plain');
    for (const path of [nested, plain]) {
      await mkdir(path);
      await here.lab.service.workspaces?.add(path);
    }
    expect(await outcomeOf(here.lab.service.reads.actions(nested))).toBe('git_root_not_authorized');
    expect(await outcomeOf(here.lab.service.reads.actions(plain))).toBe('git_repository_required');
  });
});

describe('the ladder of an unchanged repository', () => {
  it('R41: takes no process, and sees the first change', { timeout: 60_000 }, async () => {
    await using lab = await createSnapshotLab();
    const path = await lab.makeRepository('still');
    await vi.waitFor(
      async () => {
        const before = lab.commands.length;
        await lab.snapshots.examine(path);
        expect(lab.commands.length - before).toBe(0);
      },
      { timeout: 30_000, interval: 100 },
    );
    const before = lab.commands.length;
    for (let round = 0; round < 50; round += 1) await lab.snapshots.examine(path);
    expect(lab.commands.length).toBe(before);
    await writeFile(join(path, 'new'), '');
    expect((await lab.snapshots.examine(path)).snapshot.untrackedCount).toBe(1);
    // These traces are looked for each time.
    await writeFile(join(path, '.git/CHERRY_PICK_HEAD'), 'x\n');
    expect((await lab.snapshots.examine(path)).standing).toBe('cherry-pick');
  });
});
