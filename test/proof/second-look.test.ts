import { rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProverQuestion, RepositoryProver } from '../../src/proof/prover.ts';
import { grantOf } from '../support/answers.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { createWorktreeLab, linkedRoot, refused, type WorktreeLab } from '../support/worktree-lab.ts';

/** Agrees like a real one, after something else happened once, when the checkout `path` was asked about. */
class InterruptedProver implements RepositoryProver {
  interruption: { readonly path: string; readonly happen: () => Promise<unknown> } | null = null;
  readonly #real: RepositoryProver;

  constructor(real: RepositoryProver) {
    this.#real = real;
  }

  async prove(question: ProverQuestion, signal?: AbortSignal) {
    const opinion = await this.#real.prove(question, signal);
    const { interruption } = this;
    if (interruption !== null && question.path === interruption.path) {
      this.interruption = null;
      await interruption.happen();
    }
    return opinion;
  }
}

interface Interruption {
  readonly name: string;
  readonly happen: (room: WorktreeLab) => Promise<unknown>;
  readonly answer: string;
}

async function putAside(path: string): Promise<void> {
  await rename(path, `${path} aside`);
}

const ofWorktree: readonly Interruption[] = [
  { name: 'nothing', happen: async () => {}, answer: linkedRoot },
  { name: 'a commit', happen: ({ tree }) => git(tree, 'commit', '-qm', 'x', '--amend'), answer: linkedRoot },
  {
    name: 'its .git leads elsewhere',
    happen: ({ tree, main }) => writeFile(join(tree, '.git'), `gitdir: ${main}/.git/worktrees/other\n`),
    answer: 'identity_changed: git dir',
  },
  {
    name: 'its administrative directory is moved away',
    happen: ({ administration }) => putAside(administration),
    answer: 'identity_changed: git dir',
  },
  {
    name: 'the pointer back leads elsewhere',
    happen: ({ administration, lab }) =>
      writeFile(join(administration, 'gitdir'), `${lab.place}/elsewhere/.git\n`),
    // The main checkout did list it when it was asked, so its state is no secret.
    answer: 'repository_unsupported: worktree-not-listed',
  },
  {
    name: 'the pointer to the common directory leads elsewhere',
    happen: ({ administration }) => writeFile(join(administration, 'commondir'), '/elsewhere\n'),
    answer: 'repository_unsupported: worktree-not-listed',
  },
  {
    name: 'HEAD is garbled',
    happen: ({ administration }) => writeFile(join(administration, 'HEAD'), 'garbage\n'),
    answer: 'repository_unsupported: head-malformed',
  },
  {
    name: 'a setting of its own names another work tree',
    happen: ({ administration }) =>
      writeFile(join(administration, 'config.worktree'), '[core]\nworktree = /elsewhere\n'),
    answer: 'repository_unsupported: core-worktree',
  },
  { name: 'its root is moved away', happen: ({ tree }) => putAside(tree), answer: refused },
  {
    name: 'its main checkout is moved away',
    happen: ({ main }) => putAside(main),
    answer: 'identity_changed: main checkout',
  },
];

const ofMain: readonly Interruption[] = [
  { name: 'nothing', happen: async () => {}, answer: 'workspace root' },
  {
    name: 'its .git is replaced by another',
    happen: async ({ lab, main }) => {
      await makeRepository(join(lab.place, 'other'));
      await putAside(join(main, '.git'));
      await rename(join(lab.place, 'other/.git'), join(main, '.git'));
    },
    answer: 'identity_changed: git dir',
  },
  {
    name: 'its .git is replaced by a link to itself',
    happen: async ({ main }) => {
      await putAside(join(main, '.git'));
      await symlink('.git aside', join(main, '.git'));
    },
    answer: 'identity_changed: git dir',
  },
  {
    name: 'a setting includes another file',
    happen: ({ main }) => git(main, 'config', 'include.path', '/elsewhere'),
    answer: 'repository_unsupported: config-include',
  },
  {
    name: 'its objects are moved away',
    happen: ({ main }) => putAside(join(main, '.git/objects')),
    answer: 'repository_unsupported: git-directory-incomplete',
  },
  { name: 'its root is moved away', happen: ({ main }) => putAside(main), answer: refused },
];

let provers: AuthorityLab;

beforeAll(async () => {
  provers = await createLab({ mode: 'git' });
});

afterAll(async () => {
  await provers[Symbol.asyncDispose]();
});

async function answerWhen({ happen }: Interruption, subject: 'tree' | 'main'): Promise<string> {
  const prover = new InterruptedProver(provers.provers);
  await using room = await createWorktreeLab({ prover });
  const path = room[subject];
  prover.interruption = { path, happen: () => happen(room) };
  const answer = await grantOf(room.lab.authority, path);
  expect(prover.interruption).toBeNull();
  return answer;
}

describe('what happens after a prover has agreed, and before its opinion is used', () => {
  it.each(ofWorktree)('R06, R31: a linked worktree: $name', async (row) => {
    expect(await answerWhen(row, 'tree')).toBe(row.answer);
  });

  it.each(ofMain)('R06: a main checkout: $name', async (row) => {
    expect(await answerWhen(row, 'main')).toBe(row.answer);
  });
});
