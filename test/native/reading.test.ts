import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  constants,
  openSync,
  readSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { fileFacts } from '../../src/native/binding.ts';
import { mayMount, mount, mountTmpfs } from '../support/mounts.ts';
import { testBinding } from '../support/test-binding.ts';
import { codeOf, Room, temporaryDirectory } from './room.ts';

/** Sizes around every threshold of the addon: pages, the shared memory of small results, the scratch buffer. */
const sizes = [
  0,
  1,
  4095,
  4096,
  4097,
  8191,
  8192,
  8193,
  65535,
  65536,
  65537,
  262_144,
  1 << 20,
  (1 << 20) + 1,
];

function pattern(size: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: size }, (_, index) => (index * 31 + size) % 251));
}

describe('reading a whole file', () => {
  it.for(sizes)('R10: gives exactly its %i bytes, here and on the pool', async (size) => {
    const room = await Room.open();
    const content = pattern(size);
    room.write('d/f', content);
    if (size <= 65536) await room.warm('d/f');
    for (const guard of [room.guard, null]) {
      for (let time = 0; time < 4; time += 1) {
        const waited = await room.root.read('d/f', size, room.facts, guard);
        expect(content.equals(waited)).toBe(true);
        expect(room.facts[fileFacts.size]).toBe(BigInt(size));
        const cached = room.root.readCached('d/f', size, room.facts, guard);
        if (size <= 65536) expect(content.equals(cached as Uint8Array)).toBe(true);
        else expect(cached).toBeUndefined();
      }
    }
  });

  it('R10: refuses a file above the limit with its size, whatever was read before', async () => {
    const room = await Room.open();
    for (const size of [11, 70_000, 3 << 20]) {
      room.write('f', Buffer.alloc(size));
      for (let time = 0; time < 3; time += 1) {
        room.facts.fill(0n);
        expect(() => room.root.readCached('f', 10, room.facts, null)).toThrow(
          expect.objectContaining({ code: 'EFBIG' }),
        );
        expect(room.facts[fileFacts.size]).toBe(BigInt(size));
        room.facts.fill(0n);
        await expect(room.read('f', 10)).rejects.toMatchObject({ code: 'EFBIG' });
        expect(room.facts[fileFacts.size]).toBe(BigInt(size));
      }
    }
    room.write('f', '0123456789');
    expect(await room.warm('f')).toBe('0123456789');
    await expect(room.read('f', 9)).rejects.toMatchObject({ code: 'EFBIG' });
    expect(() => room.readWarm('f', 9)).toThrow(expect.objectContaining({ code: 'EFBIG' }));
  });

  it('results do not share bytes: later reads change nothing of earlier ones', async () => {
    const room = await Room.open();
    const contents = Array.from({ length: 500 }, (_, index) => pattern(index * 17));
    for (const [index, content] of contents.entries()) room.write(`f${index}`, content);
    const results: Uint8Array[] = [];
    for (let index = 0; index < contents.length; index += 1) {
      await room.warm(`f${index}`);
      results.push(room.root.readCached(`f${index}`, 1 << 20, room.facts, room.guard) as Uint8Array);
    }
    for (const [index, content] of contents.entries())
      expect(content.equals(results[index] as Uint8Array)).toBe(true);
  });

  it('what a refused read had in memory is not left beside the results of others', async () => {
    const room = await Room.open();
    room.write('a/f', 'open');
    await room.warm('a/f');
    const shown = room.root.readCached('a/f', 100, room.facts, room.guard) as Uint8Array;
    room.write('a/f', 'secret-secret-secret');
    room.writeGitShape('a');
    expect(await room.readOrCode('a/f')).toBe('WA_CLOSED_DIRECTORY');
    const memory = Buffer.from(shown.buffer);
    expect(memory.includes('secret-secret-secret')).toBe(false);
  });

  it('R14: is never a mixture of two versions of a file that is being rewritten', async () => {
    const room = await Room.open();
    const size = 60_000;
    const versions = ['a', 'b', 'c'].map((letter) => Buffer.alloc(size, letter));
    room.write('f', versions[0]);
    const program = `
      const fs = require('node:fs'); const fd = fs.openSync(process.argv[1], 'r+'); let turn = 0;
      const all = ['a', 'b', 'c'].map((letter) => Buffer.alloc(${size}, letter));
      process.stdout.write('ready');
      for (;;) fs.writeSync(fd, all[turn++ % 3], 0, ${size}, 0);`;
    const writer = await startProgram(program, room.at('f'));
    const seen = new Set<string>();
    for (let round = 0; round < 3000; round += 1) {
      const content = await room.readOrCode('f');
      seen.add(content.length === size ? (new Set(content).size === 1 ? 'whole' : 'mixed') : content);
    }
    writer.kill();
    // EAGAIN is the honest answer under such a writer; a mixture would be a torn read that the times gave away.
    seen.delete('EAGAIN');
    seen.delete('whole');
    expect([...seen]).toEqual([]);
  });

  it('R14: of a file that grows and shrinks all the time is as long as it says', async () => {
    const room = await Room.open();
    room.write('f', 'x');
    const program = `
      const fs = require('node:fs'); process.stdout.write('ready');
      for (let size = 0; ; size = (size + 7919) % 200000) fs.truncateSync(process.argv[1], size);`;
    const writer = await startProgram(program, room.at('f'));
    for (let round = 0; round < 1500; round += 1) {
      try {
        const bytes =
          room.root.readCached('f', 1 << 20, room.facts, room.guard) ??
          (await room.root.read('f', 1 << 20, room.facts, room.guard));
        expect(BigInt(bytes.length)).toBe(room.facts[fileFacts.size]);
      } catch (error) {
        expect(codeOf(error)).toBe('EAGAIN');
      }
    }
    writer.kill();
  });

  it('R10: a file whose size says nothing is EAGAIN, not empty', async ({ skip }) => {
    if (!mayMount) skip('needs root');
    const path = temporaryDirectory();
    await mount(path, '-t', 'proc', 'proc');
    const room = await Room.open({ path });
    expect(await room.readOrCode('version')).toBe('EAGAIN');
    expect(await room.readOrCode('self')).toBe('ELOOP');
  });

  it('R10: a name may hold any bytes but slash and NUL', async () => {
    const room = await Room.open();
    const name = Buffer.from([0x66, 0xff, 0x6f, 0x0a, 0x01, 0x5c]);
    writeFileSync(Buffer.concat([Buffer.from(`${room.path}/`), name]), 'bytes');
    expect(await room.readOrCode(name)).toBe('bytes');
    // U+FFFD as such is a character like any other; only what became one is refused.
    room.write('a\ufffdb', 'replacement');
    expect(await room.readOrCode('a\ufffdb')).toBe('replacement');
    expect(await room.readOrCode('a\ud800b')).toBe('EINVAL');
    expect(await room.readOrCode('a\udc00\ufffd')).toBe('EINVAL');
    room.write('a\u{1f600}b', 'pair');
    expect(await room.readOrCode('a\u{1f600}b')).toBe('pair');
  });

  it('R10: names and paths that are too long are ENAMETOOLONG', async () => {
    const room = await Room.open();
    expect(await room.readOrCode('x'.repeat(256))).toBe('ENAMETOOLONG');
    expect(await room.readOrCode('x'.repeat(255))).toBe('ENOENT');
    const longest = `${'a/'.repeat(2047)}b`;
    expect(longest).toHaveLength(4095);
    expect(await room.readOrCode(longest)).toBe('ENOENT');
    expect(await room.readOrCode(`${longest}b`)).toBe('ENAMETOOLONG');
    expect(await room.readOrCode('\u00e9'.repeat(2048))).toBe('ENAMETOOLONG');
  });
});

