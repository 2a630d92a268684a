import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import { testAddonPath } from '../support/test-binding.ts';
import { failureOf, removeRequest, temporaryName, versionOf, WriteRoom } from './write-fixture.ts';

const root = process.getuid?.() === 0;

describe('decision 3: a file that somebody has open for writing is WA_WRITER_OPEN, and nothing is changed', () => {
  test.each(['r+', 'a'])('opened %s in this process', async (flags) => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    const fd = openSync(room.at('f'), flags);
    const busy = { code: 'WA_WRITER_OPEN', inPlace: undefined, kept: undefined };
    expect(await failureOf(room.replace('f', 'new'))).toMatchObject(busy);
    expect(
      await failureOf(room.root.remove('f', removeRequest(versionOf(room.at('f'))), null)),
    ).toMatchObject(busy);
    expect(room.text('f')).toBe('old');
    expect(room.leftovers()).toEqual([]);
    closeSync(fd);
    expect(await room.replace('f', 'new')).toMatchObject({ outcome: 'committed', leaseChecked: true });
  });

  test('mapped for writing by another process that has closed its descriptor', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    const script = [
      'import mmap, os, sys',
      'fd = os.open(sys.argv[1], os.O_RDWR)',
      'mapping = mmap.mmap(fd, 3)',
      'os.close(fd)',
      'print("ready", flush=True)',
      'sys.stdin.read()',
    ];
    const mapper = spawn('python3', ['-c', script.join('\n'), room.at('f')]);
    const ended = once(mapper, 'exit');
    await once(createInterface({ input: mapper.stdout }), 'line');
    expect(await failureOf(room.replace('f', 'new'))).toMatchObject({ code: 'WA_WRITER_OPEN' });
    mapper.stdin.end();
    await ended;
    expect(await room.replace('f', 'new')).toMatchObject({ outcome: 'committed' });
  });

  test('readers are no hindrance, and go on to read what they have opened', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    const fd = openSync(room.at('f'), 'r');
    expect(await room.replace('f', 'new')).toMatchObject({ outcome: 'committed', kept: [] });
    expect(readFileSync(fd, 'utf8')).toBe('old');
    closeSync(fd);
  });
});

describe.runIf(root)('where the kernel grants no lease', () => {
  test('the commit goes on and says so: root without CAP_LEASE, on the file of somebody else', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    chownSync(room.at('f'), 1234, 1234);
    chmodSync(room.at('f'), 0o666);
    const program = new URL('./write-once.mjs', import.meta.url).pathname;
    const words = [program, testAddonPath, room.path, 'f', temporaryName()];
    const dropped = ['--bounding-set=-lease', '--inh-caps=-lease'];
    const answer = execFileSync('setpriv', [...dropped, process.execPath, ...words], { encoding: 'utf8' });
    expect(JSON.parse(answer)).toEqual({ outcome: 'committed', leaseChecked: false, kept: [] });
    expect(room.text('f')).toBe('new');
  });
});

test('a lease that is broken ends no process: SIGIO goes nowhere', async () => {
  // 200 openings for writing beside 200 commits; the default action of SIGIO would end this process.
  await using room = await WriteRoom.open();
  writeFileSync(room.at('f'), 'old');
  const program = new URL('./appender.mjs', import.meta.url).pathname;
  const appender = spawn(process.execPath, [program, room.at('f')]);
  const lines = createInterface({ input: appender.stdout });
  await once(lines, 'line');
  for (let count = 0; count < 200; count++) {
    await room.replace('f', room.text('f')).catch(() => undefined);
  }
  const ended = once(appender, 'exit');
  appender.stdin.end();
  expect(await ended).toEqual([0, null]);
});
