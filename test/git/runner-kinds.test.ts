import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { createGitRunner, type GitCommand, type GitRunner } from '../../src/git/run-git.ts';
import { deathGuard } from '../support/addon.ts';
import { makePlace } from '../support/authority-lab.ts';
import { isRunning, reportedProcesses } from '../support/processes.ts';

const misbehave = fileURLToPath(new URL('../proof/programs/misbehave.mjs', import.meta.url));
const runners: GitRunner[] = [];

afterEach(async () => {
  for (const runner of runners.splice(0)) await runner.close();
});

function create(): GitRunner {
  const runner = createGitRunner({
    deathGuard,
    gitProgram: process.execPath,
    concurrency: 1,
    networkConcurrency: 1,
  });
  runners.push(runner);
  return runner;
}

function deed(parts: Partial<GitCommand>, ...words: readonly string[]): GitCommand {
  return {
    name: 'deed',
    arguments: [misbehave, ...words],
    environment: { PATH: '/usr/bin:/bin' },
    directory: '/',
    deadlineMs: 60_000,
    dataLimitBytes: 2 ** 30,
    outputLimitBytes: 1000,
    ...parts,
  };
}

it.each([0, 1, 1_000_000])('R20: an input of %i bytes arrives whole', async (size) => {
  const { stdout } = await create().run(deed({ input: Buffer.alloc(size, 'x') }, 'input'));
  expect(stdout.toString()).toBe(String(size));
});

it('an input that the program does not read is no failure', async () => {
  const { exitCode } = await create().run(deed({ input: Buffer.alloc(1_000_000) }, 'exit', '0'));
  expect(exitCode).toBe(0);
});

it('W47: a command that waits for another machine keeps no local one waiting', async () => {
  const runner = create();
  const slow = runner.run(deed({ network: true }, 'stay'));
  const ended = expect(slow).rejects.toMatchObject({ code: 'shutting_down' });
  expect((await runner.run(deed({}, 'exit', '0'))).exitCode).toBe(0);
  await expect(runner.run(deed({ network: true, deadlineMs: 50 }, 'exit', '0'))).rejects.toMatchObject({
    details: { reason: 'no-place' },
  });
  expect(runner.running).toBe(1);
  await runner.close();
  await ended;
  expect(runner.running).toBe(0);
});

it('W19: closing the runner kills what its network commands started', async () => {
  const place = await makePlace();
  const runner = create();
  const work = runner.run(deed({ network: true }, 'breed', join(place, 'pids')));
  const ended = expect(work).rejects.toMatchObject({ code: 'shutting_down' });
  const processes = await reportedProcesses(join(place, 'pids'));
  expect(processes.filter(isRunning)).toHaveLength(2);
  await runner.close();
  await ended;
  await expect.poll(() => processes.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  await rm(place, { recursive: true, force: true });
});

it('W32: what is streamed comes whole and in order, and is kept nowhere', async () => {
  let size = 0;
  const command = deed({ outputLimitBytes: 3_000_000 }, 'print', '3000000');
  const { exitCode, stdout } = await create().stream(command, (chunk) => {
    size += chunk.length;
  });
  expect([exitCode, size, stdout.length]).toEqual([0, 3_000_000, 0]);
});

it('R04: a stream over its limit is a failure, and nothing over the limit is handed on', async () => {
  let size = 0;
  const streamed = create().stream(deed({}, 'print', '100000'), (chunk) => {
    size += chunk.length;
  });
  await expect(streamed).rejects.toMatchObject({ details: { reason: 'output-limit' } });
  expect(size).toBeLessThanOrEqual(1000);
});

it('what a reader throws ends the program and is thrown', async () => {
  const runner = create();
  const thrown = new Error('enough');
  let calls = 0;
  const streamed = runner.stream(deed({ outputLimitBytes: 1e9 }, 'print', '10000000'), () => {
    calls += 1;
    throw thrown;
  });
  await expect(streamed).rejects.toBe(thrown);
  expect([calls, runner.running]).toEqual([1, 0]);
});
