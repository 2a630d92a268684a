import { EventEmitter, once } from 'node:events';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { createService } from '../../src/service/create-service.ts';
import { compileSources } from '../support/compiled.ts';
import { git, makeRepository } from '../support/git.ts';
import { randomOf } from '../support/random-of.ts';
import { type ServerProcess, startServerProcess } from '../support/repository-servers.ts';
import { testBinding } from '../support/test-binding.ts';
import { long } from './contest.ts';

const operations = long ? 1000 : 120;

let compiled: string;
beforeAll(async () => {
  compiled = await compileSources();
}, 120_000);

/** Why an operation may be refused while others work: each means that somebody was faster, and nothing was lost. */
const refusals = new Set([
  'action_refused: actions.commit.clean',
  'action_refused: actions.merge.dirtyCurrent',
  'action_refused: actions.merge.dirtyOwner',
  'action_refused: actions.updateFromBase.upToDate',
  'ref_moved: stale-target',
  'ref_moved: actions.merge.staleTarget',
  'ref_moved: exit-status',
  // A person's own Git holds a lock for a moment, or longer than anybody waits on a busy machine.
  'repository_locked: index',
  'repository_locked: exit-status',
  // The remote has what was not fetched yet.
  'git_failed: rejected',
]);

/** What actors were told to be done, and so must be there in the end. */
interface Told {
  readonly commits: Set<string>;
  /** Commits that the base must lead to. */
  readonly merged: Set<string>;
  readonly files: Map<string, Set<string>>;
  readonly outcomes: Map<string, number>;
}

function countOf(told: Told, outcome: string): void {
  told.outcomes.set(outcome, (told.outcomes.get(outcome) ?? 0) + 1);
}

interface Place {
  readonly main: string;
  readonly trees: readonly string[];
  /** A clone that somebody else pushes from. */
  readonly other: string;
}

async function writeNew(told: Told, checkout: string, name: string): Promise<void> {
  await writeFile(join(checkout, name), `${name}\n`);
  told.files.get(checkout)?.add(name);
}

/** One random request to a server, and what it told. */
async function ask(
  server: ServerProcess,
  told: Told,
  place: Place,
  name: string,
  pick: (n: number) => number,
) {
  const { main, trees } = place;
  const tree = trees[pick(trees.length)] as string;
  const checkout = [main, ...trees][pick(trees.length + 1)] as string;
  const act = async (cwd: string, verb: string, params = {}) => {
    const { status, body } = await server.act(cwd, verb, params);
    const details = (body['details'] ?? {}) as Record<string, unknown>;
    const why = details['reasonKey'] ?? details['reason'] ?? details['what'];
    countOf(told, status === 200 ? verb : why === undefined ? `${body['code']}` : `${body['code']}: ${why}`);
    if (status !== 200) return null;
    const { oid, mergedOid } = body as { oid?: string; mergedOid?: string };
    if (oid !== undefined) told.commits.add(oid);
    if (verb === 'mergeToBase') for (const each of [oid, mergedOid]) told.merged.add(each as string);
    return body;
  };
  switch (pick(10)) {
    case 0:
    case 1:
    case 2:
      await writeNew(told, checkout, name);
      return act(checkout, 'commit', { message: name });
    case 3: {
      const saved = await server.change(
        'PUT',
        '/file',
        { cwd: checkout, path: name, content: `${name}\n` },
        { 'if-none-match': '*' },
      );
      countOf(told, `save ${saved.status}`);
      if (saved.status === 201) told.files.get(checkout)?.add(name);
      return saved;
    }
    case 4:
    case 5:
      return act(tree, 'mergeToBase');
    case 6:
      return act(tree, 'updateFromBase');
    case 7:
      return act(main, pick(2) === 0 ? 'pull' : 'fetch');
    case 8:
      return act(main, 'push');
    default: {
      const route = ['/diff', '/snapshot', '/branches', '/commits', '/actions'][pick(5)] as string;
      const { status } = await server.get(route, { cwd: checkout });
      countOf(told, `${route} ${status}`);
      return null;
    }
  }
}

/** What a person does at a terminal in the meantime; what Git refuses them, they try again some other time. */
async function person(told: Told, place: Place, name: string, pick: (n: number) => number): Promise<void> {
  const { main, trees, other } = place;
  const checkout = [main, ...trees][pick(trees.length + 1)] as string;
  try {
    switch (pick(8)) {
      case 0:
      case 1:
        await writeNew(told, checkout, name);
        await git(checkout, 'add', '--', name);
        await git(checkout, 'commit', '-q', '-m', name, '--', name);
        break;
      case 2:
        await git(main, 'branch', name);
        await git(main, 'tag', '-a', '-m', 'm', `tag-${name}`);
        await git(main, 'branch', '-q', '-d', name);
        break;
      case 3:
        await git(main, 'pack-refs', '--all');
        break;
      case 4:
        await git(main, 'gc', '-q');
        break;
      case 5:
        await git(checkout, 'status');
        break;
      case 6:
        await git(checkout, 'commit', '-q', '--allow-empty', '-m', name);
        break;
      default:
        await git(other, 'pull', '-q', '--no-rebase', '--no-edit');
        await git(other, 'commit', '-q', '--allow-empty', '-m', name);
        await git(other, 'push', '-q');
    }
    countOf(told, 'person ok');
  } catch {
    countOf(told, 'person refused');
  }
}

