import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SessionPlace } from '../../src/sessions/session-guard.ts';
import { directoryAt, occupantsOf, occupationOf, session } from '../support/guarded-sessions.ts';
import { mayMount, mountBind } from '../support/mounts.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';

let sandbox: string;
let worktree: string;

beforeEach(async () => {
  sandbox = await temporaryDirectory();
  worktree = join(sandbox, 'W');
  await mkdir(join(worktree, 'src/deep'), { recursive: true });
});

interface Row {
  readonly title: string;
  /** Path of the session, below the sandbox unless it is absolute. */
  readonly path: string;
  readonly prepare?: () => Promise<unknown>;
  readonly occupied: boolean;
}

const at = (...names: readonly string[]): string => join(sandbox, ...names);

const rows: readonly Row[] = [
  { title: 'the worktree', path: 'W', occupied: true },
  { title: 'a subdirectory', path: 'W/src', occupied: true },
  { title: 'a deep subdirectory', path: 'W/src/deep', occupied: true },
  { title: 'the worktree with a slash at the end', path: 'W/', occupied: true },
  { title: 'the worktree spelled with dots and slashes', path: './W//src/../.', occupied: true },
  { title: 'a subdirectory that is gone', path: 'W/gone/for/good', occupied: true },
  {
    title: 'a file in it, which is no directory any more',
    path: 'W/file/x',
    prepare: () => writeFile(at('W/file'), ''),
    occupied: true,
  },
  {
    title: 'sg-alias-cwd: a subdirectory through a link to the worktree',
    path: 'alias/src',
    prepare: () => symlink(worktree, at('alias')),
    occupied: true,
  },
  {
    title: 'a subdirectory that is gone, through a link to the worktree',
    path: 'alias/gone',
    prepare: () => symlink('W', at('alias')),
    occupied: true,
  },
  {
    title: 'the worktree through a chain of links',
    path: 'one/deep',
    prepare: async () => {
      await symlink('two', at('one'));
      await symlink(at('W/src'), at('two'));
    },
    occupied: true,
  },
  {
    title: 'a link in the worktree that leads outside: the spelling counts',
    path: 'W/out',
    prepare: () => symlink(sandbox, at('W/out')),
    occupied: true,
  },
  {
    title: 'up from a link that leads into the worktree',
    path: 'alias/..',
    prepare: () => symlink('W/src/deep', at('alias')),
    occupied: true,
  },
  {
    title: 'the worktree itself when it is gone',
    path: 'W/src',
    prepare: () => rm(worktree, { recursive: true }),
    occupied: true,
  },
  {
    title: 'the worktree that was set aside, where it is now',
    path: 'aside/src',
    prepare: () => rename(worktree, at('aside')),
    occupied: true,
  },
  {
    title: 'a link that leads to the worktree, which is gone',
    path: 'alias',
    prepare: async () => {
      await symlink(worktree, at('alias'));
      await rm(worktree, { recursive: true });
    },
    occupied: true,
  },
  { title: 'the directory above', path: '', occupied: false },
  { title: 'the root directory', path: '/', occupied: false },
  { title: 'a neighbour', path: 'N', prepare: () => mkdir(at('N')), occupied: false },
  { title: 'a neighbour that is gone', path: 'N', occupied: false },
  {
    title: 'a name that begins alike',
    path: 'W-2/src',
    prepare: () => mkdir(at('W-2/src'), { recursive: true }),
    occupied: false,
  },
  { title: 'a name that begins alike and is gone', path: 'W-2', occupied: false },
  { title: 'another case of the name, where case counts', path: 'w', occupied: false },
  { title: 'up and out of the worktree', path: 'W/..', occupied: false },
  {
    title: 'a link that leads elsewhere',
    path: 'alias',
    prepare: () => symlink('N', at('alias')),
    occupied: false,
  },
];

