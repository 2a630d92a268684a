import { expect, it } from 'vitest';
import { createSlots } from '../../src/git/slots.ts';

it('gives places first come, first served, and never more than there are', async () => {
  const slots = createSlots(2);
  const order: number[] = [];
  const take = async (index: number) => {
    const give = await slots.take();
    order.push(index);
    expect(slots.taken).toBeLessThanOrEqual(2);
    await Promise.resolve();
    give();
    give();
  };
  await Promise.all(Array.from({ length: 20 }, (_, index) => take(index)));
  expect(order).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(slots.taken).toBe(0);
});

it('a caller that leaves the queue holds nobody up', async () => {
  const slots = createSlots(1);
  const give = await slots.take();
  const leaving = new AbortController();
  const left = slots.take(leaving.signal);
  const next = slots.take();
  leaving.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  await expect(slots.take(AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  give();
  (await next)();
  expect(slots.taken).toBe(0);
});

it('tells when nobody waits, and leaves with its signal', async () => {
  const slots = createSlots(1);
  const { signal } = new AbortController();
  await slots.untilNoneWaits(signal);
  const give = await slots.take();
  await slots.untilNoneWaits(signal);
  const leaving = new AbortController();
  const waiting = [slots.take(), slots.take(leaving.signal)];
  let idle = false;
  const told = slots.untilNoneWaits(signal).then(() => {
    idle = true;
  });
  const impatient = new AbortController();
  const left = slots.untilNoneWaits(impatient.signal);
  impatient.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  leaving.abort(new Error('left'));
  await expect(waiting[1]).rejects.toThrow('left');
  expect(idle).toBe(false);
  give();
  (await waiting[0])?.();
  await told;
  expect([idle, slots.taken]).toEqual([true, 0]);
});
