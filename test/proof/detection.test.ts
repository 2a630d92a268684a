import { mkdir, rename as move, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRepositories, type Repositories } from '../../src/authority/repositories.ts';
import { toStoredIdentity } from '../../src/capability/identity.ts';
import { readBranchFacts } from '../../src/git/branch-facts.ts';
import { readWorktreeTable } from '../../src/git/worktree-table.ts';
import { native } from '../support/addon.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';

let lab: AuthorityLab;
let repositories: Repositories;

beforeAll(async () => {
  lab = await createLab({ mode: 'git' });
  repositories = createRepositories({
    authority: lab.authority,
    managedRoots: [],
    readBranches: (capability, signal) => readBranchFacts(capability, lab.git, signal),
    readWorktrees: (capability, signal) => readWorktreeTable(capability, lab.git, signal),
  });
});

afterAll(async () => {
  await lab[Symbol.asyncDispose]();
});

interface Case {
  readonly name: string;
  /** Changes a main checkout with one commit on `main`. */
  readonly make: (root: string) => Promise<unknown>;
  readonly branch: string | null;
  readonly defaultBranch: string | null;
}

async function rename(root: string, branch: string): Promise<void> {
  await git(root, 'branch', '-m', branch);
}

async function remoteBranch(root: string, name: string): Promise<void> {
  await git(root, 'update-ref', `refs/remotes/origin/${name}`, 'HEAD');
}

async function announce(root: string, name: string): Promise<void> {
  await git(root, 'symbolic-ref', 'refs/remotes/origin/HEAD', `refs/remotes/origin/${name}`);
}

const cases: readonly Case[] = [
  { name: 'a branch', make: async () => {}, branch: 'main', defaultBranch: 'main' },
  {
    name: 'W39: a tag with the name of the branch',
    make: async (root) => {
      await git(root, 'checkout', '-q', '-b', 'foo');
      await git(root, 'tag', 'foo');
    },
    branch: 'foo',
    defaultBranch: 'main',
  },
  {
    name: 'W39: tags with the names of all candidates, and no such branch',
    make: async (root) => {
      await rename(root, 'other');
      for (const tag of ['main', 'master', 'heads/main', 'origin/main']) await git(root, 'tag', tag);
    },
    branch: 'other',
    defaultBranch: 'other',
  },
  {
    name: 'a branch that begins like a ref',
    make: (root) => git(root, 'checkout', '-q', '-b', 'heads/foo'),
    branch: 'heads/foo',
    defaultBranch: 'main',
  },
  {
    name: 'a branch with slashes and other scripts',
    make: (root) => git(root, 'checkout', '-q', '-b', 'feat/日本/ä'),
    branch: 'feat/日本/ä',
    defaultBranch: 'main',
  },
  {
    name: 'a detached HEAD',
    make: (root) => git(root, 'checkout', '-q', '--detach'),
    branch: null,
    defaultBranch: 'main',
  },
  {
    name: 'a detached HEAD and no customary branch',
    make: async (root) => {
      await rename(root, 'trunk');
      await git(root, 'checkout', '-q', '--detach');
    },
    branch: null,
    defaultBranch: null,
  },
  {
    name: 'an unborn branch',
    make: (root) => git(root, 'checkout', '-q', '--orphan', 'new'),
    branch: 'new',
    defaultBranch: 'main',
  },
  {
    name: 'an unborn branch in an empty repository',
    make: async (root) => {
      await rm(root, { recursive: true });
      await git('/', 'init', '-q', '--initial-branch=first', root);
    },
    branch: 'first',
    defaultBranch: 'first',
  },
  {
    name: 'HEAD outside refs/heads',
    make: async (root) => {
      await remoteBranch(root, 'main');
      await writeFile(join(root, '.git/HEAD'), 'ref: refs/remotes/origin/main\n');
    },
    branch: null,
    defaultBranch: 'main',
  },
  { name: 'master', make: (root) => rename(root, 'master'), branch: 'master', defaultBranch: 'master' },
  {
    name: 'another branch than main and master',
    make: (root) => rename(root, 'trunk'),
    branch: 'trunk',
    defaultBranch: 'trunk',
  },
  {
    name: 'a default branch announced by the remote, with a local copy',
    make: async (root) => {
      await git(root, 'branch', 'develop');
      await remoteBranch(root, 'develop');
      await announce(root, 'develop');
    },
    branch: 'main',
    defaultBranch: 'develop',
  },
  {
    name: 'W40: a default branch announced by the remote, without a local copy',
    make: async (root) => {
      await rename(root, 'topic');
      await remoteBranch(root, 'develop');
      await announce(root, 'develop');
    },
    branch: 'topic',
    defaultBranch: 'origin/develop',
  },
  {
    name: 'an announced branch that does not exist',
    make: (root) => announce(root, 'gone'),
    branch: 'main',
    defaultBranch: 'main',
  },
  {
    name: 'an announced branch with the beginning of another',
    make: async (root) => {
      await git(root, 'branch', 'rel/1');
      await announce(root, 'rel');
    },
    branch: 'main',
    defaultBranch: 'main',
  },
  {
    name: 'only the remote has a customary branch',
    make: async (root) => {
      await rename(root, 'topic');
      await remoteBranch(root, 'master');
    },
    branch: 'topic',
    defaultBranch: 'origin/master',
  },
  {
    name: 'packed refs',
    make: async (root) => {
      await remoteBranch(root, 'main');
      await git(root, 'checkout', '-q', '-b', 'x');
      await git(root, 'pack-refs', '--all');
    },
    branch: 'x',
    defaultBranch: 'main',
  },
  {
    name: 'a link as origin/HEAD',
    make: async (root) => {
      await mkdir(join(root, '.git/refs/remotes/origin'), { recursive: true });
      await symlink('/etc/passwd', join(root, '.git/refs/remotes/origin/HEAD'));
    },
    branch: 'main',
    defaultBranch: 'main',
  },
  {
    name: 'a branch whose name is not UTF-8',
    make: (root) => writeFile(join(root, '.git/HEAD'), Buffer.from('ref: refs/heads/\xff\n', 'latin1')),
    branch: null,
    defaultBranch: 'main',
  },
];

