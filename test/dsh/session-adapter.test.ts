import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createHostSessions } from '../../src/dsh/session-adapter.ts';
import { createOccupation } from '../../src/sessions/occupation.ts';
import type { Occupant } from '../../src/sessions/session-survey.ts';
import { directoryAt } from '../support/guarded-sessions.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { changeOf, FakeHost, hostVersions } from './fake-host.ts';

let home: string;
let main: string;
let worktree: string;

beforeEach(async () => {
  home = await temporaryDirectory();
  [main, worktree] = [join(home, 'main'), join(home, 'tree')];
  await mkdir(main);
  await mkdir(join(worktree, 'src'), { recursive: true });
});

function guardOf(host: FakeHost, deadlineMs = 30_000) {
  return createHostSessions(host, { logDirectory: join(home, 'sessions'), deadlineMs });
}

async function occupantsOf(host: FakeHost): Promise<readonly Occupant[]> {
  const survey = await createOccupation(guardOf(host)).survey();
  return survey.occupants(directoryAt(worktree, main));
}

interface Row {
  readonly title: string;
  readonly arrange: (host: FakeHost) => unknown;
  /** Null: nobody is in the worktree. */
  readonly occupied: Partial<Occupant> | null;
}

const lost = 'its log is there, but the host does not list it';
const unread = 'its log cannot be read by this host';

const rows: readonly Row[] = [
  { title: 'no session', arrange: () => undefined, occupied: null },
  {
    title: 'a running session that wrote nothing yet',
    arrange: (host) => host.createSession('s', worktree),
    occupied: { sessionId: 's', by: 'header', reason: 'inside' },
  },
  {
    title: 'a session that only its log tells of',
    arrange: (host) => host.storeSession('s', worktree),
    occupied: { sessionId: 's', by: 'header', reason: 'inside' },
  },
  {
    title: 'a header in any spelling',
    arrange: async (host) => {
      await symlink('tree', join(home, 'alias'));
      host.storeSession('s', `${home}/alias//src/`);
    },
    occupied: { reason: 'inside' },
  },
  {
    title: 'a header in a part of the worktree that is gone',
    arrange: (host) => host.storeSession('s', join(worktree, 'gone', 'deep')),
    occupied: { reason: 'inside' },
  },
  {
    title: 'sessions elsewhere',
    arrange: (host) => {
      host.createSession('live', main);
      host.storeSession('stored', main);
    },
    occupied: null,
  },
  {
    title: 'a session of a subagent',
    arrange: (host) => {
      const child = host.createSession('child', worktree, { origin: 'subagent', parentSession: 's' });
      host.append(child, { type: 'turn/start', data: {} });
      host.endLife();
    },
    occupied: { sessionId: 'child' },
  },
  {
    title: 'an archived session that runs',
    arrange: (host) => {
      host.createSession('s', worktree);
      host.registry.archivedSessionIds = ['s'];
    },
    occupied: { sessionId: 's' },
  },
  {
    title: 'an archived session that does not run, and no process inside',
    arrange: (host) => {
      host.storeSession('s', worktree);
      host.registry.archivedSessionIds = ['s'];
    },
    occupied: null,
  },
  {
    title: 'a session whose log was removed and that does not run',
    arrange: async (host) => {
      const { header } = host.storeSession('s', worktree);
      await rm(host.logs.fileOf(header));
    },
    occupied: null,
  },
  {
    title: 'W4: a session without a directory',
    arrange: (host) => host.createSession('s'),
    occupied: { sessionId: 's', by: 'header', reason: 'unknown', why: 'no directory is recorded' },
  },
  {
    title: 'W4: a session without a directory in a workspace that has nothing to do with the worktree',
    arrange: async (host) => {
      await mkdir(join(home, 'other'));
      host.createSession('s');
      (await host.registry.create(join(home, 'other'))).sessionIds.push('s');
    },
    occupied: null,
  },
  {
    title: 'W4: a session without a directory in the workspace whose worktree it is',
    arrange: async (host) => {
      host.createSession('s');
      (await host.registry.create(main)).sessionIds.push('s');
    },
    occupied: { sessionId: 's', reason: 'unknown' },
  },
  {
    title: 'a log of garbage, which the host leaves out without a word',
    arrange: (host) => writeFile(host.logs.fileOf(host.storeSession('s', main).header), '\0garbage\n'),
    occupied: { sessionId: 's', by: 'header', reason: 'unknown', why: lost },
  },
  {
    title: 'an empty log',
    arrange: (host) => writeFile(host.logs.fileOf(host.storeSession('s', main).header), ''),
    occupied: { sessionId: 's', why: lost },
  },
  {
    title: 'a lost log of an id that is no name',
    arrange: (host) => writeFile(host.logs.fileOf(host.storeSession('../evil id', main).header), ''),
    occupied: { sessionId: '../evil id', why: lost },
  },
  {
    title: 'a lost log beside a good one of the same id',
    arrange: async (host) => {
      host.storeSession('s', main);
      const twin = host.logs.directoryOf({ id: 's', cwd: worktree });
      await mkdir(twin, { recursive: true });
      await writeFile(join(twin, 'session.jsonl.zstd'), 'garbage');
    },
    occupied: { sessionId: 's', why: lost },
  },
  {
    title: 'an archived session whose log is lost, and no process inside',
    arrange: async (host) => {
      await writeFile(host.logs.fileOf(host.storeSession('s', main).header), '');
      host.registry.archivedSessionIds = ['s'];
    },
    occupied: null,
  },
  {
    title: 'a directory of a session without a log',
    arrange: (host) => mkdir(host.logs.directoryOf({ id: 's', cwd: worktree }), { recursive: true }),
    occupied: null,
  },
  {
    title: 'a log in the layout before directories',
    arrange: async (host) => {
      const { header } = host.storeSession('s', main);
      await writeFile(join(dirname(host.logs.directoryOf(header)), 'older.jsonl.zstd'), 'x');
    },
    occupied: { sessionId: 'older', why: lost },
  },
  {
    title: 'sessions behind a link, which the host passes over',
    arrange: async (host) => {
      const { header } = host.storeSession('s', main);
      const project = dirname(host.logs.directoryOf(header));
      await rename(project, join(home, 'moved'));
      await symlink(join(home, 'moved'), project);
    },
    occupied: { reason: 'unknown', why: lost },
  },
  {
    title: 'a log whose tail is torn',
    arrange: async (host) => {
      const { header } = host.storeSession('s', main);
      await writeFile(host.logs.fileOf(header), `${JSON.stringify({ type: 'session', ...header })}\n{"torn`);
    },
    occupied: { sessionId: 's', by: 'current', reason: 'unknown', why: unread },
  },
];

