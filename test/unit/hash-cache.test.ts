import { describe, expect, it } from 'vitest';
import { versionOf } from '../../src/files/content-version.ts';
import { HashCache } from '../../src/files/hash-cache.ts';

describe('remembered hashes', () => {
  it('are given again for the same content, and made anew for any other', () => {
    const cache = new HashCache();
    const first = cache.hashesOf('f', Buffer.from('one'));
    expect(cache.hashesOf('f', Buffer.from('one'))).toBe(first);
    for (const content of ['two', 'on', 'ones', '', 'one']) {
      const { sha1, etag } = cache.hashesOf('f', Buffer.from(content));
      expect({ sha1, etag, size: content.length }).toEqual(versionOf(Buffer.from(content)));
    }
  });

  it('R13: are those of the content, also when the caller changes the array that it was given', () => {
    const cache = new HashCache();
    const bytes = Buffer.from('one');
    const { sha1 } = cache.hashesOf('f', bytes);
    bytes.write('two');
    expect(cache.hashesOf('f', bytes).sha1).toBe(versionOf(Buffer.from('two')).sha1);
    expect(cache.hashesOf('f', Buffer.from('one')).sha1).toBe(sha1);
  });

  it('R13: of one content are not those of another under the same path, whatever was asked for in between', () => {
    const cache = new HashCache();
    for (const content of ['one', 'two', 'one', 'one', '']) {
      cache.hashesOf('other', Buffer.from('two'));
      expect(cache.hashesOf('f', Buffer.from(content)).sha1).toBe(versionOf(Buffer.from(content)).sha1);
    }
    expect(cache.size).toBe(2);
  });

  it('take bounded memory: large contents are never kept, and what is used stays', () => {
    const cache = new HashCache();
    const content = (index: number) => Buffer.alloc(64 * 1024, `${index} `);
    const [used, unused] = ['0', '1'].map((path) => cache.hashesOf(path, content(Number(path))));
    for (let index = 2; index < 300; index += 1) {
      cache.hashesOf(String(index), content(index));
      expect(cache.hashesOf('0', content(0))).toBe(used);
    }
    expect(cache.hashesOf('1', content(1))).not.toBe(unused);
    expect(cache.size).toBeLessThan(128);
    expect(cache.size).toBeGreaterThan(60);
    const large = Buffer.alloc(64 * 1024 + 1);
    expect(cache.hashesOf('large', large)).not.toBe(cache.hashesOf('large', large));
  });

  it.each<readonly [what: string, pathLength: number, most: number, least: number]>([
    ['short paths', 8, 8192, 4000],
    ['long paths', 4000, 1024, 450],
  ])('take bounded memory: empty contents under %s count, too', (_, pathLength, most, least) => {
    const cache = new HashCache();
    const empty = new Uint8Array(0);
    for (let index = 0; index < 20_000; index += 1) {
      cache.hashesOf(String(index).padStart(pathLength, '/'), empty);
    }
    expect(cache.size).toBeLessThanOrEqual(most);
    expect(cache.size).toBeGreaterThanOrEqual(least);
  });

  it('take no more memory when the same paths are asked for again and again', () => {
    const cache = new HashCache();
    const first = cache.hashesOf('kept', Buffer.from('content'));
    for (let index = 0; index < 20_000; index += 1) {
      cache.hashesOf('changing', Buffer.from(String(index)));
      cache.hashesOf('same', Buffer.from('content'));
    }
    expect(cache.hashesOf('kept', Buffer.from('content'))).toBe(first);
    expect(cache.size).toBe(3);
  });
});
