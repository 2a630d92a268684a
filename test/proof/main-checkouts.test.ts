import { execFile } from 'node:child_process';
import { chown, cp, lstat, readdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProverMode } from '../../src/proof/provers.ts';
import { answerOf } from '../support/answers.ts';
import { createLab, makePlace } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';

const run = promisify(execFile);
const isRoot = process.geteuid?.() === 0;
const nobody = 65534;

interface Layout {
  readonly name: string;
  readonly answer: string;
  /** Changes a fresh main checkout. */
  readonly make: (root: string) => Promise<unknown>;
}

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

async function fifo(path: string): Promise<void> {
  await rm(path, { force: true, recursive: true });
  await run('mkfifo', [path]);
}

async function huge(path: string): Promise<void> {
  await writeFile(path, '');
  await truncate(path, 3 * 1024 ** 3);
}

async function throughLink(root: string, path: string): Promise<void> {
  await rename(join(root, path), join(root, 'moved'));
  await symlink(join(root, 'moved'), join(root, path));
}

/** What an honest person has. */
const honest: readonly Layout[] = [
  { name: 'nothing special', answer: 'root', make: async () => {} },
  { name: 'packed refs after gc', answer: 'root', make: (root) => git(root, 'gc', '--quiet') },
  {
    name: 'objects borrowed from another repository',
    answer: 'root',
    make: async (root) => {
      await rename(root, `${root} source`);
      await git('/', 'clone', '--quiet', '--reference', `${root} source`, '--', `${root} source`, root);
    },
  },
  {
    name: 'a shallow clone',
    answer: 'root',
    make: async (root) => {
      await git(root, 'commit', '--quiet', '--allow-empty', '-m', 'second');
      await rename(root, `${root} source`);
      await git('/', 'clone', '--quiet', '--depth=1', `file://${root} source`, root);
    },
  },
  {
    name: 'sparse checkout, which turns worktreeConfig on',
    answer: 'root',
    make: (root) => git(root, 'sparse-checkout', 'set', 'a'),
  },
  { name: 'a tag with the name of the branch', answer: 'root', make: (root) => git(root, 'tag', 'main') },
  {
    name: 'linked worktrees of its own',
    answer: 'root',
    make: (root) => git(root, 'worktree', 'add', '-q', '--detach', `${root} tree`),
  },
  {
    name: 'aliases, remotes and a credential helper',
    answer: 'root',
    make: async (root) => {
      await git(root, 'config', 'alias.x', '!touch "a b"; # \\ c');
      await git(root, 'config', 'credential.helper', '!false');
      await git(root, 'remote', 'add', 'origin', 'https://example.invalid/x.git');
    },
  },
  {
    name: 'hooks, a file system monitor and a pager',
    answer: 'root',
    make: async (root) => {
      await git(root, 'config', 'core.fsmonitor', `touch '${root}/ran'`);
      await git(root, 'config', 'core.pager', `touch '${root}/ran'`);
      await git(root, 'config', 'core.hooksPath', root);
    },
  },
];

/** What stops, bloats or misleads Git or libgit2. */
const hostile: readonly Layout[] = [
  ...['HEAD', 'config', 'config.worktree', 'shallow', 'packed-refs', 'info/exclude', 'info/grafts'].map(
    (file) => ({
      name: `a FIFO as ${file}`,
      answer: unsupported('admin-file-irregular'),
      make: (root: string) => fifo(join(root, '.git', file)),
    }),
  ),
  ...['HEAD', 'config', 'config.worktree', 'info/attributes', 'objects/info/alternates'].map((file) => ({
    name: `3 GB as ${file}`,
    answer: unsupported('admin-file-too-large'),
    make: (root: string) => huge(join(root, '.git', file)),
  })),
  ...['HEAD', 'config'].map((file) => ({
    name: `a link as ${file}`,
    answer: unsupported('admin-file-irregular'),
    make: (root: string) => throughLink(root, `.git/${file}`),
  })),
  ...['objects', 'refs'].map((name) => ({
    name: `a link as ${name}`,
    answer: unsupported('git-directory-incomplete'),
    make: (root: string) => throughLink(root, `.git/${name}`),
  })),
  {
    name: 'a link as .git',
    answer: unsupported('git-entry-irregular'),
    make: (root) => throughLink(root, '.git'),
  },
  {
    name: 'a commondir that leads on',
    answer: unsupported('git-directory-incomplete'),
    make: (root) => writeFile(join(root, '.git/commondir'), `${root} other/.git\n`),
  },
  {
    name: 'the shape of a Git directory around .git',
    answer: unsupported('bare-repository'),
    make: (root) => cp(join(root, '.git'), root, { recursive: true }),
  },
  {
    name: 'the shape of a worktree administration around .git',
    answer: unsupported('git-directory'),
    make: async (root) => {
      for (const name of ['HEAD', 'commondir', 'gitdir']) await writeFile(join(root, name), '');
    },
  },
  {
    name: 'a HEAD that climbs',
    answer: unsupported('head-malformed'),
    make: (root) => writeFile(join(root, '.git/HEAD'), 'ref: refs/../../../x\n'),
  },
  {
    name: 'no HEAD',
    answer: unsupported('head-malformed'),
    make: (root) => rm(join(root, '.git/HEAD')),
  },
  {
    name: 'a name that another undecodable name would turn into',
    answer: unsupported('path-not-supported'),
    make: async () => {},
  },
];

