import { statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { testBinding } from '../support/test-binding.ts';
import { readTree } from '../support/tree.ts';
import { temporaryName, WriteRoom } from './write-fixture.ts';

afterEach(() => testBinding.setFault(null));

function create(room: WriteRoom) {
  return room.root.create(
    'f',
    { bytes: Buffer.from('new'), mode: 0o640, temporaryName: temporaryName() },
    null,
  );
}

/** What says that files without a name are not to be had: the call that makes one (in the trace), or the one that names it. */
async function forbidUnnamed(
  change: (room: WriteRoom) => Promise<unknown>,
  syscall: 'openat2' | 'linkat',
  tree: readonly string[],
) {
  await using trial = await WriteRoom.open();
  for (const line of tree) writeFileSync(trial.at(line), 'old');
  testBinding.setFault({
    syscall: '*',
    occurrence: 10_000,
    when: 'before',
    action: { errno: constants.errno.EIO },
  });
  await change(trial);
  const calls = testBinding.faultTrace();
  // It is the last one before the content is written.
  const earlier = syscall === 'linkat' ? calls : calls.slice(0, calls.indexOf('pwrite64'));
  const occurrence = earlier.lastIndexOf(syscall) + 1;
  expect(occurrence).toBeGreaterThan(0);
  testBinding.setFault({
    syscall: '*',
    occurrence,
    when: 'before',
    action: { errno: constants.errno.EOPNOTSUPP },
  });
  return calls;
}

describe('R14, R16: where a file cannot be without a name, a change works with a named one', () => {
  test.each(['openat2', 'linkat'] as const)('create, %s answering EOPNOTSUPP', async (syscall) => {
    await using room = await WriteRoom.open();
    await forbidUnnamed(create, syscall, []);
    expect(await create(room)).toMatchObject({ outcome: 'created' });
    expect(testBinding.faultTrace().filter((call) => call === 'renameat2')).toHaveLength(1);
    expect(await readTree(room.path)).toEqual(['f: new']);
    expect(statSync(room.at('f')).mode & 0o7777).toBe(0o640);
  });

  test.each(['openat2', 'linkat'] as const)('replace, %s answering EOPNOTSUPP', async (syscall) => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    await forbidUnnamed((trial) => trial.replace('f', 'new'), syscall, ['f']);
    expect(await room.replace('f', 'new')).toMatchObject({ outcome: 'committed' });
    expect(await readTree(room.path)).toEqual(['f: new']);
  });

  test('create makes no name before the content is complete, and renames nothing', async () => {
    const calls = await forbidUnnamed(create, 'openat2', []);
    expect(calls.indexOf('linkat')).toBeGreaterThan(calls.indexOf('fdatasync'));
    expect(calls).not.toContain('renameat2');
  });
});
