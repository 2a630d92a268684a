import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileFacts } from '../../src/native/binding.ts';
import { mayMount, mount, mountTmpfs, unmount } from '../support/mounts.ts';
import { testBinding } from '../support/test-binding.ts';
import { codeOf, Room, temporaryDirectory } from './room.ts';

describe('opening a root', () => {
  it('R05 R11: refuses a symbolic link anywhere on the way, and what is no directory', async () => {
    const room = await Room.open();
    room.write('real/d/f');
    symlinkSync('real', room.at('alias'));
    const codes = [
      ['real/d', 'ok'],
      ['alias', 'ELOOP'],
      ['alias/d', 'ELOOP'],
      ['real/d/f', 'ENOTDIR'],
      ['missing', 'ENOENT'],
    ] as const;
    for (const [path, expected] of codes) {
      const code = await testBinding.openRoot(room.at(path), {}).then(
        (root) => {
          root.close();
          return 'ok';
        },
        (error) => error.code,
      );
      expect([path, code]).toEqual([path, expected]);
    }
    for (const wrong of ['relative', '', '/a//b', '/a/', '/a/./b', '/a/../b', '//', '/\ud800', '/a\0']) {
      await expect(testBinding.openRoot(wrong, {})).rejects.toMatchObject({ code: 'EINVAL' });
    }
    (await testBinding.openRoot('/', {})).close();
    await expect(testBinding.openRoot('/proc/self/cwd', {})).rejects.toMatchObject({ code: 'ELOOP' });
  });
});

describe('identity', () => {
  it('R06: is what stat, statfs and the kernel say of the inode', async () => {
    const room = await Room.open();
    room.write('f');
    const file = await room.root.openFile('f', null);
    for (const [identity, path] of [
      [room.root.identity(), room.path],
      [file.identity(), room.at('f')],
    ] as const) {
      const facts = statSync(path, { bigint: true });
      expect(identity).toMatchObject({
        device: facts.dev,
        inode: facts.ino,
        mode: Number(facts.mode),
        uid: Number(facts.uid),
        gid: Number(facts.gid),
        linkCount: Number(facts.nlink),
        birthTimeNs: facts.birthtimeNs,
      });
      expect(identity.mountId).toBeGreaterThan(0n);
      expect(typeof identity.fileSystemId).toBe('bigint');
    }
    expect(file.identity().fileSystemId).toBe(room.root.identity().fileSystemId);
    file.close();
  });

  it('R05: its unchanging part is that of the opened directory, wherever the directory is moved', async () => {
    const room = await Room.open();
    mkdirSync(room.at('d/e'), { recursive: true });
    for (const [path, moved] of [
      ['d', 'moved'],
      ['moved/e', 'e'],
    ] as const) {
      const directory = await room.root.openDirectory(path);
      const { device, inode } = directory.identity();
      renameSync(room.at(path), room.at(moved));
      expect(directory.place()).toEqual({ device, inode });
      expect(directory.identity()).toMatchObject({ device, inode });
      directory.close();
    }
  });

  it('R06: tells a reused inode number from the one before', async () => {
    const room = await Room.open();
    const seen = new Map<bigint, string>();
    let reused = 0;
    for (let round = 0; round < 200; round += 1) {
      room.write('f');
      const file = await room.root.openFile('f', null);
      const { inode, handle, birthTimeNs } = file.identity();
      const who = `${handle?.type}:${Buffer.from(handle?.bytes ?? []).toString('hex')}:${birthTimeNs}`;
      if (seen.has(inode)) {
        reused += 1;
        expect(seen.get(inode)).not.toBe(who);
      }
      seen.set(inode, who);
      file.close();
      unlinkSync(room.at('f'));
    }
    // ext4 hands out the number that was freed last; elsewhere there may be nothing to tell apart.
    if (statfsSync(room.path).type === 0xef53) expect(reused).toBeGreaterThan(100);
  });

  it('R06: stays the same for two looks at one inode, by any name', async () => {
    const room = await Room.open();
    room.write('f');
    linkSync(room.at('f'), room.at('g'));
    const [f, g] = await Promise.all(['f', 'g'].map((name) => room.root.openFile(name, null)));
    expect(f?.identity()).toEqual(g?.identity());
    f?.close();
    g?.close();
  });

  it.runIf(mayMount)(
    'R06: has a handle on tmpfs, and a file identifier on overlayfs that survives a copy-up',
    async () => {
      const tmpfs = temporaryDirectory();
      await mountTmpfs(tmpfs);
      const onTmpfs = await Room.open({ path: tmpfs });
      expect(onTmpfs.root.identity().handle).not.toBeNull();

      const top = temporaryDirectory();
      for (const name of ['lower', 'upper', 'work', 'merged']) mkdirSync(`${top}/${name}`);
      writeFileSync(`${top}/lower/f`, 'lower');
      const layers = `lowerdir=${top}/lower,upperdir=${top}/upper,workdir=${top}/work`;
      await mount(`${top}/merged`, '-t', 'overlay', '-o', layers, 'overlay');
      const room = await Room.open({ path: `${top}/merged` });
      const before = await room.root.openFile('f', null);
      const first = before.identity();
      writeFileSync(room.at('f'), 'upper');
      const after = await room.root.openFile('f', null);
      if (testBinding.probe().fileIdentifierHandles) expect(first.handle).not.toBeNull();
      expect([after.identity().inode, after.identity().handle]).toEqual([first.inode, first.handle]);
      before.close();
      after.close();
    },
  );

  it.runIf(mayMount)('R06: tells two mounts of one directory apart', async () => {
    const room = await Room.open({ root: { allowMounts: true } });
    mkdirSync(room.at('d'));
    mkdirSync(room.at('m'));
    execFileSync('mount', ['--bind', room.at('d'), room.at('m')]);
    const [d, m] = await Promise.all(['d', 'm'].map((name) => room.root.openDirectory(name)));
    expect(m?.identity().inode).toBe(d?.identity().inode);
    expect(m?.identity().mountId).not.toBe(d?.identity().mountId);
    d?.close();
    m?.close();
    await unmount(room.at('m'));
  });
});

