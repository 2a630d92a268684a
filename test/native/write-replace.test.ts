import { linkSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fileFacts } from '../../src/native/binding.ts';
import { makeTree, readTree } from '../support/tree.ts';
import {
  type BaseVersion,
  failureOf,
  openDescriptors,
  replaceRequest,
  temporaryName,
  versionOf,
  WriteRoom,
} from './write-fixture.ts';

describe('R14: a commit exchanges the file for a new one', () => {
  const sizes = [0, 1, 4096, 65_535, 65_536, 65_537, 1 << 20];
  test.each(sizes)('of %i bytes, and reports its facts', async (size) => {
    await using room = await WriteRoom.open();
    const old = 'o'.repeat(size);
    writeFileSync(room.at('f'), old);
    const before = versionOf(room.at('f'));
    const outcome = await room.replace('f', `${old}new`, before);
    expect(outcome).toMatchObject({ outcome: 'committed', kept: [], leaseChecked: true });
    expect(room.text('f')).toBe(`${old}new`);
    const after = versionOf(room.at('f'));
    expect(after.baseInode).not.toBe(before.baseInode);
    if (outcome.outcome !== 'committed') return;
    expect(outcome.facts[fileFacts.inode]).toBe(after.baseInode);
    expect(outcome.facts[fileFacts.device]).toBe(after.baseDevice);
    expect(outcome.facts[fileFacts.size]).toBe(BigInt(size + 3));
    expect(outcome.facts[fileFacts.linkCount]).toBe(1n);
    expect(await readTree(room.path)).toEqual([`f: ${old}new`]);
  });

  test('the facts are those that the next read sees', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    const outcome = await room.replace('f', 'new');
    const facts = new BigInt64Array(fileFacts.count);
    await room.root.read('f', 10, facts, null);
    expect(outcome).toMatchObject({ facts });
  });

  test('a chain of commits builds on the facts that each one reports', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), '0');
    let base: BaseVersion = versionOf(room.at('f'));
    for (let count = 1; count <= 20; count++) {
      const outcome = await room.replace('f', String(count), base);
      if (outcome.outcome !== 'committed') throw new Error(`round ${count} met ${outcome.outcome}`);
      base = {
        ...base,
        baseBytes: Buffer.from(String(count)),
        baseInode: outcome.facts[fileFacts.inode] as bigint,
      };
    }
    expect(room.text('f')).toBe('20');
  });

  test('64 commits of one base: exactly one wins', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'base');
    const base = versionOf(room.at('f'));
    const commits = Array.from({ length: 64 }, (_, index) => room.replace('f', `client ${index}`, base));
    const outcomes = await Promise.all(commits);
    const winners = outcomes.flatMap(({ outcome }, index) => (outcome === 'committed' ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(room.text('f')).toBe(`client ${winners[0]}`);
    expect(outcomes.flatMap(({ kept }) => kept)).toEqual([]);
    expect(room.leftovers()).toEqual([]);
  });

  test('the base bytes and the new bytes are those of the call, whatever becomes of the buffers', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    const request = replaceRequest('new', versionOf(room.at('f')));
    const commit = room.root.replace('f', request, null);
    request.bytes.fill(0);
    request.baseBytes.fill(0);
    structuredClone(request.bytes.buffer, { transfer: [request.bytes.buffer as ArrayBuffer] });
    expect(await commit).toMatchObject({ outcome: 'committed' });
    expect(room.text('f')).toBe('new');
  });

  test('closing the handle lets a running commit end', async () => {
    const room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    const commit = room.replace('f', 'new');
    room.root.close();
    expect(await commit).toMatchObject({ outcome: 'committed' });
    expect(await failureOf(room.replace('f', 'newer'))).toMatchObject({ code: 'WA_HANDLE_CLOSED' });
    await room[Symbol.asyncDispose]();
  });

  test('100 commits leave no descriptor behind', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    await room.replace('f', 'first, so that threads have started');
    // The displaced file of the first may still be open, so the number may be one too high.
    const before = openDescriptors();
    for (let count = 0; count < 100; count++) await room.replace('f', `${count}`);
    // A displaced file is closed when the answer is on its way.
    await expect.poll(openDescriptors).toBeLessThanOrEqual(before);
  });
});

