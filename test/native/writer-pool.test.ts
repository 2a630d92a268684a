import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { testAddonPath } from '../support/test-binding.ts';
import { WriteRoom } from './write-fixture.ts';

const program = join(import.meta.dirname, 'write-and-leave.mjs');

/** Every file old or new, and how many are new. */
function countNew(room: WriteRoom): number {
  const files = readdirSync(room.path).filter((name) => name.startsWith('f'));
  const texts = files.map((name) => readFileSync(room.at(name), 'utf8'));
  expect(texts.filter((text) => text !== 'old' && text !== 'new')).toEqual([]);
  return texts.filter((text) => text === 'new').length;
}

describe('the end of an environment waits for running commits and drops the queued', () => {
  test('a process that runs out of other work ends all of them', async () => {
    await using room = await WriteRoom.open();
    const child = spawn(process.execPath, [program, testAddonPath, room.path, 'return', '64']);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(countNew(room)).toBe(64);
    expect(room.leftovers()).toEqual([]);
  });

  // On the main thread no hook of the environment runs then.
  test('process.exit: each file old or new, nothing half done', async () => {
    await using room = await WriteRoom.open();
    const child = spawn(process.execPath, [program, testAddonPath, room.path, 'exit', '200']);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(countNew(room)).toBeLessThanOrEqual(200);
    expect(room.leftovers()).toEqual([]);
  });

  test('process.exit in the middle of a commit', async () => {
    await using room = await WriteRoom.open();
    const child = spawn(process.execPath, [program, testAddonPath, room.path, 'exit-amid', '1']);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect([countNew(room), room.leftovers()]).toEqual([1, []]);
  });

  test.each(['return', 'exit', 'terminate'])(
    'a worker that leaves by %s, while the process goes on',
    async (way) => {
      await using room = await WriteRoom.open();
      for (let round = 0; round < 5; round++) {
        const worker = new Worker(program, { argv: [testAddonPath, room.path, way, '64'] });
        const ended = once(worker, 'exit');
        await once(worker, 'message');
        if (way === 'terminate') await worker.terminate();
        await ended;
        if (way === 'return') expect(countNew(room)).toBe(64);
        expect(countNew(room)).toBeLessThanOrEqual(64);
        expect(room.leftovers()).toEqual([]);
      }
      writeFileSync(room.at('f0'), 'old');
      expect(await room.replace('f0', 'new')).toMatchObject({ outcome: 'committed' });
    },
  );
});

test('threads are started as needed, up to eight, and none keeps an idle process alive', async () => {
  await using room = await WriteRoom.open();
  const threads = () => readdirSync('/proc/self/task').length;
  for (let index = 0; index < 64; index++) writeFileSync(room.at(`f${index}`), 'old');
  await room.replace('f0', 'new');
  const before = threads();
  await Promise.all(Array.from({ length: 63 }, (_, index) => room.replace(`f${index + 1}`, 'new')));
  expect(threads() - before).toBeLessThanOrEqual(8);
  expect(countNew(room)).toBe(64);
});