describe('one session', () => {
  it.each(rows)(
    'R28: in $title: occupied $occupied, by header and by current alike',
    async ({ path, prepare, occupied }) => {
      const directory = directoryAt(worktree);
      await prepare?.();
      const place = path.startsWith('/') ? path : `${sandbox}/${path}`;
      const elsewhere = at('elsewhere');
      const inside = { sessionId: 'one', reason: 'inside' };
      const byHeader = await occupantsOf([session('one', place, [elsewhere])], directory);
      expect(byHeader).toEqual(occupied ? [{ ...inside, by: 'header' }] : []);
      const byCurrent = await occupantsOf([session('one', elsewhere, [place])], directory);
      expect(byCurrent).toEqual(occupied ? [{ ...inside, by: 'current' }] : []);
    },
  );

  it('R28: that moves counts at every place it names, until it is told of no more', async () => {
    const directory = directoryAt(worktree);
    const [elsewhere, inside] = [at('elsewhere'), at('W/src')];
    const places = [
      session('one', inside, [elsewhere]),
      session('two', elsewhere, [elsewhere, inside]),
      session('three', inside, [inside]),
      session('four', elsewhere, []),
    ];
    expect((await occupantsOf(places, directory)).map(({ sessionId, by }) => `${sessionId} ${by}`)).toEqual([
      'one header',
      'two current',
      'three header',
      'three current',
    ]);
  });

  it('R28: whose link was turned elsewhere still counts where it was recorded', async () => {
    await mkdir(at('N'));
    await symlink('N', at('alias'));
    const directory = directoryAt(worktree);
    const recorded = { path: at('alias/src'), canonical: at('W/src') };
    expect(await occupantsOf([session('one', recorded)], directory)).toMatchObject([{ reason: 'inside' }]);
    expect(await occupantsOf([session('one', recorded.path)], directory)).toEqual([]);
  });

  it('R28: counts after the worktree was set aside, by the path it stood under', async () => {
    const directory = directoryAt(worktree);
    await rename(worktree, at('quarantine'));
    await mkdir(worktree);
    const aside = { ...directory, paths: [at('quarantine'), worktree] };
    expect(await occupantsOf([session('one', at('W/src'))], aside)).toMatchObject([{ reason: 'inside' }]);
  });

  it.skipIf(!mayMount)('R28: is found through another mount of the worktree', async () => {
    await mountBind(sandbox, at('mounted'));
    const directory = directoryAt(worktree);
    for (const path of ['mounted/W', 'mounted/W/src/deep', 'mounted/W/gone']) {
      expect(await occupantsOf([session('one', at(path))], directory), path).toMatchObject([
        { reason: 'inside' },
      ]);
    }
    expect(await occupantsOf([session('one', at('mounted/N'))], directory)).toEqual([]);
  });
});

