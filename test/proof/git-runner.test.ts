import { spawn } from 'node:child_process';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readGitVersion } from '../../src/git/git-version.ts';
import { createGitRunner, type GitCommand, type GitRunner } from '../../src/git/run-git.ts';
import { deathGuard, native } from '../support/addon.ts';
import { makePlace } from '../support/authority-lab.ts';
import { bundleProgram } from '../support/bundle.ts';
import { descendants, isRunning, openDescriptors, reportedProcesses } from '../support/processes.ts';

const misbehave = fileURLToPath(new URL('programs/misbehave.mjs', import.meta.url));
const soon = { timeout: 10_000, interval: 10 };
let place: string;
let runner: GitRunner;

beforeAll(async () => {
  place = await makePlace();
  runner = createGitRunner({ deathGuard, gitProgram: process.execPath });
});

afterEach(() => {
  vi.unstubAllEnvs();
});

afterAll(async () => {
  await runner.close();
  await rm(place, { recursive: true, force: true });
});

/** A command whose program is the one that misbehaves. */
function deed(what: string, argument?: string | number, parts: Partial<GitCommand> = {}): GitCommand {
  return {
    name: 'deed',
    arguments: [misbehave, what, ...(argument === undefined ? [] : [String(argument)])],
    environment: { PATH: '/usr/bin:/bin', ONLY: 'this' },
    directory: '/',
    deadlineMs: 60_000,
    dataLimitBytes: 2 ** 30,
    outputLimitBytes: 1000,
    ...parts,
  };
}

