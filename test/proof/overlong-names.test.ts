import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { createWorktreeLab, linkedRoot, refused, type WorktreeLab } from '../support/worktree-lab.ts';

/** A path of `bytes` bytes below `base`, whose components are not longer than a name may be. */
function deepPath(base: string, bytes: number): string {
  let path = base;
  while (bytes - path.length > 250) path += `/${'d'.repeat(200)}`;
  return `${path}/${'e'.repeat(bytes - path.length - 1)}`;
}

interface Pointer {
  readonly name: string;
  /** What the `.git` file names. */
  readonly target: (room: WorktreeLab) => Promise<string>;
  /** The answer where the directory has a row of its own. */
  readonly registered: string;
}

const notListed = 'repository_unsupported: worktree-not-listed';
const unknownMain = 'repository_unsupported: main-checkout-unsupported';
const malformed = 'repository_unsupported: git-file-malformed';

/** Names and paths at the limits of NAME_MAX and PATH_MAX (limits.h) and beyond them; a file has room for a path of 4191 bytes. */
const pointers: readonly Pointer[] = [
  ...[255, 256, 300, 4000].map((bytes) => ({
    name: `a worktree with a name of ${bytes} bytes`,
    target: async ({ main }: WorktreeLab) => `${main}/.git/worktrees/${'n'.repeat(bytes)}`,
    registered: notListed,
  })),
  {
    name: 'a worktree with a name of 128 letters and 256 bytes',
    target: async ({ main }) => `${main}/.git/worktrees/${'é'.repeat(128)}`,
    registered: notListed,
  },
  ...[4088, 4089, 4096, 4140].map((bytes) => ({
    name: `a worktree whose administration has a path of ${bytes} bytes, by a registered main checkout`,
    target: async ({ lab }: WorktreeLab) => {
      const main = deepPath(lab.place, 3870);
      await mkdir(main, { recursive: true });
      await makeRepository(main);
      await lab.register(main.slice(lab.place.length + 1));
      const administration = `${main}/.git/worktrees/`;
      return `${administration}${'n'.repeat(bytes - administration.length)}`;
    },
    registered: notListed,
  })),
  {
    name: 'a main checkout with a name of 256 bytes',
    target: async ({ lab }) => `${lab.place}/${'m'.repeat(256)}/.git/worktrees/tree`,
    registered: unknownMain,
  },
  {
    name: 'a registered main checkout that no path can reach',
    target: async ({ lab }) => {
      const main = deepPath(lab.place, 4100);
      lab.registry.register(main);
      return `${main}/.git/worktrees/tree`;
    },
    registered: unknownMain,
  },
  {
    name: 'a registered main checkout with a name of 256 bytes',
    target: async ({ lab }) => {
      const main = `${lab.place}/${'m'.repeat(256)}`;
      lab.registry.register(main);
      return `${main}/.git/worktrees/tree`;
    },
    registered: unknownMain,
  },
  {
    name: 'a Git dir with a name of 256 bytes',
    target: async ({ lab }) => `${lab.place}/${'g'.repeat(256)}`,
    registered: 'repository_unsupported: separate-git-dir',
  },
  {
    name: 'a Git dir that no path can reach',
    target: async ({ lab }) => deepPath(lab.place, 4150),
    registered: 'repository_unsupported: separate-git-dir',
  },
  {
    name: 'more than the file may hold',
    target: async ({ main }) => `${main}/.git/worktrees/${'n'.repeat(4200)}`,
    registered: malformed,
  },
];

describe('a `.git` file that names what no file system can hold', () => {
  let provers: AuthorityLab;

  beforeAll(async () => {
    provers = await createLab({ mode: 'git' });
  });

  afterAll(async () => {
    await provers[Symbol.asyncDispose]();
  });

  it.each(pointers)('R04, R34: $name: is refused, and is no failure of the storage', async (pointer) => {
    await using room = await createWorktreeLab({ prover: provers.provers });
    const forged = join(room.lab.place, 'forged');
    await mkdir(forged);
    await writeFile(join(forged, '.git'), `gitdir: ${await pointer.target(room)}\n`);
    const { refusal } = await room.lab.authority.explain(forged);
    expect([await room.grant(forged), refusal?.code]).toEqual([refused, refused]);
    await room.lab.register('forged');
    expect(await room.grant(forged)).toBe(pointer.registered);
    expect(await room.grant()).toBe(linkedRoot);
  });

  it('R31: a worktree with the longest name is granted', async () => {
    await using room = await createWorktreeLab({ prover: provers.provers });
    const longest = 'n'.repeat(255);
    expect(await room.grant(await room.addWorktree(longest))).toBe(linkedRoot);
    expect(await git(room.main, 'worktree', 'list', '--porcelain')).toContain(longest);
  });
});
