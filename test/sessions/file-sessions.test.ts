import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { currentProcess, type ProcessOwner, runningProcess } from '../../src/capability/process-owner.ts';
import { createOccupation } from '../../src/sessions/occupation.ts';
import type { SessionRow } from '../../src/sessions/session-table.ts';
import { directoryAt } from '../support/guarded-sessions.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { newSession, openSessions, TestClock } from '../support/stored-sessions.ts';

describe('a stored session', () => {
  it('R28: is there from its creation to its closing, in every process', async () => {
    const one = await openSessions();
    const two = await openSessions(one.path);
    const row = await one.store.create(newSession('session-1', '/srv/app/src'));
    expect(row).toMatchObject({
      id: 'session-1',
      header: '/srv/app/src',
      current: '/srv/app/src',
      moving: [],
    });
    expect(await two.store.rows()).toEqual([row]);
    expect(JSON.parse(await readFile(one.file, 'utf8'))).toEqual({ version: 1, sessions: [row] });
    const place = { path: '/srv/app/src', canonical: '/srv/app/src' };
    expect(await two.store.list()).toEqual([
      { id: 'session-1', header: place, current: [place], workspaces: ['/srv/app'], dormant: false },
    ]);
    expect(await two.store.close('session-1')).toEqual(row);
    expect(await one.store.list()).toEqual([]);
  });

  it('has an id of its own, which is free again when it is closed', async () => {
    const { store } = await openSessions();
    await store.create(newSession('session-1'));
    expect((await refusalOf(() => store.create(newSession('session-1', '/srv/b')))).code).toBe(
      'session_already_exists',
    );
    await store.close('session-1');
    await store.create(newSession('session-1', '/srv/b'));
    for (const act of [
      () => store.close('session-2'),
      () => store.renew('session-2'),
      () => store.beginMove('session-2', '/srv/b'),
    ]) {
      expect((await refusalOf(act)).code).toBe('session_not_found');
    }
    expect((await store.rows()).map(({ header }) => header)).toEqual(['/srv/b']);
  });

  it('R28: counts at both places while it moves, then at the new one and at the one of its creation', async () => {
    const { store } = await openSessions();
    await store.create(newSession('session-1', '/srv/a'));
    const places = async () => {
      const [{ header, current, moving } = {} as SessionRow] = await store.rows();
      return [header, current, moving.map(({ path }) => path)];
    };
    const first = await store.beginMove('session-1', '/srv/b');
    expect(await places()).toEqual(['/srv/a', '/srv/a', ['/srv/b']]);
    await store.settleMove('session-1', first);
    expect(await places()).toEqual(['/srv/a', '/srv/b', []]);
    const second = await store.beginMove('session-1', '/srv/c');
    const third = await store.beginMove('session-1', '/srv/d');
    expect(await places()).toEqual(['/srv/a', '/srv/b', ['/srv/c', '/srv/d']]);
    await store.abandonMove('session-1', second);
    await store.settleMove('session-1', third);
    expect(await places()).toEqual(['/srv/a', '/srv/d', []]);
  });

  it('R28: a move that died with its server counts until the next one is settled', async () => {
    const { store, file } = await openSessions();
    const row = await store.create(newSession('session-1', '/srv/a'));
    const dead: ProcessOwner = { ...currentProcess(), startTime: '1' };
    const moving = [
      { path: '/srv/dead', by: dead },
      { path: '/srv/other', by: currentProcess() },
      { path: '/srv/unknown', by: { ...currentProcess(), pidNamespace: '1' } },
    ];
    await writeFile(file, JSON.stringify({ version: 1, sessions: [{ ...row, moving }] }));
    expect((await store.list())[0]?.current.length).toBe(4);
    await store.settleMove('session-1', await store.beginMove('session-1', '/srv/b'));
    expect((await store.rows())[0]?.moving.map(({ path }) => path)).toEqual(['/srv/other', '/srv/unknown']);
  });

  it('closed while it moves is not brought back', async () => {
    const { store } = await openSessions();
    await store.create(newSession('session-1', '/srv/a'));
    const move = await store.beginMove('session-1', '/srv/b');
    await store.close('session-1');
    expect((await refusalOf(() => store.settleMove('session-1', move))).code).toBe('session_not_found');
    await store.abandonMove('session-1', move);
    expect(await store.rows()).toEqual([]);
  });
});

