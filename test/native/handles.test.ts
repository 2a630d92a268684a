import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import type { DirectoryHandle, FileHandle, PathGuard } from '../../src/native/binding.ts';
import { testAddonPath, testBinding } from '../support/test-binding.ts';
import { gitShape, Room } from './room.ts';

type Method = (...args: unknown[]) => unknown;

const facts = new BigInt64Array(9);
const list = { rootPath: '/', limit: 10 };

/** Every method of a directory that this room of the addon has, with arguments that are good. */
const directoryCalls: Readonly<Record<string, readonly unknown[]>> = {
  identity: [],
  place: [],
  descriptorPath: [],
  leadsHereCached: ['/'],
  leadsHere: ['/'],
  openDirectory: ['.'],
  openFile: ['f', null],
  readCached: ['f', 10, facts, null],
  read: ['f', 10, facts, null],
  factsCached: ['f', facts],
  stat: ['f', null],
  list: ['.', list, null],
  resolveLinks: ['f', '/'],
};
const fileCalls: Readonly<Record<string, readonly unknown[]>> = { identity: [], facts: [], readAt: [0, 1] };
const guardCalls: Readonly<Record<string, readonly unknown[]>> = { check: ['f'] };

interface Held {
  readonly room: Room;
  readonly file: FileHandle;
  readonly guard: PathGuard;
}

async function holdAll(): Promise<Held> {
  const room = await Room.open();
  room.write('f');
  return {
    room,
    file: await room.root.openFile('f', null),
    guard: testBinding.createGuard(room.root, gitShape),
  };
}

function methodOf(target: object, name: string): Method {
  return (target as Record<string, Method>)[name] as Method;
}

