import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authority } from '../../src/authority/authority.ts';
import { createRepositories, type Repositories } from '../../src/authority/repositories.ts';
import { AuthorityError, type ErrorCode, errorCodes } from '../../src/errors/index.ts';
import { readBranchFacts } from '../../src/git/branch-facts.ts';
import { parseWorktreeRows, readWorktreeTable } from '../../src/git/worktree-table.ts';
import { native } from '../support/addon.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { deferred } from '../support/deferred.ts';
import { git, makeRepository } from '../support/git.ts';

let lab: AuthorityLab;
let main: string;
const names = Array.from({ length: 12 }, (_, index) => `w${String(index).padStart(2, '0')}`);

beforeAll(async () => {
  lab = await createLab({ mode: 'git' });
  await makeRepository(join(lab.place, 'main'));
  main = await lab.register('main');
  for (const name of names) await git(main, 'worktree', 'add', '-q', '-b', name, join(lab.place, name));
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

/** Repositories over the real authority, where something happens before each worktree is authorised. */
function repositoriesWith(
  before: (path: string) => Promise<void> | void,
  real: Authority = lab.authority,
): Repositories {
  let selected = false;
  const authority: Authority = {
    authorize: (...given) => real.authorize(...given),
    mainCheckoutOf: (...given) => real.mainCheckoutOf(...given),
    explain: (...given) => real.explain(...given),
    closeUnregistered: () => real.closeUnregistered(),
    close: () => real.close(),
    authorizeRepository: async (path, signal) => {
      if (selected) await before(path);
      selected = true;
      return real.authorizeRepository(path, signal);
    },
  };
  return createRepositories({
    authority,
    managedRoots: [],
    readBranches: (capability, signal) => readBranchFacts(capability, lab.git, signal),
    readWorktrees: (capability, signal) => readWorktreeTable(capability, lab.git, signal),
  });
}

const saysNotThisOne: readonly ErrorCode[] = [
  'workspace_not_authorized',
  'git_root_not_authorized',
  'git_repository_required',
  'repository_unsupported',
  'repository_identity_changed',
];
const codes = Object.keys(errorCodes) as ErrorCode[];

describe('the list of worktrees', () => {
  it.each(saysNotThisOne)('R34: a row that is refused with %s is left out', async (code) => {
    const listing = await repositoriesWith((path) => {
      if (path === join(lab.place, 'w03')) throw new AuthorityError(code);
    }).worktrees(main);
    const wanted = ['main', ...names.filter((name) => name !== 'w03')];
    expect(listing.items.map(({ path }) => path)).toEqual(wanted.map((name) => join(lab.place, name)));
  });

  it.each(codes.filter((code) => !saysNotThisOne.includes(code)))(
    'R04: a row that fails with %s fails the answer, and never looks like an absent one',
    async (code) => {
      const repositories = repositoriesWith((path) => {
        if (path === join(lab.place, 'w03')) throw new AuthorityError(code);
      });
      // Another row that changes is no change of what was selected: the caller may ask again.
      const told = code === 'identity_changed' ? 'busy' : code;
      await expect(repositories.worktrees(main)).rejects.toMatchObject({ code: told });
    },
  );

  it('R04: a registry that fails in the middle fails the answer', async () => {
    const repositories = repositoriesWith((path) => {
      if (path === join(lab.place, 'w05')) lab.registry.failure = new Error('disk');
    });
    try {
      await expect(repositories.worktrees(main)).rejects.toMatchObject({ code: 'registry_unavailable' });
    } finally {
      lab.registry.failure = null;
    }
  });

  it('R32: an unregistered main checkout is not told, and lends no worktree', async () => {
    const row = lab.registry.rows.get(main);
    await lab.register('w00');
    try {
      lab.registry.rows.delete(main);
      expect(await repositoriesWith(() => {}).worktrees(join(lab.place, 'w00'))).toMatchObject({
        mainRepoRoot: null,
        root: null,
        items: [{ path: join(lab.place, 'w00') }],
      });
    } finally {
      lab.registry.rows.delete(join(lab.place, 'w00'));
      if (row !== undefined) lab.registry.rows.set(main, row);
    }
  });

  it('without a managed root there is no directory for managed worktrees', async () => {
    expect(await repositoriesWith(() => {}).worktrees(main)).toMatchObject({
      mainRepoRoot: main,
      root: null,
    });
  });

  it('proves four rows at a time', async () => {
    const four = deferred<void>();
    const arrived: string[] = [];
    const listing = repositoriesWith(async (path) => {
      arrived.push(path);
      if (arrived.length === 4) setImmediate(four.resolve);
      await four.promise;
    }).worktrees(main);
    await Promise.race([four.promise, listing]);
    expect(arrived).toHaveLength(4);
    expect((await listing).items).toHaveLength(names.length + 1);
  });

  it('proves them all anew without a warning that something leaks', async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error) => warnings.push(message);
    process.on('warning', note);
    try {
      await using fresh = await createLab({ mode: 'git', place: lab.place });
      await fresh.register('main');
      const proven = names.map(async (name) => {
        await using capability = await fresh.authority.authorizeRepository(join(lab.place, name));
        return capability.kind;
      });
      expect(new Set(await Promise.all(proven))).toEqual(new Set(['linked-worktree']));
      // Warnings are told in a later turn.
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      process.off('warning', note);
    }
    expect(warnings).toEqual([]);
  });

  it('R31: a prunable row is not even looked at', async () => {
    const gone = join(lab.place, 'gone');
    await git(main, 'worktree', 'add', '-q', '--detach', gone);
    await rm(gone, { recursive: true });
    const asked: string[] = [];
    await repositoriesWith((path) => void asked.push(path)).worktrees(main);
    await git(main, 'worktree', 'prune');
    expect(asked).toEqual(['main', ...names].map((name) => join(lab.place, name)));
  });

  it.each([
    ['an answer', () => {}],
    [
      'a failure',
      (path: string) => {
        if (path.endsWith('w07')) throw new AuthorityError('prover_unavailable');
      },
    ],
  ])('R06: after %s it lets go of all that it was lent', async (_, before) => {
    const open = native.openHandles();
    const fresh = await createLab({ mode: 'git', place: lab.place });
    await fresh.register('main');
    await repositoriesWith(before, fresh.authority)
      .worktrees(main)
      .catch(() => null);
    expect(native.openHandles()).toBeGreaterThan(open);
    await fresh[Symbol.asyncDispose]();
    expect(native.openHandles()).toBe(open);
  });

  it('after a failure begins nothing more, and answers when what had begun has ended', async () => {
    const others = deferred<void>();
    const begun: string[] = [];
    let ended = 0;
    const listing = repositoriesWith(async (path) => {
      begun.push(path);
      if (begun.length === 4) {
        setImmediate(others.resolve);
        throw new AuthorityError('prover_unavailable');
      }
      await others.promise;
      ended += 1;
    }).worktrees(main);
    await expect(listing).rejects.toMatchObject({ code: 'prover_unavailable' });
    expect([begun.length, ended]).toEqual([4, 3]);
  });

  it('stops at an abort, and begins nothing more', async () => {
    const stop = new AbortController();
    let begun = 0;
    const repositories = repositoriesWith(() => {
      begun += 1;
      if (begun === 5) stop.abort();
    });
    await expect(repositories.worktrees(main, stop.signal)).rejects.toMatchObject({ code: 'aborted' });
    expect(begun).toBeLessThan(names.length);
  });

  it('R06: is not given when the selector leads elsewhere at its end', async () => {
    const repositories = repositoriesWith(async (path) => {
      if (path === join(lab.place, 'w11')) {
        await git('/', '-C', main, 'worktree', 'move', join(lab.place, 'w01'), join(lab.place, 'elsewhere'));
      }
    });
    try {
      await expect(repositories.worktrees(join(lab.place, 'w01'))).rejects.toMatchObject({
        code: 'identity_changed',
      });
    } finally {
      await git(main, 'worktree', 'move', join(lab.place, 'elsewhere'), join(lab.place, 'w01'));
    }
  });
});

