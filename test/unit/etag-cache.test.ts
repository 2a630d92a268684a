import { describe, expect, it } from 'vitest';
import { EtagCache } from '../../src/files/etag-cache.ts';
import { fileFacts } from '../../src/native/binding.ts';

const nowMs = 1_700_000_000_000;

function facts(change: Partial<Record<keyof typeof fileFacts, bigint>> = {}): BigInt64Array {
  const array = new BigInt64Array(fileFacts.count);
  const values = {
    size: 10n,
    modifiedNs: 5n,
    changedNs: BigInt(nowMs - 10_000) * 1_000_000n,
    inode: 7n,
    device: 8n,
    ...change,
  };
  for (const [name, value] of Object.entries(values))
    array[fileFacts[name as keyof typeof fileFacts]] = value;
  return array;
}

function remembered(before: BigInt64Array, after: BigInt64Array, startedMs = nowMs): EtagCache {
  const cache = new EtagCache(() => nowMs);
  cache.remember('"tag"', before, after, startedMs);
  return cache;
}

describe('the cache of entity tags', () => {
  it('answers for a file that is still in the state in which it was hashed at rest', () => {
    expect(remembered(facts(), facts()).get(facts())).toBe('"tag"');
  });

  it.each([
    ['size', { size: 11n }],
    ['modification time', { modifiedNs: 6n }],
    ['change time, by one nanosecond', { changedNs: BigInt(nowMs - 10_000) * 1_000_000n + 1n }],
    ['inode', { inode: 9n }],
    ['device', { device: 9n }],
  ])('R13: does not answer for another %s', (_, change) => {
    expect(remembered(facts(), facts()).get(facts(change))).toBeUndefined();
  });

  it('R13: does not keep a tag of a file that changed while it was hashed', () => {
    expect(remembered(facts(), facts({ changedNs: 1n })).get(facts())).toBeUndefined();
  });

  it('R13: does not keep a tag of a file that changed so lately that a second change could look the same', () => {
    const young = facts({ changedNs: BigInt(nowMs - 2000) * 1_000_000n });
    expect(remembered(young, young).get(young)).toBeUndefined();
    const future = facts({ changedNs: BigInt(nowMs + 60_000) * 1_000_000n });
    expect(remembered(future, future).get(future)).toBeUndefined();
  });

  it('stays bounded', () => {
    const cache = new EtagCache(() => nowMs);
    const count = 5000;
    for (let inode = 0n; inode < count; inode += 1n) {
      cache.remember('"tag"', facts({ inode }), facts({ inode }), nowMs);
    }
    const kept = Array.from({ length: count }, (_, inode) => cache.get(facts({ inode: BigInt(inode) })));
    expect(kept.at(-1)).toBe('"tag"');
    expect(kept.filter((tag) => tag !== undefined).length).toBeLessThan(count);
  });
});
