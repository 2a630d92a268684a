import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grantOf } from '../support/answers.ts';
import { type AuthorityLab, createLab, identityOf } from '../support/authority-lab.ts';
import { git, makeRepository, makeSeparateRepository } from '../support/git.ts';
import { watchHandles } from '../support/watched-handles.ts';

/** A checkout with a row, or the worktree of one. */
interface Checkout {
  readonly root: string;
  readonly gitDirectory: string;
}

const kinds: Readonly<Record<string, (lab: AuthorityLab) => Promise<Checkout>>> = {
  'a main checkout': async ({ place, register }) => {
    await makeRepository(join(place, 'main'));
    const root = await register('main');
    return { root, gitDirectory: join(root, '.git') };
  },
  'a main checkout with a separate Git dir': async ({ place, register }) => {
    const gitDirectory = join(place, 'separate');
    await makeSeparateRepository(join(place, 'main'), gitDirectory);
    return {
      root: await register('main', { gitDirIdentity: await identityOf(gitDirectory) }),
      gitDirectory,
    };
  },
  'a linked worktree': async ({ place, register }) => {
    await makeRepository(join(place, 'main'));
    const main = await register('main');
    const root = join(place, 'tree');
    await git(main, 'worktree', 'add', '-q', '--detach', root);
    return { root, gitDirectory: join(main, '.git/worktrees/tree') };
  },
};

interface Row {
  readonly what: string;
  readonly moves: boolean;
  /** Whether the question where the Git dir is can be answered. */
  readonly answers: boolean;
  readonly answer: string;
}

const garbage = 'repository_unsupported: head-malformed';

const rows: readonly Row[] = [
  { what: 'and nothing moved: the garbage is told', moves: false, answers: true, answer: garbage },
  {
    what: 'while the Git dir was moved away: the move is told',
    moves: true,
    answers: true,
    answer: 'identity_changed: git dir',
  },
  {
    what: 'and where the Git dir is cannot be found out: the garbage is told',
    moves: true,
    answers: false,
    answer: garbage,
  },
];

describe.each(Object.entries(kinds))('HEAD of %s is read as garbage', (_, make) => {
  let provers: AuthorityLab;

  beforeAll(async () => {
    provers = await createLab({ mode: 'git' });
  });

  afterAll(async () => {
    await provers[Symbol.asyncDispose]();
  });

  it.each(rows)('R06: $what', async ({ moves, answers, answer }) => {
    let gitDirectory: string | null = null;
    let reads = 0;
    const native = watchHandles({
      readCached: (place, whole) => (path, limit, facts, guard) => {
        const bytes = whole(path, limit, facts, guard);
        if (join(place, String(path)) !== `${gitDirectory}/HEAD`) return bytes;
        reads += 1;
        if (moves) renameSync(place, `${place} away`);
        return Buffer.from('garbage\n');
      },
      leadsHere: (place, whole) => async (path) => {
        if (reads > 0 && !answers && place === gitDirectory) throw new Error('no answer');
        return whole(path);
      },
    });
    await using lab = await createLab({ native, prover: provers.provers });
    const checkout = await make(lab);
    gitDirectory = checkout.gitDirectory;
    expect([await grantOf(lab.authority, checkout.root), reads]).toEqual([answer, 1]);
  });
});