/** Names that printed answers could be misread with. */
const namesOfRoots: Readonly<Record<string, string>> = {
  'a name that another undecodable name would turn into': 'pair \ufffd',
};

const honestNames = [
  'sp ace',
  'näïve-日本',
  '-dash',
  'q"\'\\t',
  'a:b',
  'x.git',
  '.hidden',
  '%2e%2e',
  '$HOME',
  '*?[',
];

let place: string;

beforeAll(async () => {
  place = await makePlace();
});

afterAll(async () => {
  await rm(place, { recursive: true, force: true });
});

describe.each<ProverMode>(['nodegit', 'git', 'both'])('main checkouts, prover %s', (mode) => {
  it.each(['honest', 'hostile'] as const)(
    'R02, R04: each %s layout gets its one answer, and none hangs',
    async (kind) => {
      await using lab = await createLab({ mode, place });
      const seen: [string, string][] = [];
      const layouts = kind === 'honest' ? honest : hostile;
      for (const [index, { name, make }] of layouts.entries()) {
        const directory = `${mode} ${kind} ${index} ${namesOfRoots[name] ?? 'x'}`;
        await makeRepository(join(place, directory));
        await make(join(place, directory));
        seen.push([name, await answerOf(lab.authority, await lab.register(directory))]);
      }
      expect(seen).toEqual(layouts.map(({ name, answer }) => [name, answer]));
    },
  );

  it('R02: a name with any printable character is taken as it is', async () => {
    await using lab = await createLab({ mode });
    for (const name of honestNames) {
      await makeRepository(join(lab.place, name));
      expect([name, await answerOf(lab.authority, await lab.register(name))]).toEqual([name, 'root']);
    }
  });

  it('R02: a trailing space in the name is refused, since answers are lines', async () => {
    await using lab = await createLab({ mode });
    await makeRepository(join(lab.place, 'end '));
    expect(await answerOf(lab.authority, await lab.register('end '))).toBe(unsupported('path-not-supported'));
  });

  it.runIf(isRoot)('R04: each file and directory must be our own', async () => {
    await using lab = await createLab({ mode });
    for (const [index, path] of ['', '.git', '.git/config', '.git/HEAD', '.git/info/exclude'].entries()) {
      await makeRepository(join(lab.place, `r${index}`));
      await chown(join(lab.place, `r${index}`, path), nobody, nobody);
      expect([path, await answerOf(lab.authority, await lab.register(`r${index}`))]).toEqual([
        path,
        unsupported('foreign-owner'),
      ]);
    }
  });

  it('proving runs no program that the repository names', async () => {
    await using lab = await createLab({ mode });
    const marker = join(lab.place, 'ran');
    await makeRepository(join(lab.place, 'r'));
    for (const key of [
      'core.fsmonitor',
      'core.pager',
      'core.editor',
      'core.sshCommand',
      'core.alternateRefsCommand',
    ]) {
      await git(join(lab.place, 'r'), 'config', key, `touch '${marker}'`);
    }
    await writeFile(join(lab.place, 'r/.git/hooks/post-index-change'), `#!/bin/sh\ntouch '${marker}'\n`, {
      mode: 0o755,
    });
    expect(await answerOf(lab.authority, await lab.register('r'))).toBe('root');
    await expect(lstat(marker)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a repository with one worktree that cannot be read', () => {
  async function makeStuck(root: string): Promise<void> {
    await makeRepository(root);
    await git(root, 'worktree', 'add', '-q', '--detach', `${root} tree`);
    const [name] = await readdir(join(root, '.git/worktrees'));
    await fifo(join(root, '.git/worktrees', name as string, 'gitdir'));
  }

  it('R04: nodegit looks at the main checkout only', async () => {
    await using lab = await createLab({ mode: 'nodegit' });
    await makeStuck(join(lab.place, 'stuck'));
    expect(await answerOf(lab.authority, await lab.register('stuck'))).toBe('root');
  });

  it('R04: Git hangs on it, is killed at its deadline, and is not sent there again', async () => {
    await using lab = await createLab({ mode: 'git' });
    await makeStuck(join(lab.place, 'stuck'));
    await makeRepository(join(lab.place, 'honest'));
    const stuck = await lab.register('stuck');
    const hanging = answerOf(lab.authority, stuck);
    expect(await answerOf(lab.authority, await lab.register('honest'))).toBe('root');
    expect(await hanging).toBe('prover_unavailable: deadline');
    expect(await answerOf(lab.authority, stuck)).toBe('prover_unavailable: hung-before');
    expect(lab.git.running).toBe(0);
  });
});
