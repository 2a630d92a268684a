import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createDirectoryLookup, type DirectoryEntry } from '../../src/sessions/directory-lookup.ts';
import { createOccupation } from '../../src/sessions/occupation.ts';
import { findProcessesInside } from '../../src/sessions/processes-inside.ts';
import type { SessionGuard } from '../../src/sessions/session-guard.ts';
import { deferred } from '../support/deferred.ts';
import { directoryAt, guardOf, session } from '../support/guarded-sessions.ts';
import { type Harness, harnessGuard } from '../support/harness-sessions.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';

let sandbox: string;
let worktree: string;
let main: string;

beforeEach(async () => {
  sandbox = await temporaryDirectory();
  [worktree, main] = [join(sandbox, 'W'), join(sandbox, 'main')];
  await mkdir(join(worktree, 'src'), { recursive: true });
  await mkdir(main);
});

/** A process of its own that works there, until the test ends or kills it. */
async function processIn(directory: string): Promise<ReturnType<typeof spawn>> {
  const child = spawn('sleep', ['60'], { cwd: directory, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  return child;
}

describe('a guard that cannot answer', () => {
  const guards: readonly (readonly [string, SessionGuard | null])[] = [
    ['run-source-guard-none, run-archive-guard: that is not there', null],
    ['that fails', { list: () => Promise.reject(new Error('no')) }],
    [
      'that fails at once',
      {
        list: () => {
          throw new Error('no');
        },
      },
    ],
    ['that answers with nothing', { list: async () => undefined as never }],
    ['that answers with an object', { list: async () => ({ items: [] }) as never }],
    ['that answers with half a session', { list: async () => [{ id: 'one' }] as never }],
    [
      'that answers with a place of no kind',
      { list: async () => [{ ...session('one', '/a'), header: {} }] as never },
    ],
    [
      'that answers with a place that is null',
      { list: async () => [{ ...session('one', '/a'), header: null }] as never },
    ],
    [
      'that answers with a place of both kinds',
      guardOf(session('one', { path: '/a', unknown: 'x' } as never)),
    ],
    [
      'that answers with places that are no list',
      { list: async () => [{ ...session('one', '/a'), current: '/a' }] as never },
    ],
    [
      'that does not say whether a session is dormant',
      { list: async () => [{ ...session('one', '/a'), dormant: undefined }] as never },
    ],
    ['that leaves sessions out', harnessGuard(() => ({ sessions: [], directories: 1 }))],
  ];

  it.each(guards)('R04, R27, W03: %s: refuses, and never says free', async (_title, guard) => {
    const occupation = createOccupation(guard);
    for (const ask of [
      () => occupation.survey(),
      () => occupation.assertUnoccupied(directoryAt(worktree)),
      () => occupation.assertCreationSource('session-1', worktree),
    ]) {
      const refusal = await refusalOf(ask);
      expect(refusal.code).toBe('session_guard_unavailable');
      expect(refusal.details).toHaveProperty('reason');
    }
  });

  it('a caller who goes away is told so', async () => {
    const guard: SessionGuard = { list: (signal) => Promise.reject(signal?.reason) };
    const refusal = await refusalOf(() => createOccupation(guard).survey(AbortSignal.abort()));
    expect(refusal.code).toBe('aborted');
  });
});

describe('the guard of an agent host', () => {
  interface Row {
    readonly title: string;
    readonly host: () => Harness;
    readonly occupied: boolean;
  }
  const own = (path: string, ...sessionIds: readonly string[]) => ({ workspaces: [{ path, sessionIds }] });
  const rows: readonly Row[] = [
    { title: 'no session', host: () => ({ sessions: [] }), occupied: false },
    {
      title: 'a header as it was typed',
      host: () => ({ sessions: [{ id: 's', cwd: `${sandbox}/alias/src/` }] }),
      occupied: true,
    },
    {
      title: 'a header elsewhere and a last change into the worktree',
      host: () => ({ sessions: [{ id: 's', cwd: main, changes: [main, join(worktree, 'src')] }] }),
      occupied: true,
    },
    {
      title: 'a header elsewhere and a last change out of the worktree',
      host: () => ({ sessions: [{ id: 's', cwd: main, changes: [worktree, main] }] }),
      occupied: false,
    },
    {
      title: 'a header in the worktree and a change out of it: a header never moves',
      host: () => ({ sessions: [{ id: 's', cwd: worktree, changes: [main] }] }),
      occupied: true,
    },
    {
      title: 'a host that records no changes: the header alone counts',
      host: () => ({ sessions: [{ id: 's', cwd: main }], projects: false }),
      occupied: false,
    },
    {
      title: 'a persisted session that does not run',
      host: () => ({ sessions: [{ id: 's', cwd: worktree, live: false }] }),
      occupied: true,
    },
    {
      title: 'an archived session that still runs',
      host: () => ({ sessions: [{ id: 's', cwd: worktree, live: true }], archived: ['s'] }),
      occupied: true,
    },
    {
      title: 'an archived session that does not run, without a process inside',
      host: () => ({ sessions: [{ id: 's', cwd: worktree }], archived: ['s'] }),
      occupied: false,
    },
    {
      title: 'an unreadable log of a session of the main checkout',
      host: () => ({ sessions: [{ id: 's', cwd: main, changes: null }], ...own(main, 's') }),
      occupied: true,
    },
    {
      title: 'an unreadable log of a session of another workspace',
      host: () => ({
        sessions: [{ id: 's', cwd: join(sandbox, 'other'), changes: null }],
        ...own(join(sandbox, 'other'), 's'),
      }),
      occupied: false,
    },
    {
      title: 'an unreadable log of a session of no workspace',
      host: () => ({ sessions: [{ id: 's', cwd: join(sandbox, 'other'), changes: null }] }),
      occupied: true,
    },
    {
      title: 'W4: a blank session of the main checkout',
      host: () => ({ sessions: [{ id: 's' }], ...own(main, 's') }),
      occupied: true,
    },
    {
      title: 'an id that is no name',
      host: () => ({ sessions: [{ id: '../evil id', cwd: worktree }] }),
      occupied: true,
    },
  ];

  it.each(rows)('R28: $title: occupied $occupied', async ({ host, occupied }) => {
    await symlink('W', join(sandbox, 'alias'));
    const survey = await createOccupation(harnessGuard(host)).survey();
    const found = await survey.occupants(directoryAt(worktree, main));
    expect(found.length > 0).toBe(occupied);
    if (occupied)
      expect(new Set(found.map(({ sessionId }) => sessionId))).toEqual(new Set([host().sessions[0]?.id]));
  });

  it('R28: an archived session that does not run occupies while a process works inside', async () => {
    const guard = harnessGuard(() => ({ sessions: [{ id: 's', cwd: worktree }], archived: ['s'] }));
    const occupation = createOccupation(guard);
    const child = await processIn(join(worktree, 'src'));
    expect((await refusalOf(() => occupation.assertUnoccupied(directoryAt(worktree)))).code).toBe(
      'session_active',
    );
    child.kill('SIGKILL');
    await once(child, 'exit');
    await occupation.assertUnoccupied(directoryAt(worktree));
  });

  it('R28: is asked anew each time, so that who comes between two looks is seen', async () => {
    let host: Harness = { sessions: [] };
    const occupation = createOccupation(harnessGuard(() => host));
    await occupation.assertUnoccupied(directoryAt(worktree));
    host = { sessions: [{ id: 's', cwd: worktree }] };
    expect((await refusalOf(() => occupation.assertUnoccupied(directoryAt(worktree)))).code).toBe(
      'session_active',
    );
  });
});

describe('processes', () => {
  it('R28: sg-process-cwd: are found in the directory and below it, also when it was renamed or is gone', async () => {
    const directory = directoryAt(worktree);
    expect(await findProcessesInside(directory)).toEqual({ inside: [], unreadable: 0 });
    const [above, at, below] = [
      await processIn(sandbox),
      await processIn(worktree),
      await processIn(join(worktree, 'src')),
    ];
    const ids = [at.pid, below.pid].sort((left, right) => Number(left) - Number(right));
    expect((await findProcessesInside(directory)).inside).toEqual(ids);
    const aside = join(sandbox, 'aside');
    await rename(worktree, aside);
    expect((await findProcessesInside({ ...directory, paths: [aside, worktree] })).inside).toEqual(ids);
    await rm(aside, { recursive: true });
    expect((await findProcessesInside({ ...directory, paths: [aside, worktree] })).inside).toEqual(ids);
    expect((await findProcessesInside(directoryAt(sandbox))).inside).toContain(above.pid);
  });

  it.each([
    ['cannot be listed', '/nonexistent/proc'],
    ['are those of somewhere else', '/'],
  ])('R04: that %s are a refusal, never none', async (_title, proc) => {
    const refusal = await refusalOf(() => findProcessesInside(directoryAt(worktree), proc));
    expect(refusal.code).toBe('session_guard_unavailable');
  });
});

describe('a file system that does not answer', () => {
  it('R28, W05: makes unknown what lies on it and nothing else, costs one lookup, and is asked again once it answers', async () => {
    const answer = deferred<DirectoryEntry>();
    const asked: string[] = [];
    const lookup = createDirectoryLookup((path) => {
      asked.push(path);
      if (path === '/mnt/silent') return answer.promise;
      return Promise.resolve({ kind: 'directory', device: 1n, inode: BigInt(path.length) });
    }, 10);
    const sessions = [
      session('here', '/mnt/silent/a', [], { workspaces: ['/srv/app'] }),
      session('there', '/mnt/silent/b', [], { workspaces: ['/srv/app'] }),
      session('elsewhere', '/srv/other'),
    ];
    const occupation = createOccupation(guardOf(...sessions), lookup);
    const place = { device: 2n, inode: 1n };
    const concerned = { paths: ['/srv/app-worktree'], place, families: ['/srv/app'] };
    const why = 'the file system does not answer';
    const unknown = (sessionId: string) => ({ sessionId, by: 'header', reason: 'unknown', why });
    for (let round = 0; round < 2; round += 1) {
      const survey = await occupation.survey();
      expect(await survey.occupants(concerned)).toEqual([unknown('here'), unknown('there')]);
      expect(await survey.occupants({ ...concerned, families: ['/srv/unrelated'] })).toEqual([]);
    }
    expect(asked.filter((path) => path.startsWith('/mnt/silent'))).toEqual(['/mnt/silent']);
    answer.resolve({ kind: 'no-directory' });
    await expect.poll(async () => (await occupation.survey()).occupants(concerned)).toEqual([]);
  });
});
