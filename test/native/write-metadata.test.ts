import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, lchownSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { accessList, attributesOf, setAttribute } from '../support/attributes.ts';
import { testAddonPath } from '../support/test-binding.ts';
import { failureOf, replaceRequest, temporaryName, versionOf, WriteRoom } from './write-fixture.ts';

const root = process.getuid?.() === 0;

function run(program: string, ...words: readonly string[]): string {
  return execFileSync(program, words, { encoding: 'utf8' });
}

async function replaced(room: WriteRoom): Promise<void> {
  expect(await room.replace('f', 'new')).toMatchObject({ outcome: 'committed', kept: [] });
  expect(room.text('f')).toBe('new');
}

describe('decision 3: permission bits are kept, set-id bits never', () => {
  const modes: readonly (readonly [given: number, kept: number])[] = [
    [0o644, 0o644],
    [0o600, 0o600],
    [0o755, 0o755],
    [0o777, 0o777],
    [0o640, 0o640],
    [0o1644, 0o1644],
    [0o4755, 0o755],
    [0o2755, 0o755],
    [0o6777, 0o777],
  ];
  test.each(modes.map(([given, kept]) => [given.toString(8), given, kept] as const))(
    '%s',
    async (_, given, kept) => {
      await using room = await WriteRoom.open();
      writeFileSync(room.at('f'), 'old');
      chmodSync(room.at('f'), given);
      await replaced(room);
      expect(statSync(room.at('f')).mode & 0o7777).toBe(kept);
    },
  );
});

describe.runIf(root)('decision 3: owner, attributes and access list are kept', () => {
  test('owner and group', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    chmodSync(room.at('f'), 0o640);
    chownSync(room.at('f'), 1234, 4321);
    await replaced(room);
    expect(statSync(room.at('f'))).toMatchObject({ uid: 1234, gid: 4321, mode: 0o100640 });
  });

  test('the group of a set-group-id directory does not replace that of the file', async () => {
    await using room = await WriteRoom.open();
    chownSync(room.path, 0, 77);
    chmodSync(room.path, 0o2755);
    writeFileSync(room.at('f'), 'old');
    chownSync(room.at('f'), 0, 88);
    await replaced(room);
    expect(statSync(room.at('f'))).toMatchObject({ uid: 0, gid: 88 });
  });

  const owner = { tag: 'user', permissions: 6 } as const;
  const group = { tag: 'group', permissions: 4 } as const;
  const other = { tag: 'other', permissions: 0 } as const;
  const lists = {
    plain: accessList([
      owner,
      { tag: 'namedUser', permissions: 6, id: 1234 },
      group,
      { tag: 'namedGroup', permissions: 4, id: 77 },
      { tag: 'mask', permissions: 6 },
      other,
    ]),
    // The mask takes from the named user what the entry gives.
    masked: accessList([
      owner,
      { tag: 'namedUser', permissions: 7, id: 1234 },
      group,
      { tag: 'mask', permissions: 4 },
      other,
    ]),
  };

  const attributes: readonly (readonly [title: string, name: string, value: Uint8Array | string])[] = [
    ['a user attribute', 'user.note', 'kept'],
    ['an empty user attribute', 'user.empty', ''],
    ['a user attribute of 2,000 bytes', 'user.big', 'x'.repeat(2000)],
    ['a trusted attribute', 'trusted.note', 'kept'],
    ['an access list', 'system.posix_acl_access', lists.plain],
    ['an access list whose mask hides', 'system.posix_acl_access', lists.masked],
  ];
  test.each(attributes)('%s', async (_, name, value) => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    setAttribute(room.at('f'), name, value);
    const before = attributesOf(room.at('f'));
    expect(Object.keys(before)).toEqual([name]);
    const { mode } = statSync(room.at('f'));
    await replaced(room);
    expect(attributesOf(room.at('f'))).toEqual(before);
    expect(statSync(room.at('f')).mode).toBe(mode);
  });

  test('several attributes together', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    for (let count = 0; count < 5; count++) setAttribute(room.at('f'), `user.n${count}`, `${count}`);
    setAttribute(room.at('f'), 'system.posix_acl_access', lists.plain);
    const before = attributesOf(room.at('f'));
    expect(Object.keys(before)).toHaveLength(6);
    await replaced(room);
    expect(attributesOf(room.at('f'))).toEqual(before);
  });

  test("a directory's default access list gives the file nothing that it did not have", async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    chmodSync(room.at('f'), 0o640);
    setAttribute(room.path, 'system.posix_acl_default', lists.plain);
    writeFileSync(room.at('control'), 'a new file has it');
    expect(Object.keys(attributesOf(room.at('control')))).toEqual(['system.posix_acl_access']);
    await replaced(room);
    expect(attributesOf(room.at('f'))).toEqual({});
    expect(statSync(room.at('f')).mode & 0o7777).toBe(0o640);
  });

  test('file capabilities are never carried to new content', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    // cap_net_raw+ep as struct vfs_cap_data, revision 2.
    const capability = Buffer.from('0100000200200000000000000000000000000000', 'hex');
    setAttribute(room.at('f'), 'security.capability', capability);
    setAttribute(room.at('f'), 'user.note', 'kept');
    expect(Object.keys(attributesOf(room.at('f')))).toHaveLength(2);
    await replaced(room);
    expect(attributesOf(room.at('f'))).toEqual({ 'user.note': Buffer.from('kept').toString('hex') });
  });

  test('metadata changed while the commit was prepared is EAGAIN or kept, never lost', async () => {
    await using room = await WriteRoom.open();
    writeFileSync(room.at('f'), 'old');
    for (let count = 0; count < 50; count++) {
      const commit = room.replace('f', room.text('f'));
      const mode = count % 2 === 0 ? 0o600 : 0o664;
      chmodSync(room.at('f'), mode);
      const ending = await commit.then(({ outcome }) => outcome).catch(({ code }) => code);
      expect(['committed', 'EAGAIN']).toContain(ending);
      expect(room.leftovers()).toEqual([]);
      // A commit that was through before the change has a file whose mode was then changed by its name.
      expect(statSync(room.at('f')).mode & 0o777).toBe(mode);
    }
  });
});

