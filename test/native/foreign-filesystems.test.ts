import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, type TestContext, test } from 'vitest';
import { mayMount, mountTmpfs, unmount } from '../support/mounts.ts';
import { testBinding } from '../support/test-binding.ts';
import { gitShape, Room, temporaryDirectory } from './room.ts';

interface Request {
  readonly operation: string;
  /** Id of the thread that waited for the answer; the JavaScript thread has that of the process. */
  readonly thread: number;
}

/** Why no FUSE file system can be mounted here; null where it can. */
const missing = ((): string | null => {
  if (!mayMount) return 'mounting needs root';
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK);
    return null;
  } catch {
    return 'there is no /dev/fuse';
  }
})();

function needFuse({ skip }: TestContext): void {
  if (missing !== null) skip(missing);
}

/** Mounts a file system whose every question to its server is told, until the test ends. */
async function mountServed(target: string, type: string, source: string): Promise<() => Promise<Request[]>> {
  const server = fork(join(import.meta.dirname, 'fuse-server.mjs'), [target, type, source]);
  const ended = once(server, 'exit');
  onTestFinished(async () => {
    if (server.connected) server.disconnect();
    expect(await ended).toEqual([0, null]);
  });
  await Promise.race([once(server, 'message'), ended.then(() => Promise.reject(new Error('no server')))]);
  return async () => {
    const told = once(server, 'message');
    server.send('requests');
    return (await told)[0];
  };
}

/** A block device of its own, or null where loop devices are not to be had. */
function loopDevice(): string | null {
  const image = join(temporaryDirectory(), 'image');
  writeFileSync(image, Buffer.alloc(1 << 20));
  try {
    const device = execFileSync('losetup', ['-f', '--show', image], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
    onTestFinished(() => void execFileSync('losetup', ['-d', device]));
    return device;
  } catch {
    return null;
  }
}

describe('R10: the JavaScript thread never waits for the server of a file system', () => {
  test.for([['fuse'], ['fuseblk']] as const)('%s', async ([type], context) => {
    needFuse(context);
    const source = type === 'fuse' ? 'served' : loopDevice();
    if (source === null) return context.skip('there is no loop device');
    const path = temporaryDirectory();
    const requests = await mountServed(path, type, source);

    // Twice: a name that is not cached would be left to the pool in any case.
    (await testBinding.openRoot(path, {})).close();
    await requests();
    const room = await Room.open({ path, rules: gitShape });
    expect(await requests()).toContainEqual(expect.objectContaining({ operation: 'OPENDIR' }));
    for (let time = 0; time < 2; time += 1) {
      (await room.root.openDirectory('d')).close();
      expect(await room.root.leadsHere(path)).toBe(true);
      expect(await room.root.stat('f', room.guard)).toMatchObject({ type: 'file', size: 15 });
      expect(await room.read('f')).toBe('from the server');
      await room.root.list('.', { rootPath: path, limit: 10 }, room.guard);

      expect(room.root.leadsHereCached(path)).toBeUndefined();
      expect(room.root.factsCached('.', room.facts)).toBe(false);
      expect(room.root.factsCached('f', room.facts, true)).toBe(false);
      expect(room.readWarm('f')).toBeUndefined();
      expect(room.root.readCached('f', 100, room.facts, null)).toBeUndefined();
    }
    const asked = await requests();
    expect(asked).toContainEqual(expect.objectContaining({ operation: 'GETATTR' }));
    expect(asked.filter(({ thread }) => thread === process.pid)).toEqual([]);
  });

  test('beneath a local root that allows mounts', async (context) => {
    needFuse(context);
    const room = await Room.open({ root: { allowMounts: true } });
    room.write('local');
    const path = room.at('served');
    room.write('served/f');
    const requests = await mountServed(path, 'fuse', 'served');
    for (let time = 0; time < 2; time += 1) {
      (await room.root.openDirectory('served')).close();
      expect(await room.read('served/f')).toBe('from the server');
      expect(room.root.factsCached('served/f', room.facts)).toBe(false);
      expect(room.root.readCached('served/f', 100, room.facts, null)).toBeUndefined();
      expect(room.readWarm('served/f')).toBeUndefined();
      expect(room.root.factsCached('local', room.facts)).toBe(true);
    }
    const asked = await requests();
    expect(asked).toContainEqual(expect.objectContaining({ operation: 'OPEN' }));
    expect(asked.filter(({ thread }) => thread === process.pid)).toEqual([]);
  });

  test('when one takes the place, and so the mount number, of a local one', async (context) => {
    needFuse(context);
    const path = temporaryDirectory();
    await mountTmpfs(path);
    const local = await testBinding.openRoot(path, {});
    const facts = new BigInt64Array(16);
    expect(local.factsCached('.', facts)).toBe(true);
    expect(local.leadsHereCached(path)).toBe(true);
    local.close();
    await unmount(path);

    const requests = await mountServed(path, 'fuse', 'served');
    (await testBinding.openRoot(path, {})).close();
    const root = await testBinding.openRoot(path, {});
    expect(root.factsCached('.', facts)).toBe(false);
    expect(root.leadsHereCached(path)).toBeUndefined();
    root.close();
    const asked = await requests();
    expect(asked.filter(({ thread }) => thread === process.pid)).toEqual([]);
  });
});