describe('the reader of the worktree list', () => {
  const oid = 'a'.repeat(40);
  const row = (text: string) => Buffer.from(`${text.replaceAll('|', '\0')}\0\0`, 'latin1');
  const plain = { ref: null, oid: null, prunable: false };
  const cases: readonly [string, Buffer, unknown][] = [
    [
      'a branch',
      row(`worktree /a|HEAD ${oid}|branch refs/heads/x`),
      [{ ...plain, path: '/a', oid, ref: 'refs/heads/x' }],
    ],
    [
      'no commit yet',
      row(`worktree /a|HEAD ${'0'.repeat(64)}|branch refs/heads/x`),
      [{ ...plain, path: '/a', ref: 'refs/heads/x' }],
    ],
    [
      'spaces at the end of a name',
      row(`worktree /a  |HEAD ${oid}|detached`),
      [{ ...plain, path: '/a  ', oid }],
    ],
    ['a prunable one', row('worktree /a|prunable gone'), [{ ...plain, path: '/a', prunable: true }]],
    [
      'a prunable one without a reason',
      row('worktree /a|prunable'),
      [{ ...plain, path: '/a', prunable: true }],
    ],
    ['a lock with the words of another', row('worktree /a|locked prunable x'), [{ ...plain, path: '/a' }]],
    [
      'a lock that looks like rows',
      row('worktree /a|locked x\nworktree /b\nHEAD 1'),
      [{ ...plain, path: '/a' }],
    ],
    ['a name with a newline', row('worktree /a\nworktree /b|detached'), [{ ...plain, path: null }]],
    ['a name with an escape', row('worktree /a\u001b[2J|detached'), [{ ...plain, path: null }]],
    ['a name that is not UTF-8', row('worktree /a\xff|detached'), [{ ...plain, path: null }]],
    ['a surrogate in UTF-8', row('worktree /a\xed\xa0\x80|detached'), [{ ...plain, path: null }]],
    ['a name in UTF-8', row('worktree /\xc3\xa4|detached'), [{ ...plain, path: '/ä' }]],
    [
      'two rows',
      Buffer.concat([row('worktree /a|bare'), row('worktree /b|detached')]),
      [
        { ...plain, path: '/a' },
        { ...plain, path: '/b' },
      ],
    ],
    ['nothing', Buffer.alloc(0), null],
    ['an end in the middle', row('worktree /a|detached').subarray(0, -1), null],
    ['another beginning', row('warning: x|worktree /a'), null],
  ];

  it.each(cases)('W41: reads %s', (_, output, rows) => {
    expect(parseWorktreeRows(output)).toEqual(rows);
  });
});