describe('R13: a stale base is a conflict and changes nothing', () => {
  /** What somebody else does between our reading and our commit. */
  const changes: readonly { title: string; change: (room: WriteRoom) => void; tree: readonly string[] }[] = [
    {
      title: 'other content of the same size in the same inode, with the old time put back',
      change: (room) => {
        writeFileSync(room.at('f'), 'OLD');
        utimesSync(room.at('f'), 1, 1);
      },
      tree: ['f: OLD'],
    },
    {
      title: 'a longer file in the same inode',
      change: (room) => writeFileSync(room.at('f'), 'old, longer'),
      tree: ['f: old, longer'],
    },
    { title: 'a truncated file', change: (room) => writeFileSync(room.at('f'), ''), tree: ['f: '] },
    {
      title: 'another inode with the same content',
      change: (room) => {
        writeFileSync(room.at('g'), 'old');
        renameSync(room.at('g'), room.at('f'));
      },
      tree: ['f: old'],
    },
    { title: 'a deleted file', change: (room) => rmSync(room.at('f')), tree: [] },
    {
      title: 'a file moved away',
      change: (room) => renameSync(room.at('f'), room.at('g')),
      tree: ['g: old'],
    },
  ];
  test.each(changes)('$title', async ({ change, tree }) => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    const base = versionOf(room.at('f'));
    change(room);
    const outcome = await room.replace('f', 'new', base);
    expect(outcome).toEqual({ outcome: 'conflict', kept: [] });
    expect(await readTree(room.path)).toEqual(tree);
  });
});

describe('R10, R11: only a regular file that no link leads to is replaced', () => {
  const targets: readonly { line: string; code: string }[] = [
    { line: 'f -> real', code: 'ELOOP' },
    { line: 'f -> nowhere', code: 'ELOOP' },
    { line: 'f/', code: 'WA_NOT_REGULAR' },
    { line: 'f |', code: 'WA_NOT_REGULAR' },
    { line: 'f =', code: 'WA_NOT_REGULAR' },
  ];
  test.each(targets)('$line is $code', async ({ line, code }) => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['real: old', line]);
    const tree = await readTree(room.path);
    expect(await failureOf(room.replace('f', 'new', versionOf(room.at('real'))))).toMatchObject({ code });
    expect(await readTree(room.path)).toEqual(tree);
  });

  test('a link in the middle of the path is ELOOP, and a file there ENOTDIR', async () => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['d/f: old', 'l -> d', 'file']);
    const base = versionOf(room.at('d/f'));
    expect(await failureOf(room.replace('l/f', 'new', base))).toMatchObject({ code: 'ELOOP' });
    expect(await failureOf(room.replace('file/f', 'new', base))).toMatchObject({ code: 'ENOTDIR' });
    expect(await failureOf(room.replace('none/f', 'new', base))).toMatchObject({ code: 'ENOENT' });
    expect(room.text('d/f')).toBe('old');
  });

  test('a hard link is broken: the other name keeps inode and content', async () => {
    await using room = await WriteRoom.open();
    await using outside = await WriteRoom.open();
    writeFileSync(outside.at('shared'), 'old');
    linkSync(outside.at('shared'), room.at('f'));
    const before = versionOf(outside.at('shared'));
    expect(await room.replace('f', 'new')).toMatchObject({ outcome: 'committed', kept: [] });
    expect(versionOf(outside.at('shared'))).toEqual(before);
    expect(room.text('f')).toBe('new');
  });
});

describe('R12: nothing in or of a closed directory is changed', () => {
  test('every write below it is WA_CLOSED_DIRECTORY', async () => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['bare/HEAD', 'bare/objects/', 'bare/refs/', 'bare/d/f: old', 'plain: old']);
    const tree = await readTree(room.path);
    const guard = room.guard();
    const base = versionOf(room.at('bare/HEAD'));
    const deep = versionOf(room.at('bare/d/f'));
    const { root } = room;
    const created = { bytes: Buffer.from('x'), mode: 0o644, temporaryName: temporaryName() };
    const failures = [
      root.replace('bare/HEAD', replaceRequest('x', base), guard),
      root.replace('bare/d/f', replaceRequest('x', deep), guard),
      root.create('bare/new', created, guard),
      root.remove('bare/HEAD', { ...base, temporaryName: temporaryName() }, guard),
      root.renameNoReplace('bare/HEAD', 'stolen', guard),
      root.renameNoReplace('plain', 'bare/plain', guard),
      root.renameNoReplace('bare', 'moved', guard),
      root.makeDirectory('bare/new', 0o755, guard),
      root.removeDirectory('bare/refs', guard),
      root.removeDirectory('bare', guard),
    ];
    for (const failure of await Promise.all(failures.map(failureOf))) {
      expect(failure).toMatchObject({ code: 'WA_CLOSED_DIRECTORY', kept: undefined, inPlace: undefined });
    }
    guard.close();
    expect(await readTree(room.path)).toEqual(tree);
  });

  test('through a guard, open directories are written as without one', async () => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['a/b/f: old']);
    const guard = room.guard();
    for (let count = 0; count < 3; count++) {
      const request = replaceRequest(`new ${count}`, versionOf(room.at('a/b/f')));
      expect(await room.root.replace('a/b/f', request, guard)).toMatchObject({ outcome: 'committed' });
    }
    guard.close();
    expect(await readTree(room.path)).toEqual(['a/', 'a/b/', 'a/b/f: new 2']);
  });
});

