import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authority } from '../../src/authority/authority.ts';
import { createAuthority } from '../../src/authority/create-authority.ts';
import { native } from '../support/addon.ts';
import { git, makeRepository } from '../support/git.ts';
import { createManagedLab, type ManagedLab } from '../support/managed-lab.ts';
import { kindOf, managedRoots } from '../support/managed-worktrees.ts';
import { openDescriptors } from '../support/processes.ts';

const long = process.env['WORKSPACE_AUTHORITY_LONG'] === '1';
const proofs = long ? 20_000 : 2000;
/** Until then the heap and the pools of the addon still grow. */
const warmUpRounds = 250;

let room: ManagedLab;
/** Right and wrong selectors, with their answers. */
let cases: readonly (readonly [selector: string, answer: string])[];

beforeAll(async () => {
  room = await createManagedLab();
  const { place, lab } = room;
  const first = await room.add(1);
  const second = await room.add(2);
  const linked = join(place, 'linked');
  const unlisted = join(place, 'unlisted');
  const prunable = join(place, 'prunable');
  await git(first.main, 'worktree', 'add', '-q', '--detach', linked);
  await git(first.main, 'worktree', 'add', '-q', '--detach', prunable);
  await writeFile(join(first.main, '.git/worktrees/prunable/gitdir'), `${place}/gone/.git\n`);
  await mkdir(unlisted);
  await writeFile(join(unlisted, '.git'), `gitdir: ${first.main}/.git/worktrees/linked\n`);
  await makeRepository(join(place, 'foreign'));
  await git(join(place, 'foreign'), 'worktree', 'add', '-q', '--detach', join(place, 'foreign-tree'));
  await mkdir(join(first.main, 'sub'));
  await mkdir(join(linked, 'sub'));
  await mkdir(join(place, 'plain'));
  await lab.register('plain');
  await writeFile(join(second.main, '.git/config'), '[include]\n\tpath = x\n', { flag: 'a' });
  const refused = 'workspace_not_authorized';
  cases = [
    [first.main, 'workspace'],
    [join(place, 'plain'), 'workspace'],
    [first.path, 'managed by version 1'],
    [linked, 'linked-worktree'],
    [second.path, refused],
    [second.main, 'repository_unsupported: config-include'],
    [unlisted, refused],
    [prunable, refused],
    [join(place, 'foreign'), refused],
    [join(place, 'foreign-tree'), refused],
    [join(first.main, 'sub'), refused],
    [join(linked, 'sub'), refused],
    [`${linked}/`, refused],
    [`${first.main}/`, 'workspace'],
    [join(first.main, '.git'), refused],
    [join(place, 'absent'), refused],
  ];
});

afterAll(async () => {
  await room[Symbol.asyncDispose]();
});

function freshAuthority(): Authority {
  const { registry, provers: prover } = room.lab;
  const { place } = room;
  return createAuthority({
    native,
    registry,
    prover,
    protectedDirectories: [],
    managedRoots: managedRoots(place),
  });
}

/** Asks all cases at once, `times` times, of an authority that has seen none. */
async function askAll(times: number): Promise<void> {
  const authority = freshAuthority();
  try {
    const asked = Array.from({ length: times }, () => cases).flat();
    const answers = await Promise.all(asked.map(([selector]) => kindOf(authority, selector)));
    expect(answers).toEqual(asked.map(([, answer]) => answer));
  } finally {
    await authority.close();
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** The largest resident set that is seen after some garbage collections in the second half of so many rounds. */
async function residentAfter(rounds: number): Promise<number> {
  let largest = 0;
  for (let round = 1; round <= rounds; round += 1) {
    await askAll(1);
    if (round < rounds / 2 || round % 25 !== 0) continue;
    collectGarbage();
    largest = Math.max(largest, process.memoryUsage.rss());
  }
  return largest;
}

/** Waits until what was closed is closed: descriptors may close on other threads. */
async function settle(expected: { readonly descriptors: number; readonly handles: number }): Promise<void> {
  await expect
    .poll(() => ({ descriptors: openDescriptors(), handles: native.openHandles() }), { timeout: 10_000 })
    .toEqual(expected);
}

describe('many proofs', () => {
  it('R02, R34: 64 at one time, right and wrong selectors mixed, each get their own answer', async () => {
    for (let round = 0; round < 5; round += 1) await askAll(64 / cases.length);
  });

  it('R31: 64 linked worktrees at one time, none of them proven before', async () => {
    const main = join(room.place, 'many');
    await makeRepository(main);
    await room.lab.register('many');
    const trees = Array.from({ length: 64 }, (_, index) => join(room.place, `many-${index}`));
    for (const tree of trees) await git(main, 'worktree', 'add', '-q', '--detach', tree);
    const authority = freshAuthority();
    try {
      const answers = await Promise.all(trees.map((tree) => kindOf(authority, tree)));
      expect(answers).toEqual(trees.map(() => 'linked-worktree'));
    } finally {
      await authority.close();
    }
  });

  it(`R06: ${proofs} proofs by authorities that come and go leave nothing open, and no memory behind`, async () => {
    const rounds = proofs / cases.length;
    const residentBefore = await residentAfter(warmUpRounds);
    const before = { descriptors: openDescriptors(), handles: native.openHandles() };
    const resident = await residentAfter(rounds);
    await settle(before);
    expect(resident).toBeLessThan(residentBefore * 1.1);
  });
});
