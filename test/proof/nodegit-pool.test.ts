import { execFile, spawn } from 'node:child_process';
import { mkdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { nodegitState } from '../../scripts/nodegit.mjs';
import type { DirectoryHandle } from '../../src/capability/handles.ts';
import { CircuitBreaker } from '../../src/proof/circuit-breaker.ts';
import {
  NodegitPool,
  type NodegitPoolOptions,
  type NodegitQuestion,
  type NodegitRowQuestion,
} from '../../src/proof/nodegit-pool.ts';
import { startNodegitProcess } from '../../src/proof/nodegit-process.ts';
import { deathGuard, native } from '../support/addon.ts';
import { refusalOf } from '../support/answers.ts';
import { makePlace } from '../support/authority-lab.ts';
import { bundleProgram } from '../support/bundle.ts';
import { git, makeRepository } from '../support/git.ts';
import { descendants, isRunning, openDescriptors, reportedProcesses } from '../support/processes.ts';

const soon = { timeout: 10_000, interval: 10 };
const run = promisify(execFile);
let place: string;
let honest: DirectoryHandle;
let stuck: DirectoryHandle;
let tree: DirectoryHandle;
let pool: NodegitPool;

beforeAll(async () => {
  place = await makePlace();
  await makeRepository(join(place, 'honest'));
  await git(join(place, 'honest'), 'worktree', 'add', '-q', '--detach', join(place, 'tree'));
  await makeRepository(join(place, 'stuck'));
  // libgit2 waits for ever to open this. The round trip before it would have refused it.
  await rm(join(place, 'stuck/.git/config'));
  await run('mkfifo', [join(place, 'stuck/.git/config')]);
  honest = await native.openRoot(join(place, 'honest'), {});
  stuck = await native.openRoot(join(place, 'stuck'), {});
  tree = await native.openRoot(join(place, 'tree'), {});
});

afterAll(async () => {
  honest.close();
  stuck.close();
  tree.close();
  await rm(place, { recursive: true, force: true });
});

beforeEach(() => {
  pool = createPool();
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await pool.close();
});

function createPool(options: Partial<NodegitPoolOptions> = {}): NodegitPool {
  const state = nodegitState();
  if (state.state !== 'ready') throw new Error(`nodegit is ${state.state}`);
  const program = { deathGuard, nodegit: state.path };
  return new NodegitPool({ start: (events) => startNodegitProcess(program, events), ...options });
}

/** About the directory itself, and no row of a worktree list. */
function question(directory: DirectoryHandle): NodegitQuestion {
  return { descriptor: directory.descriptorPath(), row: null };
}

/** About `tree`, a worktree of `honest`. */
async function rowQuestion(said: Partial<NodegitRowQuestion>): Promise<NodegitQuestion> {
  const main = join(place, 'honest');
  const commonDirectory = await placeOf(join(main, '.git'));
  const row = { main, name: 'tree', path: join(place, 'tree'), commonDirectory, ...said };
  return { descriptor: tree.descriptorPath(), row };
}

async function placeOf(path: string): Promise<NodegitRowQuestion['commonDirectory']> {
  const { dev, ino } = await stat(path, { bigint: true });
  return { path, device: String(dev), inode: String(ino) };
}

let asked = 0;

/** Each honest question of another repository, as far as the pool can tell. */
async function askHonest(): Promise<string> {
  asked += 1;
  try {
    const reply = await pool.ask(question(honest), `honest ${asked}`);
    return reply.kind === 'seen' ? (reply.seen.workTree?.path ?? 'none') : 'refused';
  } catch (error) {
    return refusalOf(error);
  }
}

async function askStuck(name: string): Promise<string> {
  return pool.ask(question(stuck), name).then(() => 'answered', refusalOf);
}

const answer = (): string => join(place, 'honest/');

/** Programs below the guards: the nodegit processes themselves. */
function children(): number[] {
  return pool.processes.flatMap((guard) => descendants(guard));
}

describe('the nodegit child', () => {
  it('answers about the held directory, and starts only when it is asked', async () => {
    expect(pool.processes).toEqual([]);
    expect(await askHonest()).toBe(answer());
    const reply = await pool.ask(question(honest), 'honest');
    expect(reply).toMatchObject({ kind: 'seen', seen: { bare: false, linked: false } });
  });

  it('R31: answers with the row that the main checkout has, and with the error of libgit2 where it has none', async () => {
    const main = join(place, 'honest');
    const ask = async (said: Partial<NodegitRowQuestion>) => pool.ask(await rowQuestion(said), 'tree');
    // Twice, as the second one is answered with the repository that the first one opened.
    for (const _ of [1, 2]) {
      expect(await ask({ main, name: 'tree' })).toMatchObject({
        kind: 'seen',
        seen: { linked: true, row: { path: join(place, 'tree'), valid: true } },
      });
      expect(await ask({ main, name: 'absent' })).toMatchObject({ kind: 'refused', libgit2Error: -3 });
      expect(await ask({ main: place, name: 'tree' })).toMatchObject({ kind: 'refused', libgit2Error: -3 });
    }
  });

  it('R31: answers for more main checkouts than it keeps open', async () => {
    const mains = Array.from({ length: 20 }, (_, index) => join(place, `main-${index}`));
    for (const main of mains) await symlink('honest', main);
    for (const main of [...mains, ...mains]) {
      expect(await pool.ask(await rowQuestion({ main }), 'tree')).toMatchObject({
        seen: { row: { valid: true } },
      });
    }
  });

  it('R31: a main checkout that it keeps open and that became another one is opened anew', async () => {
    const [main, other] = [join(place, 'moving'), join(place, 'other')];
    await makeRepository(other);
    await git(other, 'worktree', 'add', '-q', '--detach', join(place, 'of-other'));
    const ofOther = { main, name: 'of-other', path: join(place, 'of-other') };
    const commonDirectory = await placeOf(join(other, '.git'));
    await symlink('honest', main);
    const listed = (name: string) => ({ seen: { row: { path: join(place, name), valid: true } } });
    expect(await pool.ask(await rowQuestion({ main }), 'tree')).toMatchObject(listed('tree'));
    await rm(main);
    await symlink('other', main);
    const asked = await rowQuestion({ ...ofOther, commonDirectory });
    expect(await pool.ask(asked, 'tree')).toMatchObject(listed('of-other'));
    // Kept open is now the other one, whose list has no such row.
    expect(await pool.ask(await rowQuestion({ main }), 'tree')).toMatchObject({ libgit2Error: -3 });
  });

  it('R31: says whose list a row is in, also where that is not what was expected', async () => {
    const [common, root] = [await placeOf(join(place, 'honest/.git')), await placeOf(place)];
    for (const commonDirectory of [common, root, { ...common, inode: '1' }, common]) {
      const { path, device, inode } = common;
      const seen = { path: `${path}/`, device: BigInt(device), inode: BigInt(inode) };
      expect(await pool.ask(await rowQuestion({ commonDirectory }), 'tree')).toMatchObject({
        seen: { row: { valid: true, commonDirectory: seen } },
      });
    }
  });

  it.each(['relative', '', '/a\0b', 'file:///a'])(
    'R04: a main checkout that is no path, %j, never reaches libgit2',
    async (main) => {
      const outcome = pool.ask(await rowQuestion({ main }), 'tree');
      expect(await outcome.then(() => 'answered', refusalOf)).toBe('prover_unavailable: child-died');
    },
  );

  it.each(['../worktrees/tree', 'a/b', '.', '..', '', 'tree\0'])(
    'R04: a name that is no name, %j, never reaches libgit2, and is no answer',
    async (name) => {
      const outcome = pool.ask(await rowQuestion({ name }), 'tree');
      expect(await outcome.then(() => 'answered', refusalOf)).toBe('prover_unavailable: child-died');
    },
  );

  it('answers with the error of libgit2 where there is no repository', async () => {
    const empty = await native.openRoot(place, {});
    expect(await pool.ask(question(empty), 'empty')).toMatchObject({
      kind: 'refused',
      libgit2Error: -3,
    });
    empty.close();
  });

  it('R04: nothing of our environment lifts its owner check', async () => {
    vi.stubEnv('SUDO_UID', '65534');
    vi.stubEnv('HOME', place);
    expect(await askHonest()).toBe(answer());
    const [child] = children() as [number];
    const { stdout } = await run('cat', [`/proc/${child}/environ`]);
    const names = stdout.split('\0').map((entry) => entry.split('=')[0]);
    expect(names).not.toContain('SUDO_UID');
    expect(stdout).toContain('HOME=/nonexistent');
  });

  it('R04: a hang is killed, the hanging question fails, and its neighbours do not', async () => {
    expect(await askHonest()).toBe(answer());
    const before = children();
    const neighbours = Promise.all(Array.from({ length: 50 }, askHonest));
    const hanging = askStuck('stuck');
    expect(await hanging).toBe('prover_unavailable: deadline');
    expect(new Set(await neighbours)).toEqual(new Set([answer()]));
    expect(await askHonest()).toBe(answer());
    await expect.poll(() => before.filter(isRunning).length, soon).toBe(before.length - 1);
  });

  it('R04: many hangs at once do not take the questions behind them along', async () => {
    expect(await askHonest()).toBe(answer());
    const hanging = Promise.all(['a', 'b', 'c', 'd', 'e'].map(askStuck));
    const behind = Promise.all(Array.from({ length: 30 }, askHonest));
    expect(new Set(await hanging)).toEqual(new Set(['prover_unavailable: deadline']));
    expect(new Set(await behind)).toEqual(new Set([answer()]));
  });

  it('an answer that waits because this thread was busy is not a hang', async () => {
    expect(await askHonest()).toBe(answer());
    const before = [...pool.processes];
    const asking = askHonest();
    await new Promise(setImmediate);
    for (const until = performance.now() + 1500; performance.now() < until; );
    expect(await asking).toBe(answer());
    expect(pool.processes).toEqual(expect.arrayContaining(before));
  });

  it('a repository that hung is not asked about again', async () => {
    expect(await askStuck('stuck')).toBe('prover_unavailable: deadline');
    const processes = [...pool.processes];
    expect(await askStuck('stuck')).toBe('prover_unavailable: hung-before');
    expect(pool.processes).toEqual(processes);
    expect(await askHonest()).toBe(answer());
  });

  it('R04: killed again and again under load: no wrong answer, and hardly a lost one', async () => {
    pool = createPool({ breaker: new CircuitBreaker({ limit: 1000, windowMs: 1, openMs: 1 }) });
    expect(await askHonest()).toBe(answer());
    let kills = 0;
    let working = true;
    const ask = async (): Promise<string[]> => {
      const answers: string[] = [];
      while (working) answers.push(await askHonest());
      return answers;
    };
    const askers = Array.from({ length: 16 }, ask);
    while (kills < 5) {
      // Kill the one that answers, once a successor stands ready, as an accident would.
      await expect.poll(() => children().length, soon).toBe(2);
      await expect.poll(askHonest, soon).toBe(answer());
      const [child] = children() as [number];
      process.kill(child, 'SIGKILL');
      kills += 1;
      await expect.poll(() => isRunning(child), soon).toBe(false);
    }
    working = false;
    const answers = (await Promise.all(askers)).flat();
    const failures = answers.filter((text) => text !== answer());
    expect(new Set(failures)).toEqual(
      failures.length === 0 ? new Set() : new Set(['prover_unavailable: child-died']),
    );
    expect(failures.length).toBeLessThan(answers.length / 100);
  });

  it('R04: too many failures open the circuit: no answer, never a guess', async () => {
    pool = createPool({ breaker: new CircuitBreaker({ limit: 0, windowMs: 60_000, openMs: 60_000 }) });
    expect(await askHonest()).toBe(answer());
    expect(await askStuck('stuck')).toBe('prover_unavailable: deadline');
    expect(pool.isBroken).toBe(true);
    expect(await askHonest()).toBe('prover_unavailable: circuit-open');
  });

  it('R04: a nodegit that cannot be loaded is no answer', async () => {
    pool = createPool({
      start: (events) => startNodegitProcess({ deathGuard, nodegit: '/nonexistent' }, events),
    });
    expect(await askHonest()).toBe('prover_unavailable: circuit-open');
  });

  it('R04: a guard that does not exist is no answer', async () => {
    pool = createPool({
      start: (events) => startNodegitProcess({ deathGuard: '/nonexistent', nodegit: '/nonexistent' }, events),
    });
    expect(await askHonest()).toBe('prover_unavailable: circuit-open');
  });

  it('R04: a garbled answer is no answer, and the child that gave it goes', async () => {
    let garbled = 0;
    pool = createPool({
      start: (events) => {
        const state = nodegitState() as { path: string };
        return startNodegitProcess(
          { deathGuard, nodegit: state.path },
          {
            ...events,
            onMessage: (message) => {
              if (typeof message === 'object' && message !== null && 'seen' in message) {
                garbled += 1;
                events.onMessage({ ...message, seen: { bare: 'no' } });
              } else events.onMessage(message);
            },
          },
        );
      },
    });
    expect(await askHonest()).toBe('prover_unavailable: child-died');
    expect(garbled).toBe(2);
  });

  it('is replaced after so many answers, without losing one', async () => {
    pool = createPool({ answersPerChild: 20 });
    expect(await askHonest()).toBe(answer());
    await expect.poll(() => children().length, soon).toBe(2);
    const [first] = children() as [number];
    const answers: string[] = [];
    while (isRunning(first)) answers.push(...(await Promise.all(Array.from({ length: 10 }, askHonest))));
    expect(new Set(answers)).toEqual(new Set([answer()]));
    expect(pool.isBroken).toBe(false);
  });

  it('a caller that goes away does not wait, and the answer to it harms nobody', async () => {
    expect(await askHonest()).toBe(answer());
    const leaving = new AbortController();
    const left = pool.ask(question(stuck), 'stuck', leaving.signal);
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toMatchObject({ code: 'aborted' });
    await expect(pool.ask(question(honest), 'x', leaving.signal)).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(await askHonest()).toBe(answer());
  });

  it('R06: kill -9 of the host ends its children', async () => {
    const state = nodegitState();
    if (state.state !== 'ready') throw new Error(`nodegit is ${state.state}`);
    // The program finds the child's file where a compiled room would: two folders up.
    await mkdir(join(place, 'src'));
    await symlink(fileURLToPath(new URL('../../src/proof', import.meta.url)), join(place, 'src/proof'));
    const program = await bundleProgram('nodegit-host.ts', join(place, 'dist/proof'));
    const report = join(place, 'report');
    const host = spawn(process.execPath, [program, deathGuard, state.path, report], { stdio: 'ignore' });
    const [guard] = (await reportedProcesses(report)) as [number];
    const processes = [guard, ...descendants(guard)];
    expect(processes.filter(isRunning)).toHaveLength(2);
    host.kill('SIGKILL');
    await expect.poll(() => processes.filter(isRunning), { ...soon, timeout: 2000 }).toEqual([]);
  });

  it('closing ends what waits, and leaves no process and no descriptor', async () => {
    const before = { processes: descendants().length, descriptors: openDescriptors() };
    const busy = createPool();
    await busy.ask(question(honest), 'honest');
    const waiting = busy.ask(question(stuck), 'stuck').then(() => 'answered', refusalOf);
    await Promise.all([busy.close(), busy.close()]);
    expect(await waiting).toMatch(/^prover_unavailable/);
    await expect(busy.ask(question(honest), 'honest')).rejects.toMatchObject({
      code: 'prover_unavailable',
    });
    await expect
      .poll(() => ({ processes: descendants().length, descriptors: openDescriptors() }), soon)
      .toEqual(before);
  });
});