describe('what is no regular file', () => {
  it('R10: a FIFO is refused without releasing its writer, on every way to read', async () => {
    const room = await Room.open();
    room.write('d/f');
    await room.read('d/f');
    execFileSync('mkfifo', [room.at('d/p')]);
    for (let time = 0; time < 3; time += 1) {
      expect(await room.readOrCode('d/p')).toBe('WA_NOT_REGULAR');
      await expect(room.root.openFile('d/p', room.guard)).rejects.toMatchObject({ code: 'WA_NOT_REGULAR' });
      await expect(room.root.read('d/p', 10, room.facts, null)).rejects.toMatchObject({
        code: 'WA_NOT_REGULAR',
      });
    }
    // Nobody has it open for reading: only then is this ENXIO (fifo(7)).
    expect(() => openSync(room.at('d/p'), constants.O_WRONLY | constants.O_NONBLOCK)).toThrow(
      expect.objectContaining({ code: 'ENXIO' }),
    );
    // A writer that waits for a reader goes on waiting: the pipe it gets in the end is the test's own.
    const writer = open(room.at('d/p'), 'w');
    for (let time = 0; time < 3; time += 1) expect(await room.readOrCode('d/p')).toBe('WA_NOT_REGULAR');
    const reader = openSync(room.at('d/p'), constants.O_RDONLY | constants.O_NONBLOCK);
    const handle = await writer;
    await handle.write('through');
    const buffer = Buffer.alloc(7);
    readSync(reader, buffer);
    expect(buffer.toString()).toBe('through');
    await handle.close();
    closeSync(reader);
  });

  it('R10: a FIFO that takes the place of a warm file is refused', async () => {
    const room = await Room.open();
    room.write('d/f');
    expect(await room.warm('d/f')).toBe('d/f');
    execFileSync('mkfifo', [room.at('p')]);
    execFileSync('mv', [room.at('p'), room.at('d/f')]);
    for (let time = 0; time < 4; time += 1) expect(await room.readOrCode('d/f')).toBe('WA_NOT_REGULAR');
  });

  it('R10: a directory and the root are refused', async () => {
    const room = await Room.open();
    room.write('d/f');
    expect(await room.readOrCode('d')).toBe('WA_NOT_REGULAR');
    await expect(room.root.openFile('d', null)).rejects.toMatchObject({ code: 'WA_NOT_REGULAR' });
    expect(await room.readOrCode('.')).toBe('EINVAL');
  });
});

