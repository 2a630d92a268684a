import { execFile } from 'node:child_process';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { mayMount, mount, mountTmpfs, unmount } from '../support/mounts.ts';
import { asNobody, GuardedReader } from './guarded-reader.ts';
import { Room, temporaryDirectory } from './room.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

describe.runIf(isRoot)('a guarded read of another user', () => {
  const changes: readonly { name: string; take: (room: Room) => void; give: (room: Room) => void }[] = [
    {
      name: 'search permission of an ancestor',
      take: (room) => chmodSync(room.at('a'), 0o700),
      give: (room) => chmodSync(room.at('a'), 0o755),
    },
    {
      name: 'search permission of the parent',
      take: (room) => chmodSync(room.at('a/b'), 0o600),
      give: (room) => chmodSync(room.at('a/b'), 0o755),
    },
    {
      name: 'read permission of the file',
      take: (room) => chmodSync(room.at('a/b/f'), 0o600),
      give: (room) => chmodSync(room.at('a/b/f'), 0o644),
    },
    {
      name: 'ownership of the file',
      take: (room) => {
        chmodSync(room.at('a/b/f'), 0o400);
        chownSync(room.at('a/b/f'), 0, 0);
      },
      give: (room) => chownSync(room.at('a/b/f'), 65534, 65534),
    },
  ];

  it.for(changes)('R10: ends when this is taken away, warm or not: $name', async ({ take, give }) => {
    const room = await Room.open();
    chmodSync(room.path, 0o755);
    room.write('a/b/f');
    const reader = GuardedReader.start(room.path, 'a/b/f', 'warm', asNobody);
    expect(await reader.outcome()).toEqual({ content: 'a/b/f', warm: true });
    take(room);
    expect(await reader.read()).toMatchObject({ code: 'EACCES' });
    give(room);
    expect(await reader.read()).toMatchObject({ content: 'a/b/f' });
  });
});

describe('without watches', () => {
  it.runIf(isRoot)('R12: every directory is examined at every read', async () => {
    const room = await Room.open();
    room.write('a/b/c/f');
    // Limits of inotify are per user namespace (namespaces(7)): a new one, which may watch one directory.
    const script = 'echo 1 > /proc/sys/user/max_inotify_watches; exec "$0" "$@"';
    const inNamespace = ['unshare', '--user', '--map-root-user', 'sh', '-c', script];
    const reader = GuardedReader.start(room.path, 'a/b/c/f', 'cold', inNamespace);
    // Never without the pool: it cannot be remembered.
    expect(await reader.outcome()).toEqual({ content: 'a/b/c/f', warm: false });
    room.writeGitShape('a/b');
    expect(await reader.read()).toMatchObject({ code: 'WA_CLOSED_DIRECTORY' });
  });

  it.runIf(isRoot)('R12: where no inotify instance is to be had at all, too', async () => {
    const room = await Room.open();
    room.write('a/f');
    const script = 'echo 0 > /proc/sys/user/max_inotify_instances; exec "$0" "$@"';
    const reader = GuardedReader.start(room.path, 'a/f', 'cold', [
      'unshare',
      '--user',
      '--map-root-user',
      'sh',
      '-c',
      script,
    ]);
    expect(await reader.outcome()).toEqual({ content: 'a/f', warm: false });
    room.writeGitShape('a');
    expect(await reader.read()).toMatchObject({ code: 'WA_CLOSED_DIRECTORY' });
  });

  it.runIf(mayMount)('R12: on a file system that other machines may change, too', async () => {
    const path = temporaryDirectory();
    // ramfs stands for every type that is not on the list.
    await mount(path, '-t', 'ramfs', 'ramfs');
    const room = await Room.open({ path });
    room.write('a/f');
    expect(await room.read('a/f')).toBe('a/f');
    expect(room.readWarm('a/f')).toBeUndefined();
    room.writeGitShape('a');
    expect(await room.readOrCode('a/f')).toBe('WA_CLOSED_DIRECTORY');
    await expect(room.root.list('.', { rootPath: path, limit: 10 }, room.guard)).resolves.toMatchObject({
      closed: Uint8Array.of(1),
    });
  });
});

describe.runIf(mayMount)('mounts below a warm guard', () => {
  /** What stands under the path after something was mounted over each of these. */
  it.for(['a', 'a/b'])('R11: one that covers %s is seen at the next read', async (place) => {
    const room = await Room.open();
    room.write('a/b/f');
    expect(await room.warm('a/b/f')).toBe('a/b/f');
    await mountTmpfs(room.at(place));
    room.write('a/b/f', 'mounted');
    expect(await room.readOrCode('a/b/f')).toBe('EXDEV');
    await unmount(room.at(place));
    expect(await room.readOrCode('a/b/f')).toBe('a/b/f');
  });

  it('R11: one over the file itself, too', async () => {
    const room = await Room.open();
    room.write('a/f');
    room.write('other');
    expect(await room.warm('a/f')).toBe('a/f');
    writeFileSync(room.at('other'), 'mounted');
    await run('mount', ['--bind', room.at('other'), room.at('a/f')]);
    expect(await room.readOrCode('a/f')).toBe('EXDEV');
    await unmount(room.at('a/f'));
    expect(await room.readOrCode('a/f')).toBe('a/f');
  });

  it('R12: where the root allows mounts, the rules hold beyond them, and a mount can always be taken away', async () => {
    const room = await Room.open({ root: { allowMounts: true } });
    room.write('a/f');
    await mountTmpfs(room.at('a/m'));
    room.write('a/m/d/f', 'mounted');
    for (let time = 0; time < 4; time += 1) expect(await room.readOrCode('a/m/d/f')).toBe('mounted');
    room.writeGitShape('a/m/d');
    expect(await room.readOrCode('a/m/d/f')).toBe('WA_CLOSED_DIRECTORY');
    // Not lazily: it fails while anything of ours is open there.
    await run('umount', [room.at('a/m')]);
    expect(await room.readOrCode('a/m/d/f')).toBe('ENOENT');
    expect(await room.readOrCode('a/f')).toBe('a/f');
  });
});