describe('the runner', () => {
  it('gives exit status and output as data', async () => {
    expect((await runner.run(deed('exit', 3))).exitCode).toBe(3);
    const { stdout, stderr, exitCode } = await runner.run(deed('print', 1000));
    expect([stdout.length, stderr.length, exitCode]).toEqual([1000, 0, 0]);
  });

  it('passes on exactly the environment it was given, and an empty standard input', async () => {
    vi.stubEnv('GIT_DIR', '/elsewhere');
    const { stdout } = await runner.run(deed('environment'));
    expect(JSON.parse(stdout.toString())).toEqual({ PATH: '/usr/bin:/bin', ONLY: 'this' });
    expect((await runner.run(deed('input'))).stdout.toString()).toBe('0');
  });

  it('R06: starts in the held directory, wherever its name leads by then', async () => {
    await mkdir(join(place, 'held'));
    const handle = await native.openRoot(join(place, 'held'), {});
    await rename(join(place, 'held'), join(place, 'moved'));
    await mkdir(join(place, 'held'));
    const { stdout } = await runner.run(deed('directory', undefined, { directory: handle.descriptorPath() }));
    expect(stdout.toString()).toBe(join(place, 'moved'));
    handle.close();
  });

  it('R04: one byte over the output limit is a failure, not a shortened answer', async () => {
    await expect(runner.run(deed('print', 1001))).rejects.toMatchObject({
      code: 'git_failed',
      details: { reason: 'output-limit', command: 'deed' },
    });
  });

  it('keeps only the beginning of standard error', async () => {
    expect((await runner.run(deed('complain', 100_000))).stderr).toHaveLength(4096);
  });

  it.each([
    ['a program that does not exist', deed('exit', 0), '/nonexistent/git'],
    ['a directory that does not exist', deed('exit', 0, { directory: '/nonexistent' }), process.execPath],
  ])('R04: %s is a failure to start', async (_, command, gitProgram) => {
    const broken = createGitRunner({ deathGuard, gitProgram });
    await expect(broken.run(command)).rejects.toMatchObject({
      code: 'git_failed',
      details: { reason: 'spawn' },
    });
  });

  it('R04: a guard that does not exist is a failure to start', async () => {
    const broken = createGitRunner({ deathGuard: '/nonexistent/guard' });
    await expect(broken.run(deed('exit', 0))).rejects.toMatchObject({ details: { reason: 'spawn' } });
  });

  it('R04: death by signal is a failure', async () => {
    await expect(runner.run(deed('die'))).rejects.toMatchObject({ details: { reason: 'signal' } });
  });

  it('kills all that the command started at the deadline', async () => {
    const file = join(place, 'deadline');
    const work = runner.run(deed('breed', file, { deadlineMs: 2000 }));
    const [child, grandchild] = (
      await Promise.all([
        reportedProcesses(file),
        expect(work).rejects.toMatchObject({
          code: 'git_failed',
          details: { reason: 'deadline' },
        }),
      ])
    )[0] as [number, number];
    await expect.poll(() => [isRunning(child), isRunning(grandchild)], soon).toEqual([false, false]);
  });

  it('kills all that the command started on abort', async () => {
    const file = join(place, 'abort');
    const stop = new AbortController();
    const work = runner.run(deed('breed', file), stop.signal);
    const processes = await reportedProcesses(file);
    stop.abort(new Error('the caller went away'));
    await expect(work).rejects.toMatchObject({ code: 'aborted' });
    await expect.poll(() => processes.filter(isRunning), soon).toEqual([]);
    await expect(runner.run(deed('exit', 0), stop.signal)).rejects.toMatchObject({ code: 'aborted' });
  });

  it('what a command leaves behind when it ends goes with it', async () => {
    const file = join(place, 'abandoned');
    expect((await runner.run(deed('abandon', file))).exitCode).toBe(0);
    const processes = await reportedProcesses(file);
    await expect.poll(() => processes.filter(isRunning), soon).toEqual([]);
  });

  it('the deadline counts the wait for a free place', async () => {
    const narrow = createGitRunner({ deathGuard, gitProgram: process.execPath, concurrency: 1 });
    const first = narrow.run(deed('stay'));
    await expect(narrow.run(deed('exit', 0, { deadlineMs: 50 }))).rejects.toMatchObject({
      details: { reason: 'no-place' },
    });
    expect(narrow.running).toBe(1);
    const ended = expect(first).rejects.toMatchObject({ code: 'shutting_down' });
    await narrow.close();
    await ended;
    expect(narrow.running).toBe(0);
    await expect(narrow.run(deed('exit', 0))).rejects.toMatchObject({ code: 'shutting_down' });
  });

  it('never runs more at once than it may, and leaves no process and no descriptor', async () => {
    const narrow = createGitRunner({ deathGuard, gitProgram: process.execPath, concurrency: 2 });
    await narrow.run(deed('exit', 0));
    const before = { processes: descendants().length, descriptors: openDescriptors() };
    let most = 0;
    const runs = Array.from({ length: 20 }, async (_, index) => {
      const outcome = await narrow.run(deed('exit', index % 3));
      most = Math.max(most, narrow.running);
      return outcome.exitCode;
    });
    expect(await Promise.all(runs)).toEqual(Array.from({ length: 20 }, (_, index) => index % 3));
    expect(most).toBeLessThanOrEqual(2);
    await expect
      .poll(() => ({ processes: descendants().length, descriptors: openDescriptors() }), soon)
      .toEqual(before);
  });

  it('run-parent-guard, R06: kill -9 of the host kills what it runs', async () => {
    const file = join(place, 'hosted');
    const program = await bundleProgram('git-host.ts', place);
    const host = spawn(process.execPath, [program, deathGuard, process.execPath, misbehave, 'breed', file], {
      stdio: 'ignore',
    });
    const processes = await reportedProcesses(file);
    expect(processes.filter(isRunning)).toHaveLength(2);
    host.kill('SIGKILL');
    await expect.poll(() => processes.filter(isRunning), { ...soon, timeout: 1000 }).toEqual([]);
  });
});

describe('real Git', () => {
  it('says its version', async () => {
    const git = createGitRunner({ deathGuard });
    expect(await readGitVersion(git)).toMatch(/^2\.\d+/);
    await git.close();
  });
});
