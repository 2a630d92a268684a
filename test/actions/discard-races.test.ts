import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRepositoryActions } from '../../src/actions/create-actions.ts';
import { Confirmations } from '../../src/actions/discard-confirmations.ts';
import type { RepositoryActions } from '../../src/actions/repository-actions.ts';
import { createHookTrust } from '../../src/actions/trusted-hooks.ts';
import { createArchives } from '../../src/archive/create-archives.ts';
import { openStateDirectory, type StateDirectory } from '../../src/capability/state-directory.ts';
import { AuthorityError } from '../../src/errors/index.ts';
import { createConfigurationGate } from '../../src/git/configuration-gate.ts';
import { createGitRunner, type GitRunner } from '../../src/git/run-git.ts';
import { readUserConfiguration } from '../../src/git/user-configuration.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import { deathGuardPath } from '../../src/native/index.ts';
import { git } from '../support/git.ts';
import { refusalOf } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';
import { makeTree, readTree } from '../support/tree.ts';
import { type ActionLab, createActionLab } from './action-lab.ts';
import { previewOf } from './discard-lab.ts';

let lab: ActionLab;
let state: StateDirectory;
let repo: string;
let count = 0;
const runner = createGitRunner({ deathGuard: deathGuardPath() });
beforeAll(async () => {
  lab = await createActionLab();
  state = await openStateDirectory(join(lab.place, 'state'), testBinding);
});
afterAll(async () => {
  await runner.close();
  state.close();
  await lab[Symbol.asyncDispose]();
});
beforeEach(async () => {
  count += 1;
  repo = await lab.repository(`repo ${count}`);
  await makeTree(repo, ['t: 1', 'd/x: 1']);
  await git(repo, 'add', '-A');
  await git(repo, 'commit', '-qm', 'prepared');
  await makeTree(repo, ['t: changed', 'new: mine', 'd/y: mine', 's: staged']);
  await git(repo, 'add', 's');
});

type Moment = 'before' | 'after';

/** The actions, while somebody does something right before or after a step: a Git command, or `archive`. */
function actionsWith(step: string, moment: Moment, happen: () => Promise<unknown>): RepositoryActions {
  let happened = false;
  const around = async <Result>(name: string, task: () => Promise<Result>): Promise<Result> => {
    const isNow = !happened && name === step;
    if (isNow) happened = true;
    if (isNow && moment === 'before') await happen();
    const result = await task();
    if (isNow && moment === 'after') await happen();
    return result;
  };
  const gate = createMutationGate({ leases: null });
  const stored = createArchives(state, gate);
  const watched: GitRunner = {
    ...runner,
    run: (command, signal) => around(command.name, () => runner.run(command, signal)),
  };
  return createRepositoryActions({
    authority: lab.service.authority,
    gate,
    git: watched,
    configuration: createConfigurationGate(runner),
    user: (signal) => readUserConfiguration(runner, { home: lab.home }, signal),
    network: {},
    hooks: createHookTrust(runner),
    confirmations: new Confirmations(),
    archives: {
      write: (...given) => around('archive', () => stored.write(...given)),
      list: (owner) => stored.list(owner),
      open: (id) => stored.open(id),
      finish: (id) => stored.finish(id),
      drop: (id) => stored.drop(id),
      recover: () => stored.recover(),
    },
  });
}

async function raced(step: string, moment: Moment, happen: () => Promise<unknown>) {
  const { token } = await previewOf(lab.service, repo);
  return await refusalOf(() => actionsWith(step, moment, happen).discard(repo, { token }));
}

/** Of what this test has made. */
async function filesOf(path: string): Promise<readonly string[]> {
  return (await readTree(path)).filter((line) => /^(?:d\/[xyz]|new|s|t): /.test(line));
}

/** What is to be destroyed, and the file that the commit has. */
const before = ['d/x: 1', 'd/y: mine', 'new: mine', 's: staged', 't: changed'];

