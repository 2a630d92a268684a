import { execFile } from 'node:child_process';
import { closeSync, openSync, utimesSync, writeSync } from 'node:fs';
import { chown, cp, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CountingLab, createCountingLab } from '../support/counting-lab.ts';
import { git, makeRepository } from '../support/git.ts';

const run = promisify(execFile);
let room: CountingLab;

beforeEach(async () => {
  room = await createCountingLab();
});

afterEach(async () => {
  await room.lab[Symbol.asyncDispose]();
});

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

interface Change {
  readonly name: string;
  readonly make: (root: string) => Promise<unknown>;
  readonly after: string;
  /** Whether the second opinion must be asked for again. */
  readonly opinion: boolean;
}

/** What may happen to a repository between two requests. */
const repositoryChanges: readonly Change[] = [
  { name: 'nothing', make: async () => {}, after: 'root', opinion: false },
  {
    name: 'a commit',
    make: (root) => git(root, 'commit', '-q', '--allow-empty', '-m', 'x'),
    after: 'root',
    opinion: false,
  },
  {
    name: 'another branch',
    make: (root) => git(root, 'checkout', '-q', '-b', 'x'),
    after: 'root',
    opinion: false,
  },
  {
    name: 'a detached HEAD',
    make: (root) => git(root, 'checkout', '-q', '--detach'),
    after: 'root',
    opinion: false,
  },
  { name: 'a new file', make: (root) => writeFile(join(root, 'f'), ''), after: 'root', opinion: false },
  {
    name: 'another setting',
    make: (root) => git(root, 'config', 'user.name', 'x'),
    after: 'root',
    opinion: true,
  },
  {
    name: 'a garbled HEAD',
    make: (root) => writeFile(join(root, '.git/HEAD'), 'garbage\n'),
    after: unsupported('head-malformed'),
    opinion: false,
  },
  {
    name: 'no HEAD',
    make: (root) => rm(join(root, '.git/HEAD')),
    after: unsupported('head-malformed'),
    opinion: false,
  },
  {
    name: 'another work tree in the configuration',
    make: (root) => git(root, 'config', 'core.worktree', '/'),
    after: unsupported('core-worktree'),
    opinion: false,
  },
  {
    name: 'an include',
    make: (root) => git(root, 'config', 'include.path', 'x'),
    after: unsupported('config-include'),
    opinion: false,
  },
  {
    name: 'a FIFO as configuration',
    make: async (root) => {
      await rm(join(root, '.git/config'));
      await run('mkfifo', [join(root, '.git/config')]);
    },
    after: unsupported('admin-file-irregular'),
    opinion: false,
  },
  {
    name: 'a commondir',
    make: (root) => writeFile(join(root, '.git/commondir'), '/x\n'),
    after: unsupported('git-directory-incomplete'),
    opinion: false,
  },
  {
    name: 'a config.worktree with another work tree',
    make: (root) => writeFile(join(root, '.git/config.worktree'), '[core]\nworktree = /\n'),
    after: unsupported('core-worktree'),
    opinion: false,
  },
  {
    name: 'no .git',
    make: (root) => rename(join(root, '.git'), join(root, 'x')),
    after: 'none',
    opinion: false,
  },
  {
    name: 'a copy of .git in its place',
    make: async (root) => {
      await rename(join(root, '.git'), join(root, '.old'));
      await cp(join(root, '.old'), join(root, '.git'), { recursive: true, preserveTimestamps: true });
    },
    after: 'root',
    opinion: true,
  },
  {
    name: 'a link to the same .git in its place',
    make: async (root) => {
      await rename(join(root, '.git'), join(root, '.old'));
      await symlink('.old', join(root, '.git'));
    },
    after: unsupported('git-entry-irregular'),
    opinion: false,
  },
  {
    name: 'a link for objects',
    make: async (root) => {
      await rename(join(root, '.git/objects'), join(root, '.git/moved'));
      await symlink('moved', join(root, '.git/objects'));
    },
    after: unsupported('git-directory-incomplete'),
    opinion: false,
  },
  {
    name: 'the shape of a Git directory around it',
    make: (root) => cp(join(root, '.git'), root, { recursive: true }),
    after: unsupported('bare-repository'),
    // The place is looked at while the prover thinks.
    opinion: true,
  },
];

