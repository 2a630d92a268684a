import { describe, expect, it } from 'vitest';
import { cursorAfter, parseCursor } from '../../src/files/list-cursor.ts';
import { readNames, splitRaw } from '../../src/files/listed-names.ts';

const undecodable = Buffer.from([0x66, 0xff, 0x6f]);

function joined(names: readonly (string | Buffer)[]): Uint8Array {
  const bytes = Buffer.concat(names.flatMap((name) => [Buffer.from(name as string), Buffer.of(0)]));
  // Not at the start of its memory, as pooled buffers are.
  const memory = new Uint8Array(bytes.length + 1);
  memory.set(bytes, 1);
  return memory.subarray(1);
}

describe('names of a listing', () => {
  it.each([[[]], [['a']], [['a', 'b b', 'ü', '日本', 'line\nend']]])('are read as written: %j', (names) => {
    const read = readNames(joined(names));
    expect(read.decoded).toEqual(names);
    expect(read.last === null ? undefined : Buffer.from(read.last).toString()).toBe(names.at(-1));
    expect(names.map((_, index) => read.isUndecodable(index))).toEqual(names.map(() => false));
  });

  it('R10: an undecodable name is told from one that holds a replacement character', () => {
    const read = readNames(joined(['a', undecodable, 'f\ufffdo']));
    expect(read.decoded).toEqual(['a', 'f\ufffdo', 'f\ufffdo']);
    expect([0, 1, 2].map((index) => read.isUndecodable(index))).toEqual([false, true, false]);
    expect(splitRaw(joined(['a', undecodable])).map((raw) => Buffer.from(raw))).toEqual([
      Buffer.from('a'),
      undecodable,
    ]);
  });
});

describe('cursors', () => {
  it.each([['a'], ['日本'], ['-'], ['n'.repeat(255)]])('come back as the name they stand for: %j', (name) => {
    expect(Buffer.from(parseCursor(cursorAfter(Buffer.from(name)))).toString()).toBe(name);
  });

  it('carry undecodable names', () => {
    expect(Buffer.from(parseCursor(cursorAfter(undecodable)))).toEqual(undecodable);
  });

  it.each([
    ['nothing', ''],
    ['other characters', 'a b!'],
    ['padding', Buffer.from('ab').toString('base64')],
    ['bits that mean nothing', 'YR'],
    ['a NUL', cursorAfter(Buffer.from('a\0b'))],
    ['a path', cursorAfter(Buffer.from('a/b'))],
    ['too long a name', cursorAfter(Buffer.from('n'.repeat(256)))],
  ])('are refused when they hold %s', (_, cursor) => {
    expect(() => parseCursor(cursor)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
  });
});
