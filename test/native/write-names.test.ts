import { lstatSync, mkdirSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fileFacts } from '../../src/native/binding.ts';
import { accessList, attributesOf, setAttribute } from '../support/attributes.ts';
import { makeTree, readTree } from '../support/tree.ts';
import { failureOf, removeRequest, temporaryName, versionOf, WriteRoom } from './write-fixture.ts';

function createRequest(text: string, mode = 0o644) {
  return { bytes: Buffer.from(text), mode, temporaryName: temporaryName() };
}

describe('create: a file comes whole or not at all', () => {
  test('with its facts', async () => {
    await using room = await WriteRoom.open();
    const outcome = await room.root.create('f', createRequest('content'), null);
    const facts = new BigInt64Array(fileFacts.count);
    await room.root.read('f', 100, facts, null);
    expect(outcome).toEqual({ outcome: 'created', facts });
    expect(await readTree(room.path)).toEqual(['f: content']);
  });

  test('under the process umask', async () => {
    await using room = await WriteRoom.open();
    const umask = process.umask(0o027);
    try {
      await room.root.create('f', createRequest('x', 0o666), null);
    } finally {
      process.umask(umask);
    }
    expect(statSync(room.at('f')).mode & 0o7777).toBe(0o640);
  });

  test("under the directory's default access list", async () => {
    await using room = await WriteRoom.open();
    const list = accessList([
      { tag: 'user', permissions: 6 },
      { tag: 'namedUser', permissions: 6, id: 1234 },
      { tag: 'group', permissions: 4 },
      { tag: 'mask', permissions: 6 },
      { tag: 'other', permissions: 4 },
    ]);
    setAttribute(room.path, 'system.posix_acl_default', list);
    await room.root.create('f', createRequest('x', 0o664), null);
    expect(attributesOf(room.at('f'))).toEqual({
      'system.posix_acl_access': Buffer.from(list).toString('hex'),
    });
  });

  test.each(['f', 'f/', 'f -> real', 'f -> nowhere', 'f |'])('not over %s', async (line) => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['real', line]);
    const tree = await readTree(room.path);
    expect(await room.root.create('f', createRequest('x'), null)).toEqual({ outcome: 'exists' });
    expect(await readTree(room.path)).toEqual(tree);
  });

  test('of 32 at once, exactly one creates', async () => {
    await using room = await WriteRoom.open();
    const calls = Array.from({ length: 32 }, (_, index) =>
      room.root.create('f', createRequest(`${index}`), null),
    );
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'created')).toHaveLength(1);
    expect(await readTree(room.path)).toEqual([`f: ${outcomes.indexOf('created')}`]);
  });

  const parents: readonly (readonly [path: string, code: string])[] = [
    ['none/f', 'ENOENT'],
    ['file/f', 'ENOTDIR'],
    ['link/f', 'ELOOP'],
    [`${'n'.repeat(256)}`, 'ENAMETOOLONG'],
  ];
  test.each(parents)('%s is %s', async (path, code) => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['d/', 'file', 'link -> d']);
    const tree = await readTree(room.path);
    expect(await failureOf(room.root.create(path, createRequest('x'), null))).toMatchObject({ code });
    expect(await readTree(room.path)).toEqual(tree);
  });
});

describe('remove: the version that was read, and no other', () => {
  test('is gone, with nothing beside', async () => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['d/f: old']);
    const request = removeRequest(versionOf(room.at('d/f')));
    expect(await room.root.remove('d/f', request, null)).toEqual({ outcome: 'removed' });
    expect(await readTree(room.path)).toEqual(['d/']);
  });

  test.each([
    ['other content', ['f: new']],
    ['a directory', ['f/']],
    ['a link', ['f -> g']],
    ['nothing', []],
  ] as const)('%s stays', async (_, lines) => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    const request = removeRequest(versionOf(room.at('f')));
    unlinkSync(room.at('f'));
    await makeTree(room.path, lines);
    const ending = await room.root.remove('f', request, null).catch(({ code }) => code);
    expect([{ outcome: 'conflict', kept: [] }, 'ELOOP', 'WA_NOT_REGULAR']).toContainEqual(ending);
    expect(await readTree(room.path)).toEqual([...lines]);
  });
});