describe.each(hostVersions)('sessions of a host of version %s', (version) => {
  it.each(rows)('R28: $title', async ({ arrange, occupied }) => {
    const host = new FakeHost({ home, version });
    await arrange(host);
    const found = await occupantsOf(host);
    if (occupied === null) expect(found).toEqual([]);
    else expect(found).toContainEqual(expect.objectContaining(occupied));
  });

  it('R28: a log that did not change is not read again, and one that did is', async () => {
    const host = new FakeHost({ home, version });
    const { header } = host.storeSession('a', main);
    host.storeSession('b', main);
    const guard = guardOf(host);
    await guard.list();
    await guard.list();
    expect(host.reads.toSorted()).toEqual(['a', 'b']);
    host.logs.write(header, [{ type: 'turn/start', data: { changed: true } }]);
    await guard.list();
    expect(host.reads.toSorted()).toEqual(['a', 'a', 'b']);
  });

  it('R28: every session is listed once, whether it runs, has a log, or both', async () => {
    const host = new FakeHost({ home, version });
    host.createSession('blank', main);
    host.append(host.createSession('both', main), { type: 'turn/start', data: {} });
    host.storeSession('stored', main);
    const ids = (await guardOf(host).list()).map(({ id }) => id);
    expect(ids.toSorted()).toEqual(['blank', 'both', 'stored']);
    expect(host.observed).toBe(0);
  });

  const breaks: readonly (readonly [string, string, (host: FakeHost) => unknown])[] = [
    [
      'no store of sessions',
      'the running sessions cannot be read',
      ({ services }) => services.delete('sessions'),
    ],
    ['no persistence', 'the host keeps no sessions', ({ services }) => services.delete('sessionPersistence')],
    [
      'no registry',
      'the workspace registry cannot be read',
      ({ services }) => services.delete('workspaceRegistry'),
    ],
    [
      'a registry that does not say who is archived',
      'the workspace registry cannot be read',
      ({ registry }) => Object.assign(registry, { archivedSessionIds: undefined }),
    ],
    [
      'a list that fails',
      'the host cannot list its sessions',
      (host) => Object.assign(host, { listFailure: new Error('StorageError') }),
    ],
    [
      'a running session without an id',
      'the running sessions cannot be read',
      ({ services }) => services.set('sessions', { list: () => [{ header: {} }] }),
    ],
  ];

  it.each(breaks)('R04: %s: %s', async (_title, reason, breakIt) => {
    const host = new FakeHost({ home, version });
    breakIt(host);
    const refusal = await refusalOf(() => guardOf(host).list());
    expect(refusal).toEqual({ code: 'session_guard_unavailable', details: { reason } });
  });

  it('R04: a directory of logs that is none refuses, although the host lists no session', async () => {
    const host = new FakeHost({ home, version });
    host.services.set('sessionPersistence', {
      ...(host.get('sessionPersistence') as object),
      list: async () => [],
      listSnapshots: async () => [],
    });
    await writeFile(join(home, 'sessions'), '');
    const refusal = await refusalOf(() => guardOf(host).list());
    expect(refusal.details).toEqual({ reason: 'the directory of session logs cannot be listed' });
  });

  it('R04: a host that does not answer is refused at the deadline, and a caller who goes away is told so', async () => {
    const host = new FakeHost({ home, version });
    const never = () => new Promise(() => undefined);
    host.services.set('sessionPersistence', { list: never, listSnapshots: never });
    const refusal = await refusalOf(() => guardOf(host, 10).list());
    expect(refusal.details).toEqual({ reason: 'the host does not answer' });
    await expect(guardOf(host).list(AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });
});

describe('the directory that a session works in', () => {
  const moved = (host: FakeHost, ...places: readonly string[]) =>
    host.append(host.createSession('s', main), ...places.map(changeOf));

  describe.each(hostVersions)('as %s projects it', (version) => {
    it('R28: the last change into the worktree occupies it', async () => {
      const host = new FakeHost({ home, version, projects: true });
      moved(host, main, join(worktree, 'src'));
      expect(await occupantsOf(host)).toEqual([{ sessionId: 's', by: 'current', reason: 'inside' }]);
    });

    it('R28: the last change out of it does not, unless the header lies in it', async () => {
      const host = new FakeHost({ home, version, projects: true });
      moved(host, worktree, main);
      expect(await occupantsOf(host)).toEqual([]);
      host.append(host.createSession('t', worktree), changeOf(main));
      expect(await occupantsOf(host)).toEqual([{ sessionId: 't', by: 'header', reason: 'inside' }]);
    });

    it('R04: a projection that throws makes the place unknown', async () => {
      const host = new FakeHost({ home, version, projects: true });
      moved(host, main);
      host.projectionFailure = new Error('no');
      const why = 'its directory cannot be read';
      expect(await occupantsOf(host)).toEqual([{ sessionId: 's', by: 'current', reason: 'unknown', why }]);
    });
  });

  it('R28: a host that records none: the header alone counts', async () => {
    for (const version of ['0.1.0', '0.1.1'] as const) {
      const host = new FakeHost({ home, version });
      host.createSession('s', main);
      expect(await guardOf(host).list()).toMatchObject([{ header: { path: main }, current: [] }]);
    }
  });

  it('R04: a service that is mounted without its projection makes the place unknown', async () => {
    const host = new FakeHost({ home, version: '0.2.1', projects: false });
    host.createSession('s', main);
    expect(await occupantsOf(host)).toMatchObject([{ by: 'current', reason: 'unknown' }]);
    host.services.delete('sessionProjections');
    expect(await occupantsOf(host)).toMatchObject([{ by: 'current', reason: 'unknown' }]);
  });

  it('R28: of a session that does not run is read from its log', async () => {
    const host = new FakeHost({ home, version: '0.2.1' });
    host.storeSession('in', main, changeOf(join(worktree, 'src')));
    host.storeSession('out', main, changeOf(worktree), changeOf(main));
    expect(await occupantsOf(host)).toEqual([{ sessionId: 'in', by: 'current', reason: 'inside' }]);
    expect(host.observed).toBe(0);
  });

  it('R28: and from its events, where the host folds none', async () => {
    const host = new FakeHost({ home, version: '0.2.1' });
    host.services.set('sessionQuery', {
      observeSession: async () => ({ events: [changeOf(worktree), changeOf(main), changeOf(worktree)] }),
    });
    host.storeSession('s', main);
    expect(await occupantsOf(host)).toEqual([{ sessionId: 's', by: 'current', reason: 'inside' }]);
  });

  it('R04: a host without a way to read logs leaves it unknown, never unchanged', async () => {
    const host = new FakeHost({ home, version: '0.2.1' });
    host.services.delete('sessionQuery');
    host.storeSession('s', main);
    expect(await occupantsOf(host)).toMatchObject([{ by: 'current', reason: 'unknown', why: unread }]);
  });

  it.each(['0.1.0', '0.1.1'] as const)(
    'R04: a log with moves in it is more than %s can read: occupied',
    async (version) => {
      const host = new FakeHost({ home, version });
      host.storeSession('s', main, changeOf(main));
      expect(await occupantsOf(host)).toMatchObject([{ by: 'current', reason: 'unknown', why: unread }]);
    },
  );

  it.each(hostVersions)('R04: a log of a later format under %s: occupied', async (version) => {
    const host = new FakeHost({ home, version });
    const { header } = host.storeSession('s', main);
    host.logs.write({ ...header, version: 99 }, []);
    const why = version === '0.2.1' ? lost : unread;
    expect(await occupantsOf(host)).toMatchObject([{ sessionId: 's', reason: 'unknown', why }]);
  });

  it.each(['0.1.0', '0.1.1'] as const)(
    'R04: an id that does not fit its place, which fails the whole list of %s: refused',
    async (version) => {
      const host = new FakeHost({ home, version });
      const { header } = host.storeSession('s', main);
      await writeFile(
        host.logs.fileOf(header),
        `${JSON.stringify({ type: 'session', ...header, id: 'other' })}\n`,
      );
      const refusal = await refusalOf(() => guardOf(host).list());
      expect(refusal.details).toEqual({ reason: 'the host cannot list its sessions' });
    },
  );
});
