import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RepositoryProver } from '../../src/proof/prover.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { createWorktreeLab, linkedRoot, type WorktreeLab } from '../support/worktree-lab.ts';

const disagrees = 'repository_unsupported: prover-disagrees';

/** Puts something else where the main checkout was, and gives what takes it away again. */
type Exchange = (room: WorktreeLab, other: string) => Promise<() => Promise<void>>;

const byGitFile: Exchange = ({ lab, main }, other) =>
  exchangeEntry(lab, join(main, '.git'), (path) => writeFile(path, `gitdir: ${other}/.git\n`));

const exchanges: Readonly<Record<string, Exchange>> = {
  'by a link to another repository': ({ lab, main }, other) =>
    exchangeEntry(lab, main, (path) => symlink(other, path)),
  'by a directory whose Git file leads to another repository': ({ lab, main }, other) =>
    exchangeEntry(lab, main, async (path) => {
      await mkdir(path);
      await writeFile(join(path, '.git'), `gitdir: ${other}/.git\n`);
    }),
  'by another repository': ({ lab, main }, other) => exchangeEntry(lab, main, (path) => rename(other, path)),
  'in its Git dir, by a Git file that leads to another repository': byGitFile,
  'in its Git dir, by a link to another one': ({ lab, main }, other) =>
    exchangeEntry(lab, join(main, '.git'), (path) => symlink(join(other, '.git'), path)),
  'in its configuration, which names another work tree': async ({ lab, main }) => {
    const config = join(main, '.git/config');
    const elsewhere = join(lab.place, 'elsewhere');
    const before = await readFile(config);
    await mkdir(elsewhere);
    await git(main, 'config', 'core.worktree', elsewhere);
    return async () => {
      await writeFile(config, before);
      await rename(elsewhere, join(lab.place, 'gone'));
    };
  },
};

async function exchangeEntry(
  { place }: AuthorityLab,
  path: string,
  put: (path: string) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const away = join(place, 'away');
  await rename(path, away);
  await put(path);
  return async () => {
    await rename(path, join(place, 'taken-away'));
    await rename(away, path);
  };
}

/** A prover before which something else stands while worktrees are asked about, until none is. */
interface Disturbed extends RepositoryProver {
  disturbance: (() => Promise<() => Promise<void>>) | null;
}

function disturb(honest: RepositoryProver): Disturbed {
  let asking = 0;
  let disturbing: ReturnType<NonNullable<Disturbed['disturbance']>> | null = null;
  const prover: Disturbed = {
    disturbance: null,
    async prove(question, signal) {
      if (prover.disturbance === null || question.worktree === null) return honest.prove(question, signal);
      asking += 1;
      disturbing ??= prover.disturbance();
      const restore = await disturbing;
      try {
        return await honest.prove(question, signal);
      } finally {
        asking -= 1;
        if (asking === 0) {
          prover.disturbance = null;
          await restore();
        }
      }
    },
  };
  return prover;
}

describe('R31, R33: a main checkout that was exchanged while libgit2 was asked', () => {
  const rows = Object.entries(exchanges).flatMap(([name, exchange]) =>
    ([false, true] as const).map((kept) => ({ name, kept, exchange })),
  );

  it.each(rows)('$name, kept open before: $kept: no worktree is refused for it afterwards', async (row) => {
    await using asked = await createLab({ mode: 'nodegit' });
    const prover = disturb(asked.provers);
    await using room = await createWorktreeLab({ prover });
    // One after the other: Git reads the rows of all worktrees when it adds one, also one that is half made.
    const others = [await room.addWorktree('second'), await room.addWorktree('third')];
    const other = join(room.lab.place, 'other');
    await makeRepository(other);
    expect(await room.grant(room.main)).toBe('workspace root');
    if (row.kept) expect(await room.grant()).toBe(linkedRoot);
    prover.disturbance = () => row.exchange(room, other);
    const [during] = others;
    expect([disagrees, linkedRoot]).toContain(await room.grant(during));
    expect(prover.disturbance).toBeNull();
    for (const worktree of [room.tree, ...others]) expect(await room.grant(worktree)).toBe(linkedRoot);
  });

  it('is asked about by many at once: none of them is refused afterwards', async () => {
    await using asked = await createLab({ mode: 'nodegit' });
    const prover = disturb(asked.provers);
    await using room = await createWorktreeLab({ prover });
    const names = Array.from({ length: 12 }, (_, index) => `tree-${index}`);
    const worktrees: string[] = [];
    for (const name of names) worktrees.push(await room.addWorktree(name));
    const other = join(room.lab.place, 'other');
    await makeRepository(other);
    expect(await room.grant(room.main)).toBe('workspace root');
    prover.disturbance = () => byGitFile(room, other);
    await Promise.all(worktrees.map((worktree) => room.grant(worktree)));
    expect(prover.disturbance).toBeNull();
    expect(new Set(await Promise.all(worktrees.map((worktree) => room.grant(worktree))))).toEqual(
      new Set([linkedRoot]),
    );
  });
});