/** The error of a call, thrown or rejected. */
async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('handles of the addon', () => {
  it('cannot be made by JavaScript', async () => {
    const { root } = await Room.open();
    const Forged = (root as unknown as { constructor: new () => object }).constructor;
    class Derived extends Forged {}
    expect(() => new Forged()).toThrow(TypeError);
    expect(() => new Derived()).toThrow(TypeError);
    expect(() => Reflect.construct(Forged, [], Object)).toThrow(TypeError);
  });

  it('refuse every receiver that is not of their class', async () => {
    const { room, file, guard } = await holdAll();
    const classes = [
      { real: room.root, calls: { ...directoryCalls, close: [] } },
      { real: file, calls: { ...fileCalls, close: [] } },
      { real: guard, calls: { ...guardCalls, close: [] } },
    ];
    for (const { real, calls } of classes) {
      const others = classes.map((each) => each.real).filter((each) => each !== real);
      const forged = [
        {},
        7,
        null,
        undefined,
        'x',
        [],
        Object.create(real),
        new Proxy(real, {}),
        { ...real },
        ...others,
      ];
      for (const [name, args] of Object.entries(calls)) {
        for (const receiver of forged) {
          const failure = await failureOf(() => methodOf(real, name).call(receiver, ...args));
          expect(failure, `${name} on ${String(Object.prototype.toString.call(receiver))}`).toBeInstanceOf(
            TypeError,
          );
        }
      }
    }
    expect(room.readWarm('f') ?? (await room.read('f'))).toBe('f');
    file.close();
    guard.close();
  });

  it('refuse an argument that is no guard, or the guard of another directory', async () => {
    const { room, file, guard } = await holdAll();
    const other = await Room.open();
    for (const wrong of [{}, 7, 'x', file, room.root, Object.create(guard), other.guard]) {
      const failure = await failureOf(() => room.root.readCached('f', 10, facts, wrong as PathGuard));
      expect(failure).toMatchObject({ code: 'EINVAL' });
      await expect(room.root.read('f', 10, facts, wrong as PathGuard)).rejects.toMatchObject({
        code: 'EINVAL',
      });
    }
    expect(() => testBinding.createGuard({} as DirectoryHandle, gitShape)).toThrow(
      expect.objectContaining({ code: 'EINVAL' }),
    );
    file.close();
    guard.close();
  });

  it('stay in use by a call whose arguments close them while they are read', async () => {
    const listed = await Room.open();
    listed.write('f');
    const options = {
      rootPath: '/',
      get limit(): number {
        listed.root.close();
        return 10;
      },
    };
    expect(Buffer.from((await listed.root.list('.', options, null)).names).toString()).toBe('f\0');
    await expect(listed.root.list('.', list, null)).rejects.toMatchObject({ code: 'WA_HANDLE_CLOSED' });

    const { root } = await Room.open();
    const rules = {
      closedIdentities: [],
      get closedShape(): string[] {
        root.close();
        return ['HEAD'];
      },
    };
    const guard = testBinding.createGuard(root, rules);
    await guard.check('missing');
    guard.close();
  });

  it('refuse arguments of the wrong type instead of reading wild memory', async () => {
    const { root } = await Room.open();
    const wrong = [
      undefined,
      null,
      1.5,
      -1,
      Number.NaN,
      {},
      Symbol('x'),
      new Float64Array(8),
      new ArrayBuffer(8),
      () => 1,
    ];
    for (const value of wrong) {
      const refused = expect.objectContaining({ code: 'EINVAL' });
      expect(() => root.readCached(value as never, 10, facts, null)).toThrow(refused);
      expect(() => root.readCached('f', value as never, facts, null)).toThrow(refused);
      expect(() => root.readCached('f', 10, value as never, null)).toThrow(refused);
      expect(() => root.leadsHereCached(value as never)).toThrow(refused);
      await expect(root.openDirectory(value as never)).rejects.toThrow(refused);
      await expect(testBinding.openRoot(value as never, {})).rejects.toThrow(refused);
    }
    expect(() => root.readCached('f', 10, new BigInt64Array(8), null)).toThrow(
      expect.objectContaining({ code: 'EINVAL' }),
    );
  });

  it('refuse every call after close, and a second close is harmless', async () => {
    const { room, file, guard } = await holdAll();
    const root = await testBinding.openRoot(room.path, {});
    const rootGuard = testBinding.createGuard(root, gitShape);
    for (const handle of [root, file, guard, rootGuard]) {
      handle.close();
      handle.close();
    }
    const closed = { code: 'WA_HANDLE_CLOSED' };
    for (const [name, args] of Object.entries(directoryCalls)) {
      expect(await failureOf(() => methodOf(root, name).apply(root, [...args])), name).toMatchObject(closed);
    }
    for (const [name, args] of Object.entries(fileCalls)) {
      expect(await failureOf(() => methodOf(file, name).apply(file, [...args])), name).toMatchObject(closed);
    }
    expect(await failureOf(() => guard.check('f'))).toMatchObject(closed);
    expect(await failureOf(() => room.root.read('f', 10, facts, guard))).toMatchObject(closed);
    expect(() => testBinding.createGuard(root, gitShape)).toThrow(expect.objectContaining(closed));
  });

  it('let running calls end when they are closed under them', async () => {
    const room = await Room.open();
    for (let index = 0; index < 200; index += 1) room.write(`d/file-${index}`, Buffer.alloc(100_000, index));
    const root = await testBinding.openRoot(room.path, {});
    const guard = testBinding.createGuard(root, gitShape);
    const file = await root.openFile('d/file-1', guard);
    // More than the pool has threads, so that most have not begun when the handles close.
    const running = Array.from({ length: 100 }, (_, index) => [
      root.read(`d/file-${index}`, 1 << 20, new BigInt64Array(9), guard).then((bytes) => bytes[0] === index),
      root.list('d', list, guard).then(({ types }) => types.length === 10),
      file.readAt(0, 100_000).then((bytes) => bytes.every((byte) => byte === 1)),
    ]).flat();
    for (const handle of [root, guard, file]) handle.close();
    expect(new Set(await Promise.all(running))).toEqual(new Set([true]));
  });

  it('are closed by the garbage collector when they are dropped', async () => {
    const room = await Room.open();
    const before = testBinding.openHandles();
    const drop = async () => {
      const root = await testBinding.openRoot(room.path, {});
      const guard = testBinding.createGuard(root, gitShape);
      await guard.check('x');
      expect(testBinding.openHandles()).toBeGreaterThan(before);
    };
    await drop();
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    await expect
      .poll(
        async () => {
          collect();
          await turn();
          return testBinding.openHandles();
        },
        { timeout: 20_000, interval: 10 },
      )
      .toBe(before);
  });
});

describe('the end of an environment', () => {
  const program = join(import.meta.dirname, 'leave-open.mjs');

  it.for(['return', 'exit', 'throw', 'terminate'])('closes what a worker left open: %s', async (way) => {
    const room = await Room.open();
    for (let index = 0; index < 50; index += 1) room.write(`d/file-${index}`, Buffer.alloc(100_000, index));
    const before = readdirSync('/proc/self/fd').length;
    const worker = new Worker(program, { argv: [testAddonPath, room.path, way], stderr: true });
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.once('error', () => undefined);
    await new Promise((resolve) => worker.once('message', resolve));
    if (way === 'terminate') await worker.terminate();
    await ended;
    // The pipes of the worker itself close a moment after its exit.
    await expect
      .poll(() => readdirSync('/proc/self/fd').length, { timeout: 10_000 })
      .toBeLessThanOrEqual(before);
  });

  it.for(['return', 'exit'])('does not hurt a process that ends with calls running: %s', async (way) => {
    const room = await Room.open();
    for (let index = 0; index < 50; index += 1) room.write(`d/file-${index}`, Buffer.alloc(100_000, index));
    // Fails when the program is ended by a signal or with another code.
    await promisify(execFile)(process.execPath, [program, testAddonPath, room.path, way]);
  });
});
