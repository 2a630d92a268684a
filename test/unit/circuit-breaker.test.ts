import { expect, it } from 'vitest';
import { CircuitBreaker } from '../../src/proof/circuit-breaker.ts';
import { HangMemory } from '../../src/proof/hang-memory.ts';

it('opens after more failures than the limit within the window, and closes after a while', () => {
  let now = 0;
  const breaker = new CircuitBreaker({ limit: 2, windowMs: 100, openMs: 50, now: () => now });
  breaker.recordFailure();
  breaker.recordFailure();
  expect(breaker.isOpen).toBe(false);
  now = 99;
  breaker.recordFailure();
  expect(breaker.isOpen).toBe(true);
  now = 148;
  expect(breaker.isOpen).toBe(true);
  now = 149;
  expect(breaker.isOpen).toBe(false);
  breaker.recordFailure();
  expect(breaker.isOpen).toBe(false);
});

it('forgets failures that are older than the window', () => {
  let now = 0;
  const breaker = new CircuitBreaker({ limit: 1, windowMs: 100, openMs: 50, now: () => now });
  for (now = 0; now < 1000; now += 100) breaker.recordFailure();
  expect(breaker.isOpen).toBe(false);
});

it('remembers what hung for a minute, and only so many', () => {
  let now = 0;
  const memory = new HangMemory(() => now);
  memory.remember('first');
  expect([memory.has('first'), memory.has('other')]).toEqual([true, false]);
  now = 59_999;
  expect(memory.has('first')).toBe(true);
  now = 60_000;
  expect(memory.has('first')).toBe(false);
  for (let index = 0; index < 300; index += 1) memory.remember(`key ${index}`);
  expect([memory.has('key 0'), memory.has('key 299')]).toEqual([false, true]);
});