describe('renameNoReplace', () => {
  const objects = ['from: text', 'from/', 'from/deep/f: text', 'from -> nowhere', 'from |'];
  test.each(objects)('moves %s as it is', async (line) => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, [line, 'd/']);
    const inode = lstatSync(room.at('from'), { bigint: true }).ino;
    await room.root.renameNoReplace('from', 'd/to', null);
    expect(lstatSync(room.at('d/to'), { bigint: true }).ino).toBe(inode);
    expect((await readTree(room.path)).some((entry) => entry.startsWith('from'))).toBe(false);
  });

  const refusals: readonly (readonly [from: string, to: string, code: string])[] = [
    ['a', 'b', 'EEXIST'],
    ['a', 'd', 'EEXIST'],
    ['a', 'l', 'EEXIST'],
    ['a', 'a', 'EEXIST'],
    ['none', 'to', 'ENOENT'],
    ['a', 'none/to', 'ENOENT'],
    ['d', 'd/e/to', 'EINVAL'],
    ['a', 'm/to', 'ELOOP'],
    ['m/x', 'to', 'ELOOP'],
  ];
  test.each(refusals)('%s to %s is %s', async (from, to, code) => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['a: A', 'b: B', 'd/e/', 'l -> nowhere', 'm -> d', 'd/x: X']);
    const tree = await readTree(room.path);
    expect(await failureOf(room.root.renameNoReplace(from, to, null))).toMatchObject({ code });
    expect(await readTree(room.path)).toEqual(tree);
  });

  test('R12: a directory that holds a closed one deeper may be moved; the closed one may not', async () => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['project/bare/HEAD', 'project/bare/objects/', 'project/bare/refs/']);
    const guard = room.guard();
    await room.root.renameNoReplace('project', 'moved', guard);
    const refused = room.root.renameNoReplace('moved/bare', 'bare', guard);
    expect(await failureOf(refused)).toMatchObject({ code: 'WA_CLOSED_DIRECTORY' });
    guard.close();
  });
});

describe('makeDirectory and removeDirectory', () => {
  test('make one under the umask, and remove it', async () => {
    await using room = await WriteRoom.open();
    await room.root.makeDirectory('d', 0o777, null);
    expect(statSync(room.at('d')).mode & 0o7777).toBe(0o777 & ~process.umask());
    await room.root.removeDirectory('d', null);
    expect(await readTree(room.path)).toEqual([]);
  });

  const refusals: readonly (readonly [
    method: 'makeDirectory' | 'removeDirectory',
    path: string,
    code: string,
  ])[] = [
    ['makeDirectory', 'f', 'EEXIST'],
    ['makeDirectory', 'full', 'EEXIST'],
    ['makeDirectory', 'l', 'EEXIST'],
    ['makeDirectory', 'none/d', 'ENOENT'],
    ['removeDirectory', 'f', 'ENOTDIR'],
    ['removeDirectory', 'l', 'ENOTDIR'],
    ['removeDirectory', 'full', 'ENOTEMPTY'],
    ['removeDirectory', 'none', 'ENOENT'],
  ];
  test.each(refusals)('%s %s is %s', async (method, path, code) => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['f', 'full/f', 'empty/', 'l -> empty']);
    const tree = await readTree(room.path);
    const call =
      method === 'makeDirectory'
        ? room.root.makeDirectory(path, 0o755, null)
        : room.root.removeDirectory(path, null);
    expect(await failureOf(call)).toMatchObject({ code });
    expect(await readTree(room.path)).toEqual(tree);
  });
});

describe('R15: unlinkIfSame', () => {
  test('unlinks a file, a link or a FIFO while it is that inode', async () => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['f', 'l -> f', 'p |']);
    for (const name of ['l', 'f', 'p']) {
      const { ino, dev } = lstatSync(room.at(name), { bigint: true });
      expect(await room.root.unlinkIfSame(name, ino + 1n, dev)).toBe(false);
      expect(await room.root.unlinkIfSame(name, ino, dev + 1n)).toBe(false);
      expect(await room.root.unlinkIfSame(name, ino, dev)).toBe(true);
      expect(await room.root.unlinkIfSame(name, ino, dev)).toBe(false);
    }
    expect(await readTree(room.path)).toEqual([]);
  });

  test('never a directory, and nothing below a missing one', async () => {
    await using room = await WriteRoom.open();
    mkdirSync(room.at('d'));
    const { ino, dev } = lstatSync(room.at('d'), { bigint: true });
    expect(await room.root.unlinkIfSame('d', ino, dev)).toBe(false);
    expect(await room.root.unlinkIfSame('none/f', ino, dev)).toBe(false);
    expect(await readTree(room.path)).toEqual(['d/']);
  });
});

describe('exchange', () => {
  test('swaps two names of one directory, whatever they are', async () => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['d/a: A', 'd/b/f', 'd/l -> a']);
    await room.root.exchange('d/a', 'b');
    await room.root.exchange('d/a', 'l');
    expect(await readTree(room.path)).toEqual(['d/', 'd/a -> a', 'd/b: A', 'd/l/', 'd/l/f: d/b/f']);
  });

  test('needs both', async () => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['a: A']);
    expect(await failureOf(room.root.exchange('a', 'b'))).toMatchObject({ code: 'ENOENT' });
    expect(await failureOf(room.root.exchange('b', 'a'))).toMatchObject({ code: 'ENOENT' });
    expect(await readTree(room.path)).toEqual(['a: A']);
  });
});

describe('R16: probeExchange', () => {
  test('finds exchange supported, and leaves nothing', async () => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['f']);
    expect(await room.root.probeExchange()).toEqual({ supported: true, syscall: null, code: null });
    expect(await readTree(room.path)).toEqual(['f: f']);
  });
});
