import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/room-contents.ts';
import { failureOf, removeRequest, temporaryName, versionOf, WriteRoom } from './write-fixture.ts';

/** Whether this user may mount; without that, these file systems cannot be made. */
const mayMount = (() => {
  using place = temporaryDirectory();
  try {
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', place.path], { stdio: 'ignore' });
  } catch {
    return false;
  }
  execFileSync('umount', [place.path]);
  return true;
})();

/** A displaced file is closed when the answer is on its way, so the first attempts may find the mount busy. */
function unmount(path: string): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      execFileSync('umount', [path], { stdio: 'pipe' });
      return;
    } catch (error) {
      if (attempt === 50) throw error;
    }
  }
}

/** Mounts something on a fresh directory and unmounts it at the end. */
function mounted(...words: readonly string[]): { readonly path: string } & Disposable {
  const place = temporaryDirectory();
  execFileSync('mount', [...words, place.path]);
  return {
    path: place.path,
    [Symbol.dispose]: () => {
      unmount(place.path);
      place[Symbol.dispose]();
    },
  };
}

/** The file system's own directory is not removed with the room; its mount goes. */
async function roomOn(path: string): Promise<WriteRoom> {
  const directory = join(path, 'room');
  mkdirSync(directory, { recursive: true });
  return await WriteRoom.open(directory);
}

describe.runIf(mayMount)('R16: where the disk is full, nothing is changed', () => {
  test('a tmpfs of 1 MiB: ENOSPC, the old content whole, no temporary file, and room for the next', async () => {
    using disk = mounted('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs');
    await using room = await roomOn(disk.path);
    const old = 'o'.repeat(200_000);
    writeFileSync(room.at('f'), old);
    const big = 'n'.repeat(1_000_000);
    for (let count = 0; count < 20; count++) {
      const full = { code: 'ENOSPC', syscall: 'pwrite64', kept: undefined, inPlace: undefined };
      expect(await failureOf(room.replace('f', big))).toMatchObject(full);
      const request = { bytes: Buffer.from(big), mode: 0o644, temporaryName: temporaryName() };
      expect(await failureOf(room.root.create('g', request, null))).toMatchObject(full);
    }
    expect(readdirSync(room.path)).toEqual(['f']);
    expect(room.text('f')).toBe(old);
    expect(await room.replace('f', 'n'.repeat(200_000))).toMatchObject({ outcome: 'committed' });
  });

  test('a tmpfs without free inodes: ENOSPC at the creation', async () => {
    using disk = mounted('-t', 'tmpfs', '-o', 'nr_inodes=4', 'tmpfs');
    await using room = await roomOn(disk.path);
    writeFileSync(room.at('f'), 'old');
    writeFileSync(room.at('filler'), '');
    expect(await failureOf(room.replace('f', 'new'))).toMatchObject({ code: 'ENOSPC', syscall: 'openat2' });
    expect(readdirSync(room.path).sort()).toEqual(['f', 'filler']);
    expect(room.text('f')).toBe('old');
  });
});

describe.runIf(mayMount)('R16: a file system mounted read-only', () => {
  test('every change is EROFS, and so is the probe', async () => {
    using disk = mounted('-t', 'tmpfs', 'tmpfs');
    const room = await roomOn(disk.path);
    writeFileSync(room.at('f'), 'old');
    mkdirSync(room.at('d'));
    execFileSync('mount', ['-o', 'remount,ro', disk.path]);
    const base = versionOf(room.at('f'));
    const calls = [
      room.replace('f', 'new'),
      room.root.create('g', { bytes: Buffer.from('x'), mode: 0o644, temporaryName: temporaryName() }, null),
      room.root.remove('f', removeRequest(base), null),
      room.root.renameNoReplace('f', 'g', null),
      room.root.makeDirectory('e', 0o755, null),
      room.root.removeDirectory('d', null),
      room.root.unlinkIfSame('f', base.baseInode, base.baseDevice),
      room.root.exchange('f', 'd'),
    ];
    for (const failure of await Promise.all(calls.map(failureOf)))
      expect(failure).toMatchObject({ code: 'EROFS' });
    const probe = await room.root.probeExchange();
    expect(probe).toEqual({ supported: false, syscall: 'mkdirat', code: 'EROFS' });
    expect(readdirSync(room.path).sort()).toEqual(['d', 'f']);
    room.root.close();
  });
});