describe('wrong arguments are refused before anything happens', () => {
  const paths = [
    '',
    '/f',
    '../f',
    'a/../f',
    './f',
    'a//f',
    'f/',
    '.',
    '..',
    'f\0',
    '\ud800',
    Buffer.from('/f'),
  ];
  test.each(paths.map((path) => [JSON.stringify(path), path] as const))('path %s', async (_, path) => {
    await using room = await WriteRoom.open();
    await makeTree(room.path, ['f: old', 'a/f: old']);
    const tree = await readTree(room.path);
    const base = versionOf(room.at('f'));
    const calls = [
      room.root.replace(path, replaceRequest('x', base), null),
      room.root.create(path, { bytes: Buffer.from('x'), mode: 0o644, temporaryName: temporaryName() }, null),
      room.root.remove(path, { ...base, temporaryName: temporaryName() }, null),
      room.root.renameNoReplace(path, 'g', null),
      room.root.renameNoReplace('f', path, null),
      room.root.makeDirectory(path, 0o755, null),
      room.root.removeDirectory(path, null),
      room.root.unlinkIfSame(path, base.baseInode, base.baseDevice),
      room.root.exchange(path, 'f'),
    ];
    for (const failure of await Promise.all(calls.map(failureOf)))
      expect(failure).toMatchObject({ code: 'EINVAL' });
    expect(await readTree(room.path)).toEqual(tree);
  });

  const names = ['', '.', '..', 'a/b', '/t', 'a\0', `${'n'.repeat(256)}`];
  test.each(names.map((name) => [JSON.stringify(name).slice(0, 20), name] as const))(
    'name %s',
    async (_, name) => {
      await using room = await WriteRoom.open();
      writeFileSync(room.at('f'), 'old');
      const code = name.length > 255 ? 'ENAMETOOLONG' : 'EINVAL';
      const request = { ...replaceRequest('x', versionOf(room.at('f'))), temporaryName: name };
      expect(await failureOf(room.root.replace('f', request, null))).toMatchObject({ code });
      expect(await failureOf(room.root.exchange('f', name))).toMatchObject({ code });
      expect(await failureOf(room.root.openLease(name))).toMatchObject({ code });
      expect(await readTree(room.path)).toEqual(['f: old']);
    },
  );

  test('shapes that TypeScript would not let through', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    const good = replaceRequest('x', versionOf(room.at('f')));
    const bad: readonly unknown[] = [
      undefined,
      null,
      7,
      {},
      { ...good, bytes: 'text' },
      { ...good, bytes: new Uint16Array(2) },
      { ...good, baseInode: 5 },
      { ...good, baseDevice: -1n },
      { ...good, baseInode: 1n << 64n },
      { ...good, temporaryName: 5 },
    ];
    for (const request of bad) {
      expect(await failureOf(room.root.replace('f', request as never, null))).toMatchObject({
        code: 'EINVAL',
      });
    }
    for (const mode of [-1, 0o1000, 0o4755, 1.5, '0644', undefined]) {
      const request = { bytes: Buffer.from('x'), mode, temporaryName: temporaryName() };
      expect(await failureOf(room.root.create('g', request as never, null))).toMatchObject({
        code: 'EINVAL',
      });
    }
    expect(await failureOf(room.root.replace('f', good, {} as never))).toMatchObject({ code: 'EINVAL' });
    expect(() => room.root.replace.call({} as never, 'f', good, null)).toThrow('Illegal invocation');
    expect(await readTree(room.path)).toEqual(['f: old']);
  });
});
