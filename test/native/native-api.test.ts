import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AuthorityError } from '../../src/errors/index.ts';
import { createNative, type NativeDirectory } from '../../src/native/index.ts';
import { testBinding } from '../support/test-binding.ts';
import { gitShape, temporaryDirectory } from './room.ts';

const native = createNative(testBinding);

/** The primitives as another service uses them. */
async function openDirectory(): Promise<{ readonly path: string; readonly directory: NativeDirectory }> {
  const path = temporaryDirectory();
  mkdirSync(join(path, 'd'));
  writeFileSync(join(path, 'd/f'), 'content');
  return { path, directory: await native.openRoot(path) };
}

async function codeOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    expect(error).toBeInstanceOf(AuthorityError);
    // The error of the system call stays within reach.
    expect((error as AuthorityError).cause).toBeInstanceOf(Error);
    return (error as AuthorityError).code;
  }
  return 'ok';
}

describe('the primitives for other services', () => {
  it('R40: read, list and tell of what lies beneath a held directory', async () => {
    const { path, directory } = await openDirectory();
    using held = directory;
    const { bytes, version } = await held.read('d/f', { limit: 100 });
    const facts = statSync(join(path, 'd/f'), { bigint: true });
    expect(Buffer.from(bytes).toString()).toBe('content');
    expect(version).toEqual({
      size: 7,
      modifiedNs: facts.mtimeNs,
      changedNs: facts.ctimeNs,
      inode: facts.ino,
      device: facts.dev,
      mode: Number(facts.mode),
      linkCount: 1,
      birthNs: facts.birthtimeNs,
    });
    expect((await held.stat('d')).type).toBe('directory');
    expect(Buffer.from((await held.list('d', { rootPath: path, limit: 10 })).names).toString()).toBe('f\0');
    expect(Buffer.from(await held.resolveLinks('d/f', path)).toString()).toBe('d/f');
    expect([await held.leadsHere(path), held.identity().inode]).toEqual([
      true,
      statSync(path, { bigint: true }).ino,
    ]);
    using file = await held.openFile('d/f');
    expect(Buffer.from(await file.read(3, 100)).toString()).toBe('tent');
    expect([file.version(), file.identity().inode]).toEqual([version, facts.ino]);
    using inner = await held.openDirectory('d');
    expect(readFileSync(`${inner.descriptorPath()}/f`, 'utf8')).toBe('content');
  });

  it('R40: change what lies there, one version against another', async () => {
    const { path, directory } = await openDirectory();
    using held = directory;
    const { bytes, version } = await held.read('d/f', { limit: 100 });
    const change = {
      bytes: Buffer.from('changed'),
      baseBytes: bytes,
      baseInode: version.inode,
      baseDevice: version.device,
      temporaryName: '.t',
    };
    expect((await held.replace('d/f', change)).outcome).toBe('committed');
    expect((await held.replace('d/f', change)).outcome).toBe('conflict');
    const made = { bytes: Buffer.from('new'), mode: 0o600, temporaryName: '.t' };
    expect((await held.create('d/g', made)).outcome).toBe('created');
    expect((await held.create('d/g', made)).outcome).toBe('exists');
    await held.rename('d/g', 'h');
    await held.makeDirectory('e', 0o700);
    await held.removeDirectory('e');
    const h = await held.read('h', { limit: 100 });
    const removal = {
      baseBytes: h.bytes,
      baseInode: h.version.inode,
      baseDevice: h.version.device,
      temporaryName: '.t',
    };
    expect((await held.remove('h', removal)).outcome).toBe('removed');
    expect((await held.probeExchange()).supported).toBe(true);
    expect(readFileSync(join(path, 'd/f'), 'utf8')).toBe('changed');
    const lease = await held.openLease('lock');
    expect(lease.tryAcquire(0)).toBe(true);
    lease.close();
  });

  it('R10 R12 R41: refuse with the codes of this package, and keep the cause', async () => {
    const { path, directory } = await openDirectory();
    symlinkSync('/etc', join(path, 'out'));
    mkdirSync(join(path, 'git/refs'), { recursive: true });
    mkdirSync(join(path, 'git/objects'));
    writeFileSync(join(path, 'git/HEAD'), '');
    const guard = directory.guard(gitShape);
    expect(await codeOf(() => directory.read('missing', { limit: 1 }))).toBe('not_found');
    expect(await codeOf(() => directory.read('d/f', { limit: 1 }))).toBe('file_too_large');
    expect(await codeOf(() => directory.read('d', { limit: 1 }))).toBe('not_regular_file');
    expect(await codeOf(() => directory.read('../x', { limit: 1 }))).toBe('invalid_path');
    expect(await codeOf(() => directory.resolveLinks('out', path))).toBe('path_outside_workspace');
    expect(await codeOf(() => directory.read('git/HEAD', { limit: 1, guard }))).toBe('administrative_path');
    expect(await codeOf(() => directory.openFile('git/HEAD', guard))).toBe('administrative_path');
    expect(await codeOf(() => native.openRoot(join(path, 'missing')))).toBe('not_found');
    guard.close();
    directory.close();
    directory.close();
    expect(await codeOf(() => directory.identity())).toBe('internal_error');
    expect(await codeOf(() => directory.guard(gitShape))).toBe('internal_error');
    expect(await codeOf(() => directory.stat('d'))).toBe('internal_error');
  });

  it('R16: tell what the kernel offers', () => {
    expect(native.probe().openat2).toEqual({ available: true, code: null });
  });
});