describe('a place that nobody knows', () => {
  const unknown: readonly {
    readonly title: string;
    readonly place: () => SessionPlace;
    readonly why: string;
  }[] = [
    {
      title: 'W4: a session without a directory',
      place: () => ({ unknown: 'no directory yet' }),
      why: 'no directory yet',
    },
    { title: 'a relative directory', place: () => ({ path: 'W' }), why: 'is not an absolute path' },
    { title: 'an empty directory', place: () => ({ path: '' }), why: 'is not an absolute path' },
    { title: 'a path with NUL', place: () => ({ path: '/a\0b' }), why: 'contains NUL' },
    { title: 'a path that is no text', place: () => ({ path: '/\ud800' }), why: 'contains a lone surrogate' },
    {
      title: 'a path that is too long',
      place: () => ({ path: `/${'x'.repeat(4095)}` }),
      why: 'is longer than a path can be',
    },
    { title: 'a name that is too long', place: () => ({ path: `/${'x'.repeat(256)}` }), why: 'ENAMETOOLONG' },
    { title: 'a loop of links', place: () => ({ path: at('loop/x') }), why: 'a loop of symbolic links' },
    {
      title: 'a path that leads up from a directory that is gone',
      place: () => ({ path: `${sandbox}/gone/../N` }),
      why: 'leads up from a directory that is gone',
    },
    {
      title: 'a link to a name that is not UTF-8',
      place: () => ({ path: at('undecodable') }),
      why: 'a link leads to a name that is not UTF-8',
    },
  ];

  it.each(unknown)('R28: $title occupies everything, and says why', async ({ place, why }) => {
    await symlink('loop', at('loop'));
    await symlink(Buffer.from([0x66, 0xff]), at('undecodable'));
    const expected = { sessionId: 'one', reason: 'unknown', why };
    const directory = directoryAt(worktree, at('main'));
    expect(await occupantsOf([session('one', place(), [at('N')])], directory)).toEqual([
      { ...expected, by: 'header' },
    ]);
    expect(await occupantsOf([session('one', at('N'), [place()])], directory)).toEqual([
      { ...expected, by: 'current' },
    ]);
  });

  it.each([
    ['the main checkout of the worktree', 'main', true],
    ['the main checkout through a link', 'to-main', true],
    ['a directory of the main checkout', 'main/packages/a', true],
    ['a directory above the main checkout', '', true],
    ['the worktree itself', 'W', true],
    ['a directory above the worktree', '', true],
    ['a workspace that nobody can follow', 'loop', true],
    ['another repository', 'other', false],
    ['another repository that is gone', 'gone', false],
    ['a repository whose name begins alike', 'main-2', false],
  ])(
    'R28, W05: of a session of %s, it occupies the worktree: %s: %s',
    async (_title, workspace, occupied) => {
      for (const name of ['main/packages/a', 'main-2', 'other']) await mkdir(at(name), { recursive: true });
      await symlink('main', at('to-main'));
      await symlink('loop', at('loop'));
      const directory = directoryAt(worktree, at('main'));
      const blank = session('one', { unknown: 'no directory yet' }, [], {
        workspaces: [`${sandbox}/${workspace}`],
      });
      expect((await occupantsOf([blank], directory)).length).toBe(occupied ? 1 : 0);
      const among = session('one', { unknown: 'x' }, [], {
        workspaces: [at('other'), `${sandbox}/${workspace}`],
      });
      expect((await occupantsOf([among], directory)).length).toBe(occupied ? 1 : 0);
    },
  );

  it('R28, W05: a stale session does not disable the guard for other worktrees', async () => {
    await mkdir(at('free'));
    const sessions = [
      session('stale', at('deleted/long/ago'), [at('deleted/too')]),
      session('stale-here', at('W/deleted')),
      session('blank', { unknown: 'no directory yet' }, [], { workspaces: [at('other')] }),
    ];
    expect(await occupantsOf(sessions, directoryAt(at('free'), at('main')))).toEqual([]);
    expect(await occupantsOf(sessions, directoryAt(worktree, at('main')))).toMatchObject([
      { sessionId: 'stale-here' },
    ]);
  });
});

describe('refusing', () => {
  it('R27: names who is there, and at most 20 of them', async () => {
    const many = Array.from({ length: 30 }, (_, index) =>
      session(`session-${index}`, at('W/src'), [at('W')]),
    );
    const refusal = await refusalOf(() => occupationOf(...many).assertUnoccupied(directoryAt(worktree)));
    expect(refusal).toMatchObject({ code: 'session_active', details: { sessions: 30 } });
    expect((refusal.details as { occupants: unknown[] }).occupants).toHaveLength(20);
    await occupationOf(session('one', at('N'))).assertUnoccupied(directoryAt(worktree));
  });

  it('R28: a worktree is made for a session only from the directory it was created in', async () => {
    await symlink('W', at('alias'));
    const sessions = [
      session('session-right', worktree, [at('N')]),
      session('session-link', at('alias')),
      session('session-moved', at('N'), [worktree]),
      session('session-below', at('W/src')),
      session('session-blank', { unknown: 'no directory yet' }),
      session('session-twice', worktree),
      session('session-twice', at('N')),
    ];
    const ask = (id: string) => occupationOf(...sessions).assertCreationSource(id, worktree);
    await ask('session-right');
    await ask('session-link');
    for (const id of ['moved', 'below', 'blank', 'twice', 'nobody']) {
      expect(await refusalOf(() => ask(`session-${id}`)), id).toEqual({
        code: 'creation_source_changed',
        details: {},
      });
    }
  });
});
