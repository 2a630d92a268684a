import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { testAddonPath, testBinding } from '../support/test-binding.ts';
import { makeTree } from '../support/tree.ts';
import { failureOf, WriteRoom } from './write-fixture.ts';

test('handles exclude each other slot by slot, within one process too', async () => {
  await using room = await WriteRoom.open();
  const one = await room.root.openLease('lock');
  const other = await room.root.openLease('lock');
  expect(statSync(room.at('lock')).mode & 0o777).toBe(0o600);
  expect(one.tryAcquire(3)).toBe(true);
  expect(one.tryAcquire(3), 'held already').toBe(true);
  expect(other.tryAcquire(3)).toBe(false);
  expect(other.tryAcquire(4)).toBe(true);
  expect(one.tryAcquire(2 ** 48 - 1)).toBe(true);
  one.release(3);
  expect(other.tryAcquire(3)).toBe(true);
  other.release(99);
  other.close();
  expect(one.tryAcquire(4), 'closing has released everything').toBe(true);
  one.close();
});

test('the kernel drops what a killed process held', async () => {
  await using room = await WriteRoom.open();
  const program = join(import.meta.dirname, 'lease-holder.mjs');
  const holder = spawn(process.execPath, [program, testAddonPath, room.path, 'lock']);
  expect(await once(createInterface({ input: holder.stdout }), 'line')).toEqual(['true']);
  const lease = await room.root.openLease('lock');
  expect(lease.tryAcquire(7)).toBe(false);
  expect(lease.tryAcquire(8)).toBe(true);
  const ended = once(holder, 'exit');
  holder.kill('SIGKILL');
  await ended;
  expect(lease.tryAcquire(7)).toBe(true);
  lease.close();
});

test('a lease of a deleted file excludes nobody, and says so', async () => {
  await using room = await WriteRoom.open();
  const lease = await room.root.openLease('lock');
  unlinkSync(room.at('lock'));
  expect(() => lease.tryAcquire(1)).toThrow(expect.objectContaining({ code: 'ESTALE' }));
  lease.close();
});

test('slots are integers from 0 to 2^48 - 1, and a closed lease grants nothing', async () => {
  await using room = await WriteRoom.open();
  const lease = await room.root.openLease('lock');
  for (const slot of [-1, 0.5, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY, '1', 1n, undefined]) {
    expect(() => lease.tryAcquire(slot as never)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
    expect(() => lease.release(slot as never)).toThrow(expect.objectContaining({ code: 'EINVAL' }));
  }
  lease.close();
  lease.close();
  expect(() => lease.tryAcquire(1)).toThrow(expect.objectContaining({ code: 'WA_HANDLE_CLOSED' }));
  lease.release(1);
});

test('only a regular file in the directory itself becomes a lease', async () => {
  await using room = await WriteRoom.open();
  await using outside = await WriteRoom.open();
  mkdirSync(room.at('d'));
  symlinkSync(outside.at('target'), room.at('l'));
  await makeTree(room.path, ['p |']);
  writeFileSync(room.at('f'), 'text');
  const before = testBinding.openHandles();
  expect(await failureOf(room.root.openLease('d'))).toMatchObject({ code: 'EISDIR' });
  expect(await failureOf(room.root.openLease('l'))).toMatchObject({ code: 'ELOOP' });
  expect(await failureOf(room.root.openLease('p'))).toMatchObject({ code: 'WA_NOT_REGULAR' });
  expect(testBinding.openHandles()).toBe(before);
  const lease = await room.root.openLease('f');
  expect(lease.tryAcquire(0)).toBe(true);
  expect(room.text('f')).toBe('text');
  lease.close();
});
