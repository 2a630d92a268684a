import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testBinding } from '../support/test-binding.ts';
import { codeOf, gitShape, Room, temporaryDirectory } from './room.ts';

describe('the path guard', () => {
  it('R12: closes a directory with the shape of a Git directory, at any depth, and all beneath it', async () => {
    const room = await Room.open();
    room.writeGitShape('a/b/repository');
    room.write('a/b/repository/objects/pack/p');
    room.write('a/b/file');
    expect(await room.readOrCode('a/b/file')).toBe('a/b/file');
    for (const path of ['a/b/repository/HEAD', 'a/b/repository/objects/pack/p', 'a/b/repository/missing']) {
      expect(await room.readOrCode(path)).toBe('WA_CLOSED_DIRECTORY');
      await expect(room.root.openFile(path, room.guard)).rejects.toMatchObject({
        code: 'WA_CLOSED_DIRECTORY',
      });
      await expect(room.root.stat(path, room.guard)).rejects.toMatchObject({ code: 'WA_CLOSED_DIRECTORY' });
      await expect(room.guard?.check(path)).rejects.toMatchObject({ code: 'WA_CLOSED_DIRECTORY' });
    }
    const options = { rootPath: room.path, limit: 10 };
    for (const path of ['a/b/repository', 'a/b/repository/objects']) {
      await expect(room.root.list(path, options, room.guard)).rejects.toMatchObject({
        code: 'WA_CLOSED_DIRECTORY',
      });
      await expect(room.guard?.check(path)).rejects.toMatchObject({ code: 'WA_CLOSED_DIRECTORY' });
    }
    // Without the guard nothing is closed: it is the guard, not the path.
    expect(
      Buffer.from(await room.root.read('a/b/repository/HEAD', 100, room.facts, null)).toString(),
    ).toContain('ref:');
  });

  it('R12: a directory with only some of the names is open, and the root itself always is', async () => {
    const room = await Room.open();
    room.writeGitShape('.');
    room.write('a/HEAD');
    room.write('a/refs/x');
    expect(await room.readOrCode('HEAD')).toContain('ref:');
    expect(await room.readOrCode('a/refs/x')).toBe('a/refs/x');
    await room.guard?.check('.');
  });

  it('R12: closes directories by identity, under whatever name they stand now', async () => {
    const path = temporaryDirectory();
    mkdirSync(join(path, 'a/secret'), { recursive: true });
    writeFileSync(join(path, 'a/secret/f'), 'x');
    const { dev, ino } = statSync(join(path, 'a/secret'), { bigint: true });
    const room = await Room.open({
      path,
      rules: { closedShape: [], closedIdentities: [{ device: dev, inode: ino }] },
    });
    expect(await room.readOrCode('a/secret/f')).toBe('WA_CLOSED_DIRECTORY');
    renameSync(room.at('a/secret'), room.at('other'));
    expect(await room.readOrCode('other/f')).toBe('WA_CLOSED_DIRECTORY');
    room.write('a/secret/f', 'new');
    expect(await room.readOrCode('a/secret/f')).toBe('new');
  });

  it('a repeated read is answered on this thread, without any descriptor more than a few', async () => {
    const room = await Room.open();
    const before = testBinding.openHandles();
    for (let index = 0; index < 300; index += 1) room.write(`d${index}/e/f`);
    for (let index = 0; index < 300; index += 1)
      expect(await room.warm(`d${index}/e/f`)).toBe(`d${index}/e/f`);
    for (let index = 0; index < 300; index += 1) expect(room.readWarm(`d${index}/e/f`)).toBe(`d${index}/e/f`);
    expect(testBinding.openHandles() - before).toBeLessThanOrEqual(128);
  });

  describe('after a warm read', () => {
    /** Each turns what `a/b/f` leads to into something else, and says what the very next read must answer. */
    const changes: readonly {
      name: string;
      change: (room: Room) => void;
      answer?: string;
      content?: string;
    }[] = [
      {
        name: 'the directory becomes one with the shape of Git',
        change: (room) => room.writeGitShape('a/b'),
        answer: 'WA_CLOSED_DIRECTORY',
      },
      {
        name: 'the last name of the shape is moved in',
        change: (room) => {
          room.writeGitShape('other');
          for (const name of ['HEAD', 'objects', 'refs'])
            renameSync(room.at('other', name), room.at('a/b', name));
        },
        answer: 'WA_CLOSED_DIRECTORY',
      },
      {
        name: 'the last name of the shape is a symbolic link',
        change: (room) => {
          room.writeGitShape('a/b');
          unlinkSync(room.at('a/b/HEAD'));
          symlinkSync('refs/heads/main', room.at('a/b/HEAD'));
        },
        answer: 'WA_CLOSED_DIRECTORY',
      },
      {
        name: 'a directory above becomes one',
        change: (room) => room.writeGitShape('a'),
        answer: 'WA_CLOSED_DIRECTORY',
      },
      {
        name: 'a closed directory is swapped in for the parent',
        change: (room) => {
          room.writeGitShape('closed');
          room.write('closed/f', 'secret');
          renameSync(room.at('a/b'), room.at('away'));
          renameSync(room.at('closed'), room.at('a/b'));
        },
        answer: 'WA_CLOSED_DIRECTORY',
      },
      {
        name: 'a closed directory is swapped in for an ancestor',
        change: (room) => {
          room.writeGitShape('closed');
          room.write('closed/b/f', 'secret');
          renameSync(room.at('a'), room.at('away'));
          renameSync(room.at('closed'), room.at('a'));
        },
        answer: 'WA_CLOSED_DIRECTORY',
      },
      {
        name: 'the parent is moved into a closed directory and linked from its old place',
        change: (room) => {
          room.writeGitShape('closed');
          renameSync(room.at('a/b'), room.at('closed/b'));
          symlinkSync('../closed/b', room.at('a/b'));
        },
        answer: 'ELOOP',
      },
      {
        name: 'an ancestor is swapped for an open directory',
        change: (room) => {
          room.write('open/b/f', 'another');
          renameSync(room.at('a'), room.at('away'));
          renameSync(room.at('open'), room.at('a'));
        },
        content: 'another',
      },
      {
        name: 'an ancestor is removed and made again',
        change: (room) => {
          rmSync(room.at('a'), { recursive: true });
          room.write('a/b/f', 'again');
        },
        content: 'again',
      },
      {
        name: 'an ancestor is gone',
        change: (room) => rmSync(room.at('a'), { recursive: true }),
        answer: 'ENOENT',
      },
      {
        name: 'an ancestor becomes a file',
        change: (room) => {
          rmSync(room.at('a'), { recursive: true });
          writeFileSync(room.at('a'), '');
        },
        answer: 'ENOTDIR',
      },
      { name: 'the file is written again', change: (room) => room.write('a/b/f', 'new'), content: 'new' },
      {
        name: 'the file is written again with as many bytes',
        change: (room) => room.write('a/b/f', 'A/B/F'),
        content: 'A/B/F',
      },
      {
        name: 'another file is renamed over it',
        change: (room) => {
          room.write('a/b/new', 'renamed');
          renameSync(room.at('a/b/new'), room.at('a/b/f'));
        },
        content: 'renamed',
      },
      {
        name: 'the file is removed and its inode lives on elsewhere',
        change: (room) => {
          linkSync(room.at('a/b/f'), room.at('kept'));
          unlinkSync(room.at('a/b/f'));
        },
        answer: 'ENOENT',
      },
      {
        name: 'the file becomes a link to outside',
        change: (room) => {
          unlinkSync(room.at('a/b/f'));
          symlinkSync('/etc/passwd', room.at('a/b/f'));
        },
        answer: 'ELOOP',
      },
      {
        name: 'the file becomes a directory',
        change: (room) => {
          unlinkSync(room.at('a/b/f'));
          mkdirSync(room.at('a/b/f'));
        },
        answer: 'WA_NOT_REGULAR',
      },
    ];

    it.for(changes)('R12 R14: $name', async ({ change, answer, content }) => {
      const room = await Room.open();
      room.write('a/b/f');
      await room.warm('a/b/f');
      change(room);
      expect(await room.readOrCode('a/b/f')).toBe(answer ?? content);
      // And it stays so, however warm that becomes.
      if (content === undefined) expect(await room.readOrCode('a/b/f')).toBe(answer);
      else expect(await room.warm('a/b/f')).toBe(content);
    });

    it('R12: a directory that loses the shape is open again', async () => {
      const room = await Room.open();
      room.write('a/f');
      room.writeGitShape('a');
      expect(await room.readOrCode('a/f')).toBe('WA_CLOSED_DIRECTORY');
      rmSync(room.at('a/HEAD'));
      expect(await room.readOrCode('a/f')).toBe('a/f');
    });

    it('R14: the exchange of two directories is seen at the next read, every time', async () => {
      const room = await Room.open();
      room.write('a/d/f', 'open');
      room.writeGitShape('a/git');
      room.write('a/git/f', 'secret');
      for (let round = 0; round < 200; round += 1) {
        await room.root.exchange('a/d', 'git');
        const expected = round % 2 === 0 ? 'WA_CLOSED_DIRECTORY' : 'open';
        expect(await room.readOrCode('a/d/f')).toBe(expected);
        expect(await room.readOrCode('a/d/f')).toBe(expected);
      }
    });
  });

  it('R12: more events than the kernel keeps mean that nothing is known any more', async () => {
    const room = await Room.open();
    room.write('a/b/f');
    room.write('busy/x');
    await room.warm('a/b/f');
    await room.warm('busy/x');
    // More than fs.inotify.max_queued_events, each with another name so that they are not merged.
    for (let index = 0; index < 17_000; index += 1) writeFileSync(room.at(`busy/${index}`), '');
    room.writeGitShape('a/b');
    expect(await room.readOrCode('a/b/f')).toBe('WA_CLOSED_DIRECTORY');
    expect(await room.readOrCode('busy/x')).toBe('busy/x');
  });

  it('R12: more directories than it remembers are examined anew, none is let through unseen', async () => {
    const room = await Room.open();
    const count = 4500;
    for (let index = 0; index < count; index += 1) room.write(`many/d${index}/f`, 'f');
    for (let index = 0; index < count; index += 1) expect(await room.read(`many/d${index}/f`)).toBe('f');
    // Spread over those remembered and those forgotten.
    for (let index = 0; index < count; index += 45) room.writeGitShape(`many/d${index}`);
    for (let index = 0; index < count; index += 9) {
      const expected = index % 45 === 0 ? 'WA_CLOSED_DIRECTORY' : 'f';
      expect(await room.readOrCode(`many/d${index}/f`)).toBe(expected);
    }
    expect(watchCount()).toBeLessThanOrEqual(4097);
  });

  it('leaves no watch behind when it is closed', async () => {
    const room = await Room.open();
    for (let index = 0; index < 50; index += 1) room.write(`d${index}/f`);
    for (let index = 0; index < 50; index += 1) await room.read(`d${index}/f`);
    const others = testBinding.createGuard(room.root, gitShape);
    await others.check('d1/f');
    expect(watchCount()).toBeGreaterThanOrEqual(51);
    room.guard?.close();
    expect(watchCount()).toBe(2);
    others.close();
    expect(watchCount()).toBe(0);
    room.guard = null;
  });

  it('two guards over one tree do not disturb each other', async () => {
    const room = await Room.open();
    room.write('a/b/f');
    const inner = await room.root.openDirectory('a');
    const innerGuard = testBinding.createGuard(inner, gitShape);
    await room.warm('a/b/f');
    expect(Buffer.from(await inner.read('b/f', 100, room.facts, innerGuard)).toString()).toBe('a/b/f');
    innerGuard.close();
    expect(await room.warm('a/b/f')).toBe('a/b/f');
    room.writeGitShape('a/b');
    expect(await room.readOrCode('a/b/f')).toBe('WA_CLOSED_DIRECTORY');
    inner.close();
  });

  it('says of a path that is not there what the kernel says', async () => {
    const room = await Room.open();
    room.write('a/f');
    await room.guard?.check('a/new');
    await expect(room.guard?.check('b/new')).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(room.guard?.check('a/f/new')).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(room.guard?.check('../x')).rejects.toMatchObject({ code: 'EINVAL' });
  });

  it('refuses rules that name no file', async () => {
    const { root } = await Room.open();
    for (const name of ['', '.', '..', 'a/b', 'a\0', '\ud800', 'x'.repeat(256), 7]) {
      const rules = { closedShape: [name as string], closedIdentities: [] };
      expect(() => testBinding.createGuard(root, rules)).toThrow(
        expect.objectContaining({ code: name.toString().length > 255 ? 'ENAMETOOLONG' : 'EINVAL' }),
      );
    }
    const identity = { device: 1, inode: 2n } as unknown as { device: bigint; inode: bigint };
    expect(
      codeOf(attempt(() => testBinding.createGuard(root, { closedShape: [], closedIdentities: [identity] }))),
    ).toBe('EINVAL');
  });
});

function attempt(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

/** Watches of this process, as proc_pid_fdinfo(5) lists them. */
function watchCount(): number {
  let count = 0;
  for (const fd of readdirSync('/proc/self/fdinfo')) {
    try {
      count += readText(`/proc/self/fdinfo/${fd}`).match(/^inotify wd:/gm)?.length ?? 0;
    } catch {
      // The descriptor by which the directory was read is gone.
    }
  }
  return count;
}

function readText(path: string): string {
  return readFileSync(path, 'latin1');
}