describe('what /detect tells', () => {
  it.each(cases)('$name', async ({ name, make, branch, defaultBranch }) => {
    const directory = name.replaceAll('/', '-');
    await makeRepository(join(lab.place, directory));
    await make(join(lab.place, directory));
    const root = await lab.register(directory);
    expect(await repositories.detect(root)).toEqual({
      isGit: true,
      repoRoot: root,
      mainRepoRoot: root,
      isLinkedWorktree: false,
      managed: false,
      branch,
      defaultBranch,
    });
  });

  it('R33: a linked worktree tells its own branch, and its main checkout', async () => {
    await makeRepository(join(lab.place, 'main'));
    const main = await lab.register('main');
    await git(main, 'worktree', 'add', '-q', '-b', 'feat/x', join(lab.place, 'linked'));
    expect(await repositories.detect(join(lab.place, 'linked'))).toEqual({
      isGit: true,
      repoRoot: join(lab.place, 'linked'),
      mainRepoRoot: main,
      isLinkedWorktree: true,
      managed: false,
      branch: 'feat/x',
      defaultBranch: 'main',
    });
    await git(join(lab.place, 'linked'), 'checkout', '-q', '--detach');
    expect(await repositories.detect(join(lab.place, 'linked'))).toMatchObject({ branch: null });
  });

  it('a main checkout with a separate Git dir is its own main checkout', async () => {
    const root = join(lab.place, 'separate');
    await git('/', 'init', '-q', '--initial-branch=main', `--separate-git-dir=${root}.git`, root);
    await git(root, 'commit', '-q', '--allow-empty', '-m', 'first');
    const handle = await native.openRoot(`${root}.git`, {});
    const gitDirIdentity = toStoredIdentity(handle.identity());
    handle.close();
    await lab.register('separate', { gitDirIdentity });
    expect(await repositories.detect(root)).toEqual({
      isGit: true,
      repoRoot: root,
      mainRepoRoot: root,
      isLinkedWorktree: false,
      managed: false,
      branch: 'main',
      defaultBranch: 'main',
    });
  });

  it('R03: a plain directory is no repository, and a nested one gets no answer about the repository around it', async () => {
    await mkdir(join(lab.place, 'plain'));
    expect(await repositories.detect(await lab.register('plain'))).toEqual({ isGit: false });
    await makeRepository(join(lab.place, 'around'));
    await mkdir(join(lab.place, 'around/nested'));
    await expect(repositories.detect(await lab.register('around/nested'))).rejects.toMatchObject({
      code: 'git_root_not_authorized',
      legacy: 'git repository root not authorized',
    });
    await expect(repositories.detect(join(lab.place, 'absent'))).rejects.toMatchObject({
      code: 'workspace_not_authorized',
    });
  });

  it('is the answer of the held repository when another one is put in its place', async () => {
    await makeRepository(join(lab.place, 'held'));
    await using capability = await lab.authority.authorizeRepository(await lab.register('held'));
    await move(join(lab.place, 'held'), join(lab.place, 'moved'));
    await makeRepository(join(lab.place, 'held'));
    await rename(join(lab.place, 'held'), 'impostor');
    expect(await readBranchFacts(capability, lab.git)).toEqual({ branch: 'main', defaultBranch: 'main' });
  });
});
