import { cp, mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createRepositoryActions } from '../../src/actions/create-actions.ts';
import { Confirmations } from '../../src/actions/discard-confirmations.ts';
import { familyKey } from '../../src/actions/in-family.ts';
import type { RepositoryActions } from '../../src/actions/repository-actions.ts';
import { createHookTrust } from '../../src/actions/trusted-hooks.ts';
import { createConfigurationGate } from '../../src/git/configuration-gate.ts';
import { createGitRunner, type GitRunner } from '../../src/git/run-git.ts';
import { readUserConfiguration } from '../../src/git/user-configuration.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import { deathGuard } from '../support/addon.ts';
import { deferred } from '../support/deferred.ts';
import { git } from '../support/git.ts';
import { unusedArchives } from '../support/unused-archives.ts';
import { type ActionLab, createActionLab, outcomeOf } from './action-lab.ts';
import { commitFiles, put, stateOf } from './merge-lab.ts';

let lab: ActionLab;
let repo: string;
let tree: string;
let count = 0;
const runner = createGitRunner({ deathGuard });
beforeAll(async () => {
  lab = await createActionLab();
});
afterAll(async () => {
  await runner.close();
  await lab[Symbol.asyncDispose]();
});
/** A main checkout with a worktree, both with something to commit and something that the other has not, and a remote. */
beforeEach(async () => {
  count += 1;
  repo = await lab.repository(`repo ${count}`);
  await commitFiles(repo, 'base', { f: 'one\n' });
  tree = join(lab.place, `tree ${count}`);
  await git(repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
  await git(lab.place, 'clone', '-q', '--bare', repo, `remote ${count}.git`);
  await git(repo, 'remote', 'add', 'origin', join(lab.place, `remote ${count}.git`));
  await git(repo, 'push', '-q', 'origin', 'main');
  await commitFiles(tree, 'ours', { ours: 'x\n' });
  await commitFiles(repo, 'theirs', { theirs: 'x\n' });
});

const gate = createMutationGate({ leases: null });

function actionsWith(git: GitRunner): RepositoryActions {
  return createRepositoryActions({
    authority: lab.service.authority,
    gate,
    git,
    configuration: createConfigurationGate(runner),
    user: (signal) => readUserConfiguration(runner, { home: lab.home }, signal),
    network: { protocols: ['file'] },
    hooks: createHookTrust(runner),
    archives: unusedArchives,
    confirmations: new Confirmations(),
  });
}

const away = () => `${repo} away`;

/** What becomes of the main checkout; afterwards it stands at `away()`, whole. */
const changes: readonly (readonly [string, () => Promise<void>])[] = [
  ['is moved away', () => rename(repo, away())],
  [
    'is replaced by a copy of itself',
    async () => {
      await rename(repo, away());
      await cp(away(), repo, { recursive: true, verbatimSymlinks: true });
    },
  ],
  [
    'is replaced by a link to itself',
    async () => {
      await rename(repo, away());
      await symlink(away(), repo);
    },
  ],
  [
    'is replaced by another repository of the same branches',
    async () => {
      await rename(repo, away());
      await git(lab.place, 'clone', '-q', away(), repo);
    },
  ],
  [
    'has another Git dir',
    async () => {
      await mkdir(away());
      await rename(join(repo, '.git'), join(away(), '.git'));
      await cp(join(away(), '.git'), join(repo, '.git'), { recursive: true });
    },
  ],
];

const refused =
  /^(?:identity_changed|workspace_not_authorized|repository_identity_changed|git_root_not_authorized)/;

async function stateOfAll(): Promise<unknown> {
  return [await stateOf(away()).catch(() => null), await stateOf(repo).catch(() => null)];
}

/** Holds the turn of the family until the change is made, so that whoever asked before has waited for it. */
async function whileWaiting(
  act: (actions: RepositoryActions) => Promise<unknown>,
  change: () => Promise<void>,
) {
  await using capability = await lab.service.authority.authorizeRepository(repo);
  const [started, end] = [deferred<void>(), deferred<void>()];
  const key = familyKey(capability);
  const over = gate.run([key], async () => {
    started.resolve();
    await end.promise;
  });
  await started.promise;
  const acting = outcomeOf(act(actionsWith(runner)));
  while (gate.depth(key) < 2) await new Promise(setImmediate);
  await change();
  const before = await stateOfAll();
  end.resolve();
  await over;
  return { outcome: await acting, before };
}

describe.each(changes)('R06, R22: when the main checkout %s', (_, change) => {
  it.each<[string, (actions: RepositoryActions) => Promise<unknown>]>([
    ['a commit in it', (actions) => actions.commit(repo, { message: 'm' })],
    ['a commit in its worktree', (actions) => actions.commit(tree, { message: 'm' })],
    ['a merge to the base', (actions) => actions.mergeToBase(tree)],
    ['an update from the base', (actions) => actions.updateFromBase(tree)],
    ['a pull', (actions) => actions.pull(repo)],
  ])('%s that waits for its turn does nothing, there and at its old place', async (title, act) => {
    if (title.startsWith('a commit')) {
      for (const root of [repo, tree]) await put(root, { made: 'x\n' });
    }
    const { outcome, before } = await whileWaiting(act, change);
    expect(outcome).toMatch(refused);
    expect(await stateOfAll()).toEqual(before);
  });
});

describe.each(changes)(
  'R06: when the main checkout %s while another machine is waited for',
  (what, change) => {
    it('a pull fetches into what it holds, and merges nowhere', async () => {
      const other = join(lab.place, `other ${count}`);
      await git(lab.place, 'clone', '-q', `remote ${count}.git`, other);
      await commitFiles(other, 'elsewhere', { elsewhere: 'x\n' });
      await git(other, 'push', '-q');
      let before: unknown = null;
      const watched: GitRunner = {
        ...runner,
        async run(command, signal) {
          const result = await runner.run(command, signal);
          if (command.name === 'fetch') {
            await change();
            before = await stateOfAll();
          }
          return result;
        },
      };
      expect(await outcomeOf(actionsWith(watched).pull(repo))).toMatch(refused);
      expect(await stateOfAll()).toEqual(before);
    });

    it('a push sends the branch of what it holds, never that of the newcomer', async () => {
      const head = (await git(repo, 'rev-parse', 'HEAD')).trim();
      const watched: GitRunner = {
        ...runner,
        async run(command, signal) {
          if (command.name === 'push') {
            await change();
            if (what.includes('another repository')) {
              await git(repo, '-c', 'user.name=n', 'commit', '-q', '--allow-empty', '-m', 'newcomer');
            }
          }
          return runner.run(command, signal);
        },
      };
      const outcome = await outcomeOf(actionsWith(watched).push(repo));
      expect(outcome).toMatch(/^(?:ok$|git_failed|identity_changed)/);
      const pushed = (await git(join(lab.place, `remote ${count}.git`), 'rev-parse', 'main')).trim();
      if (outcome === 'ok') expect(pushed).toBe(head);
      else expect(pushed).not.toBe(head);
    });
  },
);
