import { execFile } from 'node:child_process';
import { chown, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { answerOf, refusalOf } from '../support/answers.ts';
import { createLab, identityOf } from '../support/authority-lab.ts';
import { git, makeRepository, makeSeparateRepository } from '../support/git.ts';

const run = promisify(execFile);
const isRoot = process.geteuid?.() === 0;

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

interface Misuse {
  readonly name: string;
  readonly reason: string;
  /** Makes a Git dir, and answers with what a `.git` file names it by. */
  readonly make: (sandbox: string, checkout: string) => Promise<string>;
}

async function makeBare(path: string): Promise<string> {
  await run('git', ['init', '-q', '--bare', path]);
  return path;
}

async function makeInside(directory: string): Promise<string> {
  await makeSeparateRepository(`${directory}/../scratch`, join(directory, 'inner'));
  return join(directory, 'inner');
}

const misuses: readonly Misuse[] = [
  {
    name: "another checkout's .git",
    reason: 'separate-git-dir',
    make: async (sandbox) => {
      await makeRepository(join(sandbox, 'other'));
      return join(sandbox, 'other/.git');
    },
  },
  {
    name: "another checkout's .git by a relative path",
    reason: 'separate-git-dir',
    make: async (sandbox) => {
      await makeRepository(join(sandbox, 'other'));
      return '../other/.git';
    },
  },
  {
    name: 'an administrative directory of a worktree',
    reason: 'worktree-not-listed',
    make: async (sandbox) => {
      await makeRepository(join(sandbox, 'other'));
      await git(join(sandbox, 'other'), 'worktree', 'add', '-q', '--detach', join(sandbox, 'tree'));
      return join(sandbox, 'other/.git/worktrees/tree');
    },
  },
  {
    name: "a submodule's",
    reason: 'submodule',
    make: async (sandbox) => {
      await mkdir(join(sandbox, 'other/.git/modules'), { recursive: true });
      return makeInside(join(sandbox, 'other/.git/modules'));
    },
  },
  { name: 'a bare repository', reason: 'core-bare', make: (sandbox) => makeBare(join(sandbox, 'bare')) },
  {
    name: 'one inside a bare repository',
    reason: 'separate-git-dir',
    make: async (sandbox) => makeInside(await makeBare(join(sandbox, 'bare'))),
  },
  {
    name: "one inside another checkout's .git",
    reason: 'separate-git-dir',
    make: async (sandbox) => {
      await makeRepository(join(sandbox, 'other'));
      return makeInside(join(sandbox, 'other/.git'));
    },
  },
  {
    name: 'one inside another separate Git dir',
    reason: 'separate-git-dir',
    make: async (sandbox) => {
      await makeSeparateRepository(join(sandbox, 'other'), join(sandbox, 'theirs'));
      return makeInside(join(sandbox, 'theirs'));
    },
  },
  { name: 'nothing', reason: 'separate-git-dir', make: async (sandbox) => join(sandbox, 'absent') },
  {
    name: 'a file',
    reason: 'separate-git-dir',
    make: async (sandbox) => {
      await writeFile(join(sandbox, 'file'), '');
      return join(sandbox, 'file');
    },
  },
  {
    name: 'a link to a Git dir',
    reason: 'separate-git-dir',
    make: async (sandbox) => {
      await symlink(join(sandbox, 'whole'), join(sandbox, 'link'));
      return join(sandbox, 'link');
    },
  },
  {
    name: 'a plain directory',
    reason: 'git-directory-incomplete',
    make: async (sandbox) => {
      await mkdir(join(sandbox, 'plain'));
      return join(sandbox, 'plain');
    },
  },
  { name: 'the checkout itself', reason: 'git-directory-incomplete', make: async (_, checkout) => checkout },
];

/** What may be wrong inside a Git dir that is one. */
const damages: Readonly<Record<string, (gitDirectory: string) => Promise<unknown>>> = {
  'core-worktree': (place) => git(place, 'config', '--file', join(place, 'config'), 'core.worktree', '/'),
  'core-bare': (place) => git(place, 'config', '--file', join(place, 'config'), 'core.bare', 'true'),
  'config-include': (place) => git(place, 'config', '--file', join(place, 'config'), 'include.path', 'x'),
  'config-missing': (place) => rm(join(place, 'config')),
  'head-malformed': (place) => writeFile(join(place, 'HEAD'), 'garbage\n'),
  'git-directory-incomplete': (place) => writeFile(join(place, 'commondir'), '/x\n'),
  'admin-file-irregular': async (place) => {
    await rm(join(place, 'config'));
    await run('mkfifo', [join(place, 'config')]);
  },
  'admin-file-too-large': (place) => truncate(join(place, 'HEAD'), 3 * 1024 ** 3),
  ...(isRoot ? { 'foreign-owner': (place: string) => chown(place, 65534, 65534) } : {}),
};

describe('a Git dir that a file names', () => {
  it.each(misuses)('R02, R34: is refused when it is $name', async ({ make, reason }) => {
    await using lab = await createLab({ mode: 'git' });
    const checkout = join(lab.place, 'checkout');
    await makeSeparateRepository(checkout, join(lab.place, 'whole'));
    const named = await make(lab.place, checkout);
    await writeFile(join(checkout, '.git'), `gitdir: ${named}\n`);
    // Also where an operator would pin it, or a host's row does.
    const surveyed = await lab.authority.survey(checkout).then(() => 'accepted', refusalOf);
    const gitDirIdentity = await identityOf(named.startsWith('/') ? named : join(checkout, named));
    await lab.register('checkout', { gitDirIdentity });
    expect([surveyed, await answerOf(lab.authority, checkout)]).toEqual([
      unsupported(reason),
      unsupported(reason),
    ]);
  });

  it.each(Object.entries(damages))('R04: is refused for what is in it: %s', async (reason, damage) => {
    await using lab = await createLab({ mode: 'git' });
    const [checkout, gitDirectory] = [join(lab.place, 'checkout'), join(lab.place, 'separate')];
    await makeSeparateRepository(checkout, gitDirectory);
    await lab.register('checkout', { gitDirIdentity: await identityOf(gitDirectory) });
    expect(await answerOf(lab.authority, checkout)).toBe('root');
    await damage(gitDirectory);
    expect(await answerOf(lab.authority, checkout)).toBe(unsupported(reason));
  });

  it('R32: makes no main checkout for worktrees: Git itself does not know the way back', async () => {
    await using lab = await createLab({ mode: 'nodegit' });
    const [checkout, gitDirectory] = [join(lab.place, 'checkout'), join(lab.place, 'separate')];
    await makeSeparateRepository(checkout, gitDirectory);
    await lab.register('checkout', { gitDirIdentity: await identityOf(gitDirectory) });
    await git(checkout, 'worktree', 'add', '-q', '--detach', join(lab.place, 'tree'));
    expect(await answerOf(lab.authority, join(lab.place, 'tree'))).toBe('workspace_not_authorized');
    expect(await answerOf(lab.authority, await lab.register('tree'))).toBe(
      unsupported('main-checkout-unknown'),
    );
    // Named .git, it looks like that of a main checkout which is registered; but there .git is a file.
    await rename(gitDirectory, join(lab.place, '.git'));
    await writeFile(join(checkout, '.git'), `gitdir: ${lab.place}/.git\n`);
    expect(await answerOf(lab.authority, checkout)).toBe(unsupported('separate-git-dir'));
  });
});