describe('a lease', () => {
  interface Step {
    readonly title: string;
    readonly act: (clock: TestClock) => void;
    readonly open: boolean;
  }
  const steps: readonly Step[] = [
    { title: 'within its time', act: (clock) => clock.pass(60), open: true },
    { title: 'after its time', act: (clock) => clock.pass(61), open: false },
    {
      title: 'over a suspension of hours, since its client slept too',
      act: (clock) => {
        clock.set({ wallMs: clock.now.wallMs + 36_000_000 });
        clock.pass(59);
      },
      open: true,
    },
    {
      title: 'while the clock of the wall is put back',
      act: (clock) => {
        clock.pass(3600);
        clock.set({ wallMs: 1_600_000_000_000 });
      },
      open: true,
    },
    {
      title: 'right after a restart of the machine, however long it was off',
      act: (clock) =>
        clock.set({ wallMs: clock.now.wallMs + 36_000_000, monotonicMs: 59_000, boot: 'ffffffff' }),
      open: true,
    },
    {
      title: 'when nobody renewed it in its time after a restart',
      act: (clock) =>
        clock.set({ wallMs: clock.now.wallMs + 36_000_000, monotonicMs: 61_000, boot: 'ffffffff' }),
      open: false,
    },
    {
      title: 'after a restart that took less than its time',
      act: (clock) => clock.set({ wallMs: clock.now.wallMs + 50_000, monotonicMs: 61_000, boot: 'ffffffff' }),
      open: true,
    },
  ];

  it.each(steps)('R28: of a minute, $title: open $open', async ({ act, open }) => {
    const clock = new TestClock();
    const ended: string[] = [];
    const { store } = await openSessions(undefined, {
      clock: clock.read,
      onEnded: ({ id }) => ended.push(id),
    });
    await store.create(newSession('leased-1', '/srv/a', clock.lease(60)));
    await store.create(newSession('closed-1', '/srv/a'));
    act(clock);
    expect((await store.rows()).map(({ id }) => id)).toEqual(open ? ['leased-1', 'closed-1'] : ['closed-1']);
    const renewed = open ? 'ok' : 'session_not_found';
    expect(
      await store.renew('leased-1').then(
        () => 'ok',
        (error) => error.code,
      ),
    ).toBe(renewed);
    await store.create(newSession('next-one'));
    expect(ended).toEqual(open ? [] : ['leased-1']);
    expect((await store.rows()).length).toBe(open ? 3 : 2);
  });

  it('R28: begins anew when it is renewed and when the session moves', async () => {
    const clock = new TestClock();
    const { store } = await openSessions(undefined, { clock: clock.read });
    await store.create(newSession('leased-1', '/srv/a', clock.lease(60)));
    clock.pass(50);
    await store.renew('leased-1');
    clock.pass(50);
    await store.settleMove('leased-1', await store.beginMove('leased-1', '/srv/b'));
    clock.pass(50);
    expect((await store.rows()).length).toBe(1);
    clock.pass(11);
    expect((await store.rows()).length).toBe(0);
  });
});

describe('a session of a process', () => {
  it('R28, W42: sg-stale-lease-pid: ends with the process, which is told from a later one of the same number', async () => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child, 'spawn');
    const owner = runningProcess(child.pid as number);
    if (owner === null) throw new Error('the child does not run');
    const { store } = await openSessions();
    const rows: readonly (readonly [string, ProcessOwner, boolean])[] = [
      ['running-1', owner, true],
      ['reused-number', { ...owner, startTime: String(Number(owner.startTime) - 1) }, false],
      ['before-restart', { ...owner, boot: '00000000' }, false],
      ['other-namespace', { ...owner, pidNamespace: '1' }, true],
    ];
    for (const [id, process] of rows)
      await store.create(newSession(id, '/srv/a', { ends: 'process', process }));
    const open = rows.filter(([, , isOpen]) => isOpen).map(([id]) => id);
    expect((await store.rows()).map(({ id }) => id)).toEqual(open);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await store.rows()).map(({ id }) => id)).toEqual(['other-namespace']);
  });
});