describe.runIf(mayMount)('R14: file systems that can exchange', () => {
  test('tmpfs: probed, replaced, created, removed', async () => {
    using disk = mounted('-t', 'tmpfs', 'tmpfs');
    await using room = await roomOn(disk.path);
    expect(await room.root.probeExchange()).toMatchObject({ supported: true });
    writeFileSync(room.at('f'), 'old');
    expect(await room.replace('f', 'new')).toMatchObject({
      outcome: 'committed',
      leaseChecked: true,
      kept: [],
    });
    expect(await room.root.remove('f', removeRequest(versionOf(room.at('f'))), null)).toEqual({
      outcome: 'removed',
    });
    expect(readdirSync(room.path)).toEqual([]);
  });

  /** An overlay whose lower layer holds `room/t`. */
  function overlay(lower: string, upper: string): { readonly path: string } & Disposable {
    mkdirSync(join(lower, 'room'), { recursive: true });
    writeFileSync(join(lower, 'room/t'), 'old');
    for (const name of ['upper', 'work']) mkdirSync(join(upper, name));
    const layers = `lowerdir=${lower},upperdir=${join(upper, 'upper')},workdir=${join(upper, 'work')}`;
    return mounted('-t', 'overlay', '-o', layers, 'overlay');
  }

  test('overlay-copy-up: a file of the lower layer is replaced, though the exchange itself copies it up', async () => {
    using lower = temporaryDirectory();
    using upper = temporaryDirectory();
    using merged = overlay(lower.path, upper.path);
    const room = await WriteRoom.open(join(merged.path, 'room'));
    expect(await room.replace('t', 'new')).toMatchObject({ outcome: 'committed', kept: [] });
    expect(room.text('t')).toBe('new');
    expect(readFileSync(join(lower.path, 'room/t'), 'utf8')).toBe('old');
    expect(readdirSync(room.path)).toEqual(['t']);
    expect(await room.replace('t', 'newer')).toMatchObject({ outcome: 'committed' });
    room.root.close();
  });

  test('overlay over layers of two file systems, where copying up may change the inode number', async () => {
    using lower = mounted('-t', 'tmpfs', 'tmpfs');
    using upper = temporaryDirectory();
    using merged = overlay(lower.path, upper.path);
    const room = await WriteRoom.open(join(merged.path, 'room'));
    expect(await room.replace('t', 'new')).toMatchObject({ outcome: 'committed', kept: [] });
    expect(await room.root.remove('t', removeRequest(versionOf(room.at('t'))), null)).toEqual({
      outcome: 'removed',
    });
    expect(readdirSync(room.path)).toEqual([]);
    room.root.close();
  });
});

describe.runIf(mayMount)('mount points are nobody to exchange with', () => {
  test('a file that is one is refused, and so is a path across one', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    writeFileSync(room.at('cover'), 'covering');
    mkdirSync(room.at('d'));
    execFileSync('mount', ['--bind', room.at('cover'), room.at('f')]);
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', room.at('d')]);
    try {
      writeFileSync(room.at('d/g'), 'old');
      expect(await failureOf(room.replace('f', 'new'))).toMatchObject({ code: 'EXDEV' });
      expect(await failureOf(room.replace('d/g', 'new'))).toMatchObject({ code: 'EXDEV' });
      expect(await failureOf(room.root.renameNoReplace('cover', 'd/h', null))).toMatchObject({
        code: 'EXDEV',
      });
      expect(await failureOf(room.root.removeDirectory('d', null))).toMatchObject({ code: 'EBUSY' });
      expect(room.leftovers()).toEqual([]);
      expect(statSync(room.at('cover')).size).toBe(8);
    } finally {
      execFileSync('umount', [room.at('f')]);
      execFileSync('umount', [room.at('d')]);
    }
  });
});