describe('whether a path still leads here', () => {
  it('R05: is true only while exactly this directory stands there', async () => {
    const room = await Room.open();
    room.write('parent/root/f');
    const root = await testBinding.openRoot(room.at('parent/root'), {});
    const path = room.at('parent/root');
    const leads = async () => {
      const cached = root.leadsHereCached(path);
      const waited = await root.leadsHere(path);
      expect([waited, undefined]).toContain(cached);
      return waited;
    };
    expect(await leads()).toBe(true);
    renameSync(path, room.at('parent/away'));
    expect(await leads()).toBe(false);
    mkdirSync(path);
    expect(await leads()).toBe(false);
    rmSync(path, { recursive: true });
    symlinkSync('away', path);
    expect(await leads()).toBe(false);
    unlinkSync(path);
    renameSync(room.at('parent/away'), path);
    expect(await leads()).toBe(true);
    renameSync(room.at('parent'), room.at('moved'));
    symlinkSync('moved', room.at('parent'));
    expect(await leads()).toBe(false);
    root.close();
  });

  it.runIf(mayMount)(
    'R05: not where the same directory is mounted once more, nor where another is mounted over it',
    async () => {
      const room = await Room.open();
      mkdirSync(room.at('root'));
      mkdirSync(room.at('alias'));
      const root = await testBinding.openRoot(room.at('root'), {});
      execFileSync('mount', ['--bind', room.at('root'), room.at('alias')]);
      expect(await root.leadsHere(room.at('alias'))).toBe(false);
      await unmount(room.at('alias'));
      await mountTmpfs(room.at('root'));
      expect(await root.leadsHere(room.at('root'))).toBe(false);
      await unmount(room.at('root'));
      expect(await root.leadsHere(room.at('root'))).toBe(true);
      root.close();
    },
  );
});

describe('facts of an entry', () => {
  it('R10: stat and factsCached tell of the entry itself, never of what a link leads to', async () => {
    const room = await Room.open();
    room.write('a/f', 'four');
    symlinkSync('/etc/passwd', room.at('a/l'));
    for (const [path, type] of [
      ['a', 'directory'],
      ['a/f', 'file'],
      ['a/l', 'symlink'],
      ['.', 'directory'],
    ] as const) {
      const facts = execFileSync('stat', ['-c', '%s %i %h %f', room.at(path)], { encoding: 'utf8' })
        .trim()
        .split(' ');
      const [size, inode, links, mode] = facts as [string, string, string, string];
      const entry = await room.root.stat(path, room.guard);
      expect(entry).toMatchObject({
        type,
        size: Number(size),
        inode: BigInt(inode),
        linkCount: Number(links),
        mode: Number.parseInt(mode, 16),
      });
      expect(room.root.factsCached(path, room.facts)).toBe(true);
      expect(room.facts[fileFacts.inode]).toBe(BigInt(inode));
      expect(room.facts[fileFacts.mode]).toBe(BigInt(`0x${mode}`));
      expect(room.facts[fileFacts.modifiedNs]).toBe(entry.modifiedNs);
      expect(room.facts[fileFacts.changedNs]).toBe(entry.changedNs);
    }
    symlinkSync('a', room.at('alias'));
    for (const [path, code] of [
      ['missing', 'ENOENT'],
      ['a/f/x', 'ENOTDIR'],
      ['alias/f', 'ELOOP'],
      ['../x', 'EINVAL'],
    ] as const) {
      await expect(room.root.stat(path, null)).rejects.toMatchObject({ code });
      // Or that it would have to wait, as for a name that nobody has asked for lately.
      expect([false, code]).toContain(attempt(() => room.root.factsCached(path, room.facts)));
    }
  });

  it('gives the place by which another process reaches exactly this directory', async () => {
    const room = await Room.open();
    room.write('d/f');
    const directory = await room.root.openDirectory('d');
    renameSync(room.at('d'), room.at('renamed'));
    mkdirSync(room.at('d'));
    expect(execFileSync('cat', [`${directory.descriptorPath()}/f`], { encoding: 'utf8' })).toBe('d/f');
    expect(dirname(directory.descriptorPath())).toBe(`/proc/${process.pid}/fd`);
    directory.close();
  });
});

/** The answer, or the code of the refusal. */
function attempt(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return codeOf(error);
  }
}
