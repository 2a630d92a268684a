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

  it('take bounded memory: the oldest go first, large contents are never kept', () => {
    const cache = new HashCache();
    const content = (index: number) => Buffer.alloc(64 * 1024, `${index} `);
    const first = cache.hashesOf('0', content(0));
    for (let index = 1; index < 128; index += 1) cache.hashesOf(String(index), content(index));
    expect(cache.hashesOf('0', content(0))).toBe(first);
    cache.hashesOf('one more', content(128));
    expect(cache.hashesOf('0', content(0))).not.toBe(first);
    const large = Buffer.alloc(64 * 1024 + 1);
    expect(cache.hashesOf('large', large)).not.toBe(cache.hashesOf('large', large));
  });
});