const plainChanges: readonly Change[] = [
  { name: 'nothing', make: async () => {}, after: 'none', opinion: false },
  { name: 'a new file', make: (root) => writeFile(join(root, 'f'), ''), after: 'none', opinion: false },
  { name: 'a repository', make: (root) => makeRepository(root), after: 'root', opinion: true },
  {
    name: 'a repository around it',
    make: (root) => makeRepository(dirname(root)),
    after: 'nested',
    opinion: false,
  },
  {
    name: 'a bare repository in it',
    make: (root) => git(root, 'init', '--quiet', '--bare'),
    after: unsupported('bare-repository'),
    opinion: false,
  },
  {
    name: 'a bare repository around it',
    make: (root) => git(dirname(root), 'init', '--quiet', '--bare'),
    after: unsupported('git-directory'),
    opinion: false,
  },
  {
    name: 'a file named .git',
    make: (root) => writeFile(join(root, '.git'), ''),
    after: unsupported('git-file-malformed'),
    opinion: false,
  },
];

describe('an authorisation that was given before', () => {
  it.each(repositoryChanges)(
    'R05, R06: sees $name in a repository at once',
    async ({ make, after, opinion }) => {
      expect(await room.answer(room.repository)).toBe('root');
      expect(room.prover.asked).toBe(1);
      await make(room.repository);
      expect(await room.answer(room.repository)).toBe(after);
      expect(room.prover.asked).toBe(opinion ? 2 : 1);
    },
  );

  it.each(plainChanges)(
    'R03, R05: sees $name at a plain directory at once',
    async ({ make, after, opinion }) => {
      expect(await room.answer(room.plain)).toBe('none');
      await make(room.plain);
      expect(await room.answer(room.plain)).toBe(after);
      expect(room.prover.asked).toBe(opinion ? 1 : 0);
    },
  );

  it('R03: sees the repository around a nested directory go', async () => {
    await mkdir(join(room.repository, 'sub'));
    const nested = await room.lab.register('above/repository/sub');
    expect(await room.answer(nested)).toBe('nested');
    await rename(join(room.repository, '.git'), join(room.lab.place, 'gone'));
    expect(await room.answer(nested)).toBe('none');
  });

  it('R06: sees each change of a configuration that keeps its size, inode and modification time', async () => {
    const file = join(room.repository, '.git/config');
    const honest = await readFile(file, 'latin1');
    expect(honest).toContain('bare = false');
    const texts = [honest.replace('bare = false', 'bare = true '), honest];
    expect(await room.answer(room.repository)).toBe('root');
    const { atime, mtime } = await stat(file);
    for (let change = 0; change < 300; change += 1) {
      // Written in place, faster than the clock of a file system may tick, and then dated back.
      const descriptor = openSync(file, 'r+');
      writeSync(descriptor, texts[change % 2] as string, 0, 'latin1');
      closeSync(descriptor);
      utimesSync(file, atime, mtime);
      expect(await room.answer(room.repository)).toBe(change % 2 === 0 ? unsupported('core-bare') : 'root');
    }
  });

  it.runIf(process.geteuid?.() === 0)('R04: sees a new owner', async () => {
    for (const path of ['', '.git', '.git/config', '.git/HEAD']) {
      expect(await room.answer(room.repository)).toBe('root');
      await chown(join(room.repository, path), 65534, 65534);
      expect([path, await room.answer(room.repository)]).toEqual([path, unsupported('foreign-owner')]);
      await chown(join(room.repository, path), 0, 0);
    }
  });

  it('R05: sees a row that is gone, other or back', async () => {
    const row = room.lab.registry.rows.get(room.plain);
    if (row === undefined) throw new Error('no row');
    expect(await room.answer(room.plain)).toBe('none');
    room.lab.registry.rows.delete(room.plain);
    expect(await room.answer(room.plain)).toBe('workspace_not_authorized');
    room.lab.registry.register(room.plain, {
      ...row,
      identity: { ...(row.identity as object), inode: '1', handle: '1:00' } as never,
    });
    expect(await room.answer(room.plain)).toBe('workspace_not_authorized');
    room.lab.registry.register(room.plain, { ...row });
    expect(await room.answer(room.plain)).toBe('none');
  });

  it('R04: a registry that fails is 503, and heals', async () => {
    for (const failure of [
      new Error('disk'),
      Object.assign(new Error('x'), { code: 'workspace_not_authorized' }),
    ]) {
      room.lab.registry.failure = failure;
      for (const selector of [room.plain, `${room.plain}/`, join(room.lab.place, 'absent')]) {
        await expect(room.lab.authority.authorize(selector)).rejects.toMatchObject({
          code: 'registry_unavailable',
          status: 503,
        });
      }
      room.lab.registry.failure = null;
      expect(await room.answer(room.plain)).toBe('none');
    }
  });
});
