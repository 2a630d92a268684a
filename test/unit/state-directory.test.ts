import { execFileSync } from 'node:child_process';
import {
  chmod,
  chown,
  link,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStateDirectory } from '../../src/capability/state-directory.ts';
import { defaultStateDirectory } from '../../src/capability/state-location.ts';
import { StateLog } from '../../src/capability/state-log.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import { native } from '../support/addon.ts';
import { openState, refusalOf, temporaryDirectory } from '../support/state.ts';

describe('where the state lives', () => {
  it.each([
    [{ WORKSPACE_AUTHORITY_HOME: '/own', XDG_STATE_HOME: '/xdg', HOME: '/h' }, '/own'],
    [{ XDG_STATE_HOME: '/xdg', HOME: '/h' }, '/xdg/workspace-authority'],
    [{ XDG_STATE_HOME: 'relative', HOME: '/h' }, '/h/.local/state/workspace-authority'],
    [{ WORKSPACE_AUTHORITY_HOME: '', XDG_STATE_HOME: '', HOME: '/h' }, '/h/.local/state/workspace-authority'],
  ])('%o names %s', (environment, path) => {
    expect(defaultStateDirectory(environment)).toBe(path);
  });

  it.each([{ WORKSPACE_AUTHORITY_HOME: 'relative', HOME: '/h' }, { HOME: 'relative' }])(
    '%o is refused',
    (environment) => {
      expect(() => defaultStateDirectory(environment)).toThrowError(
        expect.objectContaining({ code: 'state_unavailable' }),
      );
    },
  );
});

describe('opening the state directory', () => {
  it('makes it and its parents with mode 0700, whatever the umask', async () => {
    const path = join(await temporaryDirectory(), 'a/b/state');
    const before = process.umask(0);
    try {
      await openState(path);
    } finally {
      process.umask(before);
    }
    for (const made of [path, join(path, '..'), join(path, '../..')]) {
      expect((await stat(made)).mode & 0o777).toBe(0o700);
    }
  });

  it('follows links above it once, and names it canonically', async () => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'real'));
    await symlink('real', join(root, 'link'));
    const { state } = await openState(join(root, 'link/state'));
    expect(state.path).toBe(join(root, 'real/state'));
  });

  const bad: readonly (readonly [title: string, reason: RegExp, make: (path: string) => Promise<unknown>])[] =
    [
      [
        'a symbolic link',
        /is a symbolic link/,
        async (path) => {
          await mkdir(`${path}-real`);
          await symlink(`${path}-real`, path);
        },
      ],
      ['a dangling link', /is a symbolic link/, (path) => symlink('nowhere', path)],
      ['a file', /is not a directory/, (path) => writeFile(path, '')],
      [
        'a directory of somebody else',
        /belongs to user 65534/,
        async (path) => {
          await mkdir(path);
          await chown(path, 65534, 65534);
        },
      ],
      [
        'a directory its group may write to',
        /can be written by/,
        async (path) => {
          await mkdir(path);
          await chmod(path, 0o770);
        },
      ],
      [
        'a directory anybody may write to',
        /can be written by/,
        async (path) => {
          await mkdir(path);
          await chmod(path, 0o1707);
        },
      ],
    ];

  it.each(bad)('refuses %s and names the fact', async (_, reason, make) => {
    const path = join(await temporaryDirectory(), 'state');
    await make(path);
    const { code, details } = await refusalOf(() => openStateDirectory(path, native));
    expect(code).toBe('state_unavailable');
    expect(details).toMatchObject({ file: '.', reason: expect.stringMatching(reason) });
    expect(native.openHandles()).toBe(0);
  });

  it.each(['relative', '/a/../b', '/a//b', '/a/'])('refuses the path %s', async (path) => {
    expect(await refusalOf(() => openStateDirectory(path, native))).toEqual({
      code: 'state_unavailable',
      details: { file: '.', reason: 'not a plain absolute path' },
    });
  });

  it('without openat2 it is kernel_capability_missing, and nothing is made', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const crippled = { ...native, probe: () => ({ openat2: { available: false, code: 'EPERM' } }) };
    const { code, details } = await refusalOf(() => openStateDirectory(path, crippled as typeof native));
    expect([code, details]).toEqual(['kernel_capability_missing', { syscall: 'openat2', errno: 'EPERM' }]);
    await expect(stat(path)).rejects.toThrow('ENOENT');
  });
});