describe('somebody is faster than a discard', () => {
  const early: readonly (readonly [string, () => Promise<unknown>, readonly string[]])[] = [
    [
      'changes a file',
      () => makeTree(repo, ['new: newer']),
      before.map((line) => line.replace('new: mine', 'new: newer')),
    ],
    ['makes another one', () => makeTree(repo, ['d/z: newer']), [...before, 'd/z: newer'].sort()],
    ['stages one', () => git(repo, 'add', 'new'), before],
    ['commits', () => git(repo, 'commit', '-qm', 'theirs'), before],
  ];
  it.each(early)(
    'R22: and %s once the archive is written: nothing is destroyed, and the archive goes',
    async (_, act, files) => {
      const refusal = await raced('archive', 'after', act);
      expect(refusal.code).toBe('state_changed');
      expect(await filesOf(repo)).toEqual(files);
      expect(await lab.service.actions.discarded(repo)).toEqual([]);
    },
  );

  it('R22: and locks the index when it is to change: nothing is destroyed, and the archive goes', async () => {
    const refusal = await raced('set-index', 'before', () => writeFile(join(repo, '.git/index.lock'), ''));
    expect(refusal).toMatchObject({ code: 'repository_locked', details: { what: 'index' } });
    expect(await filesOf(repo)).toEqual(before);
    expect(await lab.service.actions.discarded(repo)).toEqual([]);
  });

  it('R22: and stops Git right after it changed the index: the archive stays, and the refusal names it', async () => {
    const stop = () => Promise.reject(new AuthorityError('git_failed', { details: { reason: 'deadline' } }));
    const refusal = await raced('set-index', 'after', stop);
    expect(refusal).toMatchObject({ code: 'git_failed', details: { partial: true, stage: 'reset' } });
    const [listed] = await lab.service.actions.discarded(repo);
    expect(refusal.details).toMatchObject({
      archive: listed?.archive,
      recovery: { restore: listed?.archive },
    });
    await git(repo, 'read-tree', '--reset', 'HEAD');
    const { staged } = await lab.service.actions.restoreDiscarded(repo, { archive: listed?.archive ?? '' });
    expect([await filesOf(repo), staged]).toEqual([before, ['s']]);
  });

  it('R22: and changes a file that is to go: the newer one stays, the rest goes and can be brought back', async () => {
    const refusal = await raced('set-index', 'after', () => makeTree(repo, ['d/y: newer']));
    expect(refusal).toMatchObject({
      code: 'identity_changed',
      details: { what: 'file', paths: ['d/y'], partial: true, stage: 'clean' },
    });
    expect(await filesOf(repo)).toEqual(['d/x: 1', 'd/y: newer']);
    const [{ archive, finished } = { archive: '', finished: true }] =
      await lab.service.actions.discarded(repo);
    expect([archive, finished]).toEqual([(refusal.details as { archive?: string }).archive, false]);
    const { conflicts } = await lab.service.actions.restoreDiscarded(repo, { archive });
    expect(conflicts).toEqual([{ path: 'd/y', reason: 'in-the-way' }]);
    expect(await filesOf(repo)).toEqual(before.map((line) => line.replace('d/y: mine', 'd/y: newer')));
  });

  it('R22: and puts a file where one of the commit comes back: it is not overwritten', async () => {
    const refusal = await raced('check-out-index', 'before', () => makeTree(repo, ['t: newer']));
    expect(refusal).toMatchObject({ code: 'git_failed', details: { partial: true, stage: 'checkout' } });
    expect(await filesOf(repo)).toEqual(['d/x: 1', 't: newer']);
  });

  it('R05: and puts another directory in the place of the checkout: that one is left alone', async () => {
    const aside = `${repo} aside`;
    const swap = async () => {
      await rename(repo, aside);
      await mkdir(repo);
      await git(repo, 'init', '-q');
      await makeTree(repo, ['new: theirs', 't: theirs']);
    };
    expect((await raced('archive', 'after', swap)).code).toBe('identity_changed');
    expect(await filesOf(repo)).toEqual(['new: theirs', 't: theirs']);
    expect(await filesOf(aside)).toEqual(before);
  });

  it('R41: and changes a file while an older state is brought back: it is not replaced', async () => {
    const { token } = await previewOf(lab.service, repo);
    const { archive } = await lab.service.actions.discard(repo, { token });
    const actions = actionsWith('status', 'after', () => writeFile(join(repo, 't'), 'newer'));
    const { conflicts } = await actions.restoreDiscarded(repo, { archive });
    expect(conflicts).toEqual([{ path: 't', reason: 'in-the-way' }]);
    expect(await readFile(join(repo, 't'), 'utf8')).toBe('newer');
    expect(await readdir(repo)).toContain('new');
  });
});