describe.runIf(root)('as an ordinary user', () => {
  /** Runs one commit in a process of uid and gid 65534 and returns what came of it. */
  function commitAsNobody(
    room: WriteRoom,
    path: string,
  ): { outcome?: string; code?: string; leaseChecked?: boolean } {
    const program = new URL('./write-once.mjs', import.meta.url).pathname;
    const words = [program, testAddonPath, room.path, path, temporaryName()];
    const identity = ['--reuid=65534', '--regid=65534', '--clear-groups'];
    return JSON.parse(run('setpriv', ...identity, process.execPath, ...words));
  }

  async function nobodysRoom(): Promise<WriteRoom> {
    const room = await WriteRoom.open();
    chownSync(room.path, 65534, 65534);
    writeFileSync(room.at('f'), 'old');
    return room;
  }

  test('an own file is replaced, lease and all', async () => {
    await using room = await nobodysRoom();
    chownSync(room.at('f'), 65534, 65534);
    expect(commitAsNobody(room, 'f')).toEqual({ outcome: 'committed', leaseChecked: true, kept: [] });
    expect(statSync(room.at('f'))).toMatchObject({ uid: 65534, gid: 65534 });
  });

  test('a file of somebody else is WA_METADATA, since its owner cannot be kept', async () => {
    await using room = await nobodysRoom();
    chmodSync(room.at('f'), 0o666);
    expect(commitAsNobody(room, 'f')).toEqual({ code: 'WA_METADATA', syscall: 'fchown', errno: -1 });
    expect(room.text('f')).toBe('old');
    expect(room.leftovers()).toEqual([]);
  });

  test('a file of a foreign group is WA_METADATA too', async () => {
    await using room = await nobodysRoom();
    chownSync(room.at('f'), 65534, 0);
    expect(commitAsNobody(room, 'f')).toMatchObject({ code: 'WA_METADATA', syscall: 'fchown' });
    expect(room.text('f')).toBe('old');
  });

  test('a read-only file is EACCES, though its directory would let it be exchanged', async () => {
    await using room = await nobodysRoom();
    lchownSync(room.at('f'), 65534, 65534);
    chmodSync(room.at('f'), 0o444);
    expect(commitAsNobody(room, 'f')).toMatchObject({ code: 'EACCES', syscall: 'faccessat2' });
    expect(room.text('f')).toBe('old');
  });

  test('a directory that may not be written is EACCES', async () => {
    await using room = await nobodysRoom();
    chownSync(room.at('f'), 65534, 65534);
    chmodSync(room.path, 0o555);
    expect(commitAsNobody(room, 'f')).toMatchObject({ code: 'EACCES', syscall: 'openat2' });
    expect(room.text('f')).toBe('old');
  });
});

test('an immutable file is EPERM at the exchange, and nothing is left', async (context) => {
  await using room = await WriteRoom.open();
  writeFileSync(room.at('f'), 'old');
  try {
    execFileSync('chattr', ['+i', room.at('f')], { stdio: 'ignore' });
  } catch {
    context.skip('this file system or user cannot make a file immutable');
  }
  try {
    const failure = await failureOf(
      room.root.replace('f', replaceRequest('new', versionOf(room.at('f'))), null),
    );
    expect(failure['code']).toBe('EPERM');
    expect(room.text('f')).toBe('old');
    expect(room.leftovers()).toEqual([]);
  } finally {
    execFileSync('chattr', ['-i', room.at('f')]);
  }
});