describe('state files', () => {
  it('are created once, replaced only from the version that was read, and always 0600', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const { state } = await openState(path);
    expect(await state.read('f', 100)).toBeNull();
    expect(await state.create('f', Buffer.from('one'))).toBe(true);
    expect(await state.create('f', Buffer.from('other'))).toBe(false);
    const one = await state.read('f', 100);
    if (one === null) throw new Error('it was just written');
    expect(Buffer.from(one.bytes).toString()).toBe('one');
    expect(await state.replace('f', Buffer.from('two'), one)).toBe(true);
    expect(await state.replace('f', Buffer.from('three'), one)).toBe(false);
    expect(await readFile(join(path, 'f'), 'utf8')).toBe('two');
    expect((await stat(join(path, 'f'))).mode & 0o7777).toBe(0o600);
    expect(await readdir(path)).toEqual(['f', 'locks']);
  });

  const content = Buffer.from('content');
  const bad: readonly (readonly [title: string, reason: RegExp, make: (file: string) => Promise<unknown>])[] =
    [
      [
        'a symbolic link',
        /is a symbolic link/,
        async (file) => {
          await writeFile(`${file}-real`, content, { mode: 0o600 });
          await symlink(`${file}-real`, file);
        },
      ],
      ['a directory', /is not a regular file/, (file) => mkdir(file)],
      ['a FIFO', /is not a regular file/, async (file) => execFileSync('mkfifo', [file])],
      [
        'a file of somebody else',
        /belongs to user 65534/,
        async (file) => {
          await writeFile(file, content, { mode: 0o600 });
          await chown(file, 65534, 65534);
        },
      ],
      [
        'a file its group may write to',
        /can be written by/,
        async (file) => {
          await writeFile(file, content);
          await chmod(file, 0o660);
        },
      ],
      [
        'a file over the limit',
        /is larger than 100 bytes/,
        (file) => writeFile(file, Buffer.alloc(101), { mode: 0o600 }),
      ],
    ];

  it.each(bad)('R04: refuses to read %s, naming the file and the fact', async (_, reason, make) => {
    const path = join(await temporaryDirectory(), 'state');
    const { state } = await openState(path);
    await make(join(path, 'f'));
    const { code, details } = await refusalOf(() => state.read('f', 100));
    expect(code).toBe('state_unavailable');
    expect(details).toEqual({ file: 'f', reason: expect.stringMatching(reason) });
  });

  it('R05: a state directory that was moved away is refused, also with another in its place', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const { state } = await openState(path);
    await state.create('f', content);
    await rename(path, `${path}-moved`);
    const refused = {
      code: 'state_unavailable',
      details: { file: 'f', reason: 'the state directory was moved away' },
    };
    expect(await refusalOf(() => state.read('f', 100))).toEqual(refused);
    await mkdir(path, { mode: 0o700 });
    expect(await refusalOf(() => state.create('f', content))).toEqual(refused);
    expect(await readdir(path)).toEqual([]);
  });

  it('notices every kind of change by the stamp', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const { state } = await openState(path);
    const file = join(path, 'f');
    const changes: readonly (() => Promise<unknown>)[] = [
      () => writeFile(file, 'longer content'),
      () => utimes(file, 1, 1),
      () => chmod(file, 0o640),
      () => link(file, `${file}-second-name`),
      () => unlink(file),
    ];
    await state.create('f', content);
    for (const change of changes) {
      const reading = await state.read('f', 100);
      if (reading === null) throw new Error('it is there');
      expect(await state.isUnchanged('f', reading.stamp)).toBe(true);
      await change();
      expect(await state.isUnchanged('f', reading.stamp), change.toString()).toBe(false);
    }
  });

  it('closing gives every descriptor back', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const state = await openStateDirectory(path, native);
    await state.create('f', content);
    await state.read('f', 100);
    (await state.openLock('file')).close();
    state.close();
    expect(native.openHandles()).toBe(0);
    expect(isAuthorityError(await state.read('f', 100).catch((error: unknown) => error))).toBe(true);
  });
});

describe('state logs', () => {
  it('keep lines in order, in a file of mode 0600, across rotation and re-opening', async () => {
    const path = join(await temporaryDirectory(), 'state');
    const { state } = await openState(path);
    const failures: unknown[] = [];
    const log = state.openLog('audit.jsonl', (error) => failures.push(error));
    for (let index = 0; index < 1000; index += 1) log.append(`line ${index}`);
    await log.close();
    log.append('after closing');
    await log.close();
    const lines = (await readFile(join(path, 'audit.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(lines).toEqual([...Array.from({ length: 1000 }, (_, index) => `line ${index}`), 'after closing']);
    expect((await stat(join(path, 'audit.jsonl'))).mode & 0o7777).toBe(0o600);
    expect(failures).toEqual([]);
  });

  it('become NAME.1 when they are full, also for another process that has them open', async () => {
    const directory = await temporaryDirectory();
    const failures: unknown[] = [];
    const options = {
      directory,
      name: 'audit.jsonl',
      rotateBytes: 10,
      onFailure: (error: unknown) => failures.push(error),
    };
    const [one, two] = [new StateLog(options), new StateLog(options)];
    // A line that is written before the next is appended: rotation happens between writes.
    const append = async (log: StateLog, line: string) => {
      log.append(line);
      await log.flush();
    };
    await append(one, 'one: first');
    await append(two, 'two: first');
    await append(one, 'one: second');
    await append(two, 'two: second');
    await Promise.all([one.close(), two.close()]);
    const read = (name: string) => readFile(join(directory, name), 'utf8');
    expect(await read('audit.jsonl.1')).toBe('one: first\ntwo: first\n');
    expect(await read('audit.jsonl')).toBe('one: second\ntwo: second\n');
    expect(failures).toEqual([]);
  });

  it.each([
    ['a link', (file: string) => symlink('/dev/null', file)],
    ['a FIFO', async (file: string) => execFileSync('mkfifo', [file])],
    ['a directory', (file: string) => mkdir(file)],
    [
      'a file others may write to',
      async (file: string) => {
        await writeFile(file, '');
        await chmod(file, 0o666);
      },
    ],
  ])('refuse %s, report it once, and count what was lost', async (_, make) => {
    const path = join(await temporaryDirectory(), 'state');
    const { state } = await openState(path);
    const file = join(path, 'audit.jsonl');
    await make(file);
    const failures: unknown[] = [];
    const log = state.openLog('audit.jsonl', (error) => failures.push(error));
    log.append('one');
    await log.close();
    log.append('two');
    await log.close();
    expect(failures).toHaveLength(1);
    await rm(file, { recursive: true });
    log.append('three');
    await log.close();
    expect(await readFile(file, 'utf8')).toBe('{"lost":2}\nthree\n');
  });
});