async function makePlace(sandbox: string): Promise<Place> {
  const main = join(sandbox, 'main');
  await makeRepository(main);
  const trees = ['one', 'two'].map((name) => join(sandbox, name));
  for (const tree of trees) await git(main, 'worktree', 'add', '-q', '-b', `topic-${tree.slice(-3)}`, tree);
  const [remote, other] = [join(sandbox, 'remote.git'), join(sandbox, 'other')];
  await git(sandbox, 'clone', '-q', '--bare', main, remote);
  await git(main, 'remote', 'add', 'origin', remote);
  await git(sandbox, 'clone', '-q', '-b', 'main', remote, other);
  return { main, trees, other };
}

it(`R22, R40: two server processes and a person do ${operations} things to one repository: nothing told is lost, no lock and no lease stays`, {
  timeout: long ? 60 * 60_000 : 180_000,
}, async () => {
  const seed = Number(process.env['SHARED_SEED'] ?? Date.now() % 1_000_000_000);
  const sandbox = await realpath(await mkdtemp(join(tmpdir(), 'wa-shared-')));
  const [state, home] = [join(sandbox, 'state'), join(sandbox, 'home')];
  try {
    const place = await makePlace(sandbox);
    const { main, trees } = place;
    await mkdir(home);
    await writeFile(join(home, '.gitconfig'), '[user]\n\tname = A\n\temail = a@example.invalid\n');
    const openService = () =>
      createService({ stateDirectory: state, prover: 'git', binding: testBinding, home });
    const first = await openService();
    await first.workspaces?.add(main);
    await first.close();
    const checkouts = [main, ...trees];
    const told: Told = {
      commits: new Set(),
      merged: new Set(),
      files: new Map(checkouts.map((path) => [path, new Set()])),
      outcomes: new Map(),
    };
    {
      await using one = await startServerProcess(compiled, state, home);
      await using two = await startServerProcess(compiled, state, home);
      // Two requests at a time to each server, so that turns are waited for within a process, too. A person does one thing for four of those.
      const requests = (operations * 4) / 5;
      let begun = 0;
      const pace = new EventEmitter();
      const asking = [one, two, one, two].map(async (server, actor) => {
        const pick = randomOf(seed + actor);
        while (begun < requests) {
          begun += 1;
          pace.emit('begun');
          await ask(server, told, place, `a${actor}-${begun}`, pick);
        }
      });
      const doing = async () => {
        const pick = randomOf(seed + asking.length);
        for (let done = 0; done < operations - requests; done += 1) {
          while (begun < 4 * done) await once(pace, 'begun');
          await person(told, place, `p-${done}`, pick);
        }
      };
      await Promise.all([...asking, doing()]);
      // No turn and no lease is left: both servers still do what they are asked in every checkout.
      for (const server of [one, two]) {
        for (const checkout of checkouts) {
          await writeNew(told, checkout, `last-${server.pid}`);
          const { status, body } = await server.act(checkout, 'commit', { message: 'last' });
          expect([status, body['code'], seed]).toEqual([200, undefined, seed]);
          told.commits.add(body['oid'] as string);
        }
      }
    }
    const unexpected = [...told.outcomes.keys()].filter(
      (outcome) => / |_/.test(outcome) && !isKnown(outcome),
    );
    expect([unexpected, seed]).toEqual([[], seed]);
    for (const verb of ['commit', 'mergeToBase', 'person ok', 'save 201']) {
      expect([verb, told.outcomes.get(verb) ?? 0, seed]).not.toEqual([verb, 0, seed]);
    }

    const reachable = new Set((await git(main, 'rev-list', '--all')).trim().split('\n'));
    expect([[...told.commits].filter((oid) => !reachable.has(oid)), seed]).toEqual([[], seed]);
    const ofBase = new Set((await git(main, 'rev-list', 'refs/heads/main')).trim().split('\n'));
    expect([[...told.merged].filter((oid) => !ofBase.has(oid)), seed]).toEqual([[], seed]);
    for (const [checkout, names] of told.files) {
      const kept = new Set((await git(checkout, 'ls-tree', '--name-only', 'HEAD')).split('\n'));
      expect([[...names].filter((name) => !kept.has(name)), seed]).toEqual([[], seed]);
      expect([await git(checkout, 'status', '--porcelain'), seed]).toEqual(['', seed]);
    }
    await git(main, 'fsck', '--strict', '--no-dangling');
    expect(await locksBelow(join(main, '.git'))).toEqual([]);
    // Nobody but a new process asks now, and it waits for no one.
    const later = await openService();
    await writeFile(join(main, 'later'), 'x\n');
    await later.actions.commit(main, { message: 'later' });
    await later.close();
    expect(await git(main, 'log', '-1', '--format=%s')).toBe('later\n');
    if (long) console.info(`seed ${seed}:`, Object.fromEntries([...told.outcomes].sort()));
  } finally {
    await rm(sandbox, { recursive: true, force: true });
  }
});

function isKnown(outcome: string): boolean {
  return refusals.has(outcome) || /^(?:save 201|person (?:ok|refused)|\/[a-z]+ 200)$/.test(outcome);
}

async function locksBelow(directory: string): Promise<string[]> {
  const names = await readdir(directory, { recursive: true });
  return names.filter((name) => name.endsWith('.lock'));
}
