import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createPathCanonicalizer } from '../../src/authority/canonical-path.ts';
import { deferred } from '../support/deferred.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it('R01: what leads nowhere, and what is not UTF-8, has no canonical path', async () => {
  const paths = createPathCanonicalizer(async (path) => {
    if (path === '/absent') throw Object.assign(new Error('absent'), { code: 'ENOENT' });
    return Buffer.from(path === '/bytes' ? '/\xff' : '/canonical', 'latin1');
  });
  expect(await paths.canonicalize('/absent')).toBeNull();
  expect(await paths.canonicalize('/bytes')).toBeNull();
  expect(await paths.canonicalize('/alias')).toBe('/canonical');
});

it('a lookup that never answers ends at a deadline, and occupies one thread at most', async () => {
  const stuck = deferred<Buffer>();
  let running = 0;
  const paths = createPathCanonicalizer((path) => {
    running += 1;
    return path === '/stuck' ? stuck.promise : Promise.resolve(Buffer.from(path));
  });
  const outcomes = ['/stuck', '/behind'].map((path) =>
    paths.canonicalize(path).then(String, (error) => error.code),
  );
  await vi.advanceTimersByTimeAsync(5000);
  expect(await Promise.all(outcomes)).toEqual(['deadline_exceeded', 'deadline_exceeded']);
  expect(running).toBe(1);
  stuck.resolve(Buffer.from('/late'));
  expect(await paths.canonicalize('/next')).toBe('/next');
});

it('the queue behind it has an end', async () => {
  const paths = createPathCanonicalizer(() => new Promise(() => {}));
  const outcomes = Array.from({ length: 1001 }, () =>
    paths.canonicalize('/x').then(String, (error) => error.code),
  );
  expect(await outcomes[1000]).toBe('queue_full');
  await vi.advanceTimersByTimeAsync(5000);
  expect(new Set(await Promise.all(outcomes.slice(0, 1000)))).toEqual(new Set(['deadline_exceeded']));
});