describe.runIf(mayMount)('file systems', () => {
  it('R10: tmpfs is read without the pool', async () => {
    const path = temporaryDirectory();
    await mountTmpfs(path);
    const room = await Room.open({ path });
    room.write('a/f', pattern(60_000));
    expect(await room.warm('a/f')).toBe(pattern(60_000).toString());
  });

  it('R14: overlayfs: a file that is copied up by a writer is read anew', async () => {
    const top = temporaryDirectory();
    for (const name of ['lower/a', 'upper', 'work', 'merged'])
      execFileSync('mkdir', ['-p', `${top}/${name}`]);
    writeFileSync(`${top}/lower/a/f`, 'lower');
    const layers = `lowerdir=${top}/lower,upperdir=${top}/upper,workdir=${top}/work`;
    await mount(`${top}/merged`, '-t', 'overlay', '-o', layers, 'overlay');
    const room = await Room.open({ path: `${top}/merged` });
    expect(await room.warm('a/f')).toBe('lower');
    // In place: the name stays, and a descriptor from before still leads to the lower file.
    const fd = openSync(room.at('a/f'), 'r+');
    writeSync(fd, 'UPPER');
    closeSync(fd);
    expect(await room.readOrCode('a/f')).toBe('UPPER');
    expect(await room.warm('a/f')).toBe('UPPER');
    appendFileSync(room.at('a/f'), '!');
    expect(await room.readOrCode('a/f')).toBe('UPPER!');
    room.writeGitShape('a');
    expect(await room.readOrCode('a/f')).toBe('WA_CLOSED_DIRECTORY');
  });
});

describe('a file handle', () => {
  it('R10: reads any part of the file it was opened on, whatever becomes of the name', async () => {
    const room = await Room.open();
    const content = pattern(300_000);
    room.write('d/f', content);
    const file = await room.root.openFile('d/f', room.guard);
    execFileSync('rm', [room.at('d/f')]);
    const cases = [
      [0, 0],
      [0, 10],
      [299_990, 10],
      [299_990, 1000],
      [300_000, 10],
      [1e12, 10],
      [100, 250_000],
      [0, Number.MAX_SAFE_INTEGER],
    ] as const;
    for (const [position, length] of cases) {
      const part = await file.readAt(position, length);
      expect(content.subarray(position, position + length).equals(part)).toBe(true);
    }
    for (const wrong of [-1, 1.5, Number.NaN, 2 ** 53, '1']) {
      await expect(file.readAt(wrong as number, 1)).rejects.toMatchObject({ code: 'EINVAL' });
    }
    expect(file.facts()[fileFacts.linkCount]).toBe(0n);
    file.close();
  });

  it('gives what is left when the file shrinks', async () => {
    const room = await Room.open();
    room.write('f', pattern(1000));
    const file = await room.root.openFile('f', null);
    truncateSync(room.at('f'), 10);
    expect(await file.readAt(5, 100)).toHaveLength(5);
    expect(file.facts()[fileFacts.size]).toBe(10n);
    file.close();
  });

  it('is refused in a closed directory and for every other kind of entry', async () => {
    const room = await Room.open();
    room.writeGitShape('g');
    await expect(room.root.openFile('g/HEAD', room.guard)).rejects.toMatchObject({
      code: 'WA_CLOSED_DIRECTORY',
    });
    const before = testBinding.openHandles();
    await expect(room.root.openFile('missing', room.guard)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(testBinding.openHandles()).toBe(before);
  });
});

async function startProgram(source: string, file: string): Promise<{ kill(): void }> {
  const { spawn } = await import('node:child_process');
  const child = spawn(process.execPath, ['-e', source, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return { kill: () => void child.kill('SIGKILL') };
}