describe('what stands in the state directory instead of sessions.json', () => {
  const good = {
    id: 'session-1',
    workspace: '/srv/app',
    header: '/srv/app',
    current: '/srv/app',
    moving: [],
    life: { ends: 'closed' },
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  const owner = { pid: '1', startTime: '1', pidNamespace: '1', boot: '0123abcd' };
  const table = (...sessions: readonly object[]): string => JSON.stringify({ version: 1, sessions });

  const contents: readonly (readonly [string, string])[] = [
    ['nothing but its name', ''],
    ['garbage', '\0\x01garbage'],
    ['half a file', table(good).slice(0, 60)],
    ['bytes that are no UTF-8', Buffer.from(table(good)).toString('latin1').replace('srv', '\xff')],
    ['an array', '[]'],
    ['a newer version', JSON.stringify({ version: 2, sessions: [] })],
    ['no version', JSON.stringify({ sessions: [] })],
    ['no sessions', JSON.stringify({ version: 1 })],
    ['a further field', JSON.stringify({ version: 1, sessions: [], more: 1 })],
    ['an id twice', table(good, good)],
    ['a row with a further field', table({ ...good, more: 1 })],
    ['a row without its header', table({ ...good, header: undefined })],
    ['a relative place', table({ ...good, current: 'srv/app' })],
    ['a place that climbs', table({ ...good, header: '/srv/../app' })],
    ['a place that is null', table({ ...good, current: null })],
    ['a life of unknown kind', table({ ...good, life: { ends: 'tomorrow' } })],
    ['an endless lease', table({ ...good, life: { ends: 'lease', seconds: 1e9, renewed: {} } })],
    [
      'a lease that began at no time',
      table({ ...good, life: { ends: 'lease', seconds: 60, renewed: { wallMs: null } } }),
    ],
    ['a process group', table({ ...good, life: { ends: 'process', process: { ...owner, pid: '-1' } } })],
    ['process 0', table({ ...good, life: { ends: 'process', process: { ...owner, pid: '0' } } })],
    ['a move of nobody', table({ ...good, moving: [{ path: '/srv/b' }] })],
    ['a move to no place', table({ ...good, moving: [{ path: '', by: owner }] })],
    ['an id that is none', table({ ...good, id: '../x' })],
    ['no date', table({ ...good, createdAt: 'yesterday' })],
  ];

  it.each(contents)(
    'R04, R27: %s: unavailable for everything, and kept as it is',
    async (_title, content) => {
      const directory = directoryAt(await temporaryDirectory());
      const { store, file, path } = await openSessions();
      await store.create(newSession('session-0'));
      const bytes = Buffer.from(content, 'latin1');
      await writeFile(file, bytes);
      for (const opened of [store, (await openSessions(path)).store]) {
        const occupation = createOccupation(opened);
        for (const act of [
          () => opened.list(),
          () => opened.create(newSession('session-2')),
          () => opened.close('session-0'),
          () => opened.renew('session-0'),
          () => opened.beginMove('session-0', '/srv/b'),
          () => occupation.assertUnoccupied(directory),
        ]) {
          expect(await refusalOf(act)).toMatchObject({
            code: 'session_guard_unavailable',
            details: { file: 'sessions.json' },
          });
        }
      }
      expect(await readFile(file)).toEqual(bytes);
    },
  );

  it.each([
    ['a row is as it should be', table(good)],
    ['there are no rows', table()],
  ])('where %s, it is read', async (_title, content) => {
    const { store, file } = await openSessions();
    await writeFile(file, content, { mode: 0o600 });
    expect((await store.rows()).length).toBe(JSON.parse(content).sessions.length);
  });

  it.each([
    ['was deleted', (file: string) => unlink(file)],
    [
      'became a link',
      async (file: string) => {
        await rename(file, `${file}.real`);
        await symlink(`${file}.real`, file);
      },
    ],
    ['can be written by others', (file: string) => chmod(file, 0o666)],
  ])('R04, R27: a file that %s is unavailable, never empty', async (_title, change) => {
    const { store, file, path } = await openSessions();
    await store.create(newSession('session-1'));
    await change(file);
    for (const opened of [store, (await openSessions(path)).store]) {
      expect((await refusalOf(() => opened.list())).code).toBe('session_guard_unavailable');
    }
  });

  it('R28: a directory is free only when nobody was ever written down', async () => {
    const { store } = await openSessions();
    const directory = directoryAt(await temporaryDirectory());
    await createOccupation(store).assertUnoccupied(directory);
    await store.create(newSession('session-1', directory.paths[0]));
    expect((await refusalOf(() => createOccupation(store).assertUnoccupied(directory))).code).toBe(
      'session_active',
    );
  });
});
