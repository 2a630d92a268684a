import { execFile } from 'node:child_process';
import { closeSync, openSync, utimesSync, writeSync } from 'node:fs';
import { chmod, chown, cp, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProverQuestion, RepositoryProver } from '../../src/proof/prover.ts';
import { native } from '../support/addon.ts';
import { answerOf, refusalOf } from '../support/answers.ts';
import { type AuthorityLab, createLab } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { openDescriptors } from '../support/processes.ts';

const run = promisify(execFile);
let lab: AuthorityLab;
let repository: string;
let plain: string;
let opinions: number;

/** Counts what it is asked and agrees; our own round trip is what is under test here. */
const countingProver: RepositoryProver = {
  async prove(_: ProverQuestion) {
    opinions += 1;
    return { agrees: true };
  },
};

beforeEach(async () => {
  opinions = 0;
  lab = await createLab({ prover: countingProver });
  await makeRepository(join(lab.place, 'above/repository'));
  await mkdir(join(lab.place, 'above/plain'));
  repository = await lab.register('above/repository');
  plain = await lab.register('above/plain');
});

afterEach(async () => {
  await lab[Symbol.asyncDispose]();
});

function answer(selector: string): Promise<string> {
  return answerOf(lab.authority, selector);
}

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
    opinion: false,
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
      expect(await answer(repository)).toBe('root');
      expect(opinions).toBe(1);
      await make(repository);
      expect(await answer(repository)).toBe(after);
      expect(opinions).toBe(opinion ? 2 : 1);
    },
  );

  it.each(plainChanges)(
    'R03, R05: sees $name at a plain directory at once',
    async ({ make, after, opinion }) => {
      expect(await answer(plain)).toBe('none');
      await make(plain);
      expect(await answer(plain)).toBe(after);
      expect(opinions).toBe(opinion ? 1 : 0);
    },
  );

  it('R03: sees the repository around a nested directory go', async () => {
    await mkdir(join(repository, 'sub'));
    const nested = await lab.register('above/repository/sub');
    expect(await answer(nested)).toBe('nested');
    await rename(join(repository, '.git'), join(lab.place, 'gone'));
    expect(await answer(nested)).toBe('none');
  });

  it('R06: sees each change of a configuration that keeps its size, inode and modification time', async () => {
    const file = join(repository, '.git/config');
    const honest = await readFile(file, 'latin1');
    expect(honest).toContain('bare = false');
    const texts = [honest.replace('bare = false', 'bare = true '), honest];
    expect(await answer(repository)).toBe('root');
    const { atime, mtime } = await stat(file);
    for (let change = 0; change < 300; change += 1) {
      // Written in place, faster than the clock of a file system may tick, and then dated back.
      const descriptor = openSync(file, 'r+');
      writeSync(descriptor, texts[change % 2] as string, 0, 'latin1');
      closeSync(descriptor);
      utimesSync(file, atime, mtime);
      expect(await answer(repository)).toBe(change % 2 === 0 ? unsupported('core-bare') : 'root');
    }
  });

  it.runIf(process.geteuid?.() === 0)('R04: sees a new owner', async () => {
    for (const path of ['', '.git', '.git/config', '.git/HEAD']) {
      expect(await answer(repository)).toBe('root');
      await chown(join(repository, path), 65534, 65534);
      expect([path, await answer(repository)]).toEqual([path, unsupported('foreign-owner')]);
      await chown(join(repository, path), 0, 0);
    }
  });

  it('R05: sees a row that is gone, other or back', async () => {
    const row = lab.registry.rows.get(plain);
    if (row === undefined) throw new Error('no row');
    expect(await answer(plain)).toBe('none');
    lab.registry.rows.delete(plain);
    expect(await answer(plain)).toBe('workspace_not_authorized');
    lab.registry.register(plain, {
      ...row,
      identity: { ...(row.identity as object), inode: '1', handle: '1:00' } as never,
    });
    expect(await answer(plain)).toBe('workspace_not_authorized');
    lab.registry.register(plain, { ...row });
    expect(await answer(plain)).toBe('none');
  });

  it('R04: a registry that fails is 503, and heals', async () => {
    for (const failure of [
      new Error('disk'),
      Object.assign(new Error('x'), { code: 'workspace_not_authorized' }),
    ]) {
      lab.registry.failure = failure;
      for (const selector of [plain, `${plain}/`, join(lab.place, 'absent')]) {
        await expect(lab.authority.authorize(selector)).rejects.toMatchObject({
          code: 'registry_unavailable',
          status: 503,
        });
      }
      lab.registry.failure = null;
      expect(await answer(plain)).toBe('none');
    }
  });
});

describe('the cache of proven workspaces', () => {
  it('keeps at most as many as it may, and answers for all', async () => {
    await using small = await createLab({ place: lab.place, prover: countingProver, capacity: 3 });
    const roots: string[] = [];
    for (let index = 0; index < 10; index += 1) {
      await mkdir(join(lab.place, `many/${index}`), { recursive: true });
      roots.push(await small.register(`many/${index}`));
    }
    await answerOf(small.authority, roots[0] as string);
    const perWorkspace = native.openHandles();
    for (const root of [...roots, ...roots]) expect(await answerOf(small.authority, root)).toBe('none');
    const answers = await Promise.all([...roots, ...roots].map((root) => answerOf(small.authority, root)));
    expect(new Set(answers)).toEqual(new Set(['none']));
    expect(native.openHandles() - perWorkspace).toBeLessThanOrEqual(2 * 2);
  });

  it('R06: a capability outlives its place in the cache', async () => {
    await using small = await createLab({ place: lab.place, prover: countingProver, capacity: 1 });
    await small.register('above/plain');
    await small.register('above/repository');
    await using held = await small.authority.authorizeRepository(repository);
    expect(await answerOf(small.authority, plain)).toBe('none');
    await held.assertCurrent();
    expect(held.repository.gitDirectory.descriptorPath()).toMatch(/^\/proc\/\d+\/fd\/\d+$/);
    await git(repository, 'config', 'user.name', 'x');
    await held.assertCurrent();
    await rename(join(repository, '.git'), join(repository, 'x'));
    await expect(held.assertCurrent()).rejects.toMatchObject({
      code: 'identity_changed',
      details: { what: 'git dir' },
    });
  });

  it('many who ask for one repository at once share one proof', async () => {
    const answers = await Promise.all(Array.from({ length: 64 }, () => answer(repository)));
    expect(new Set(answers)).toEqual(new Set(['root']));
    expect(opinions).toBe(1);
  });

  it('one of them that goes away takes nobody along', async () => {
    const leaving = new AbortController();
    const left = answerOf(lab.authority, repository, leaving.signal);
    const staying = answer(repository);
    leaving.abort(new Error('gone'));
    expect(await left).toBe('aborted');
    expect(await staying).toBe('root');
    expect(await answerOf(lab.authority, repository, leaving.signal)).toBe('aborted');
  });

  it('descriptors are back where they were after thousands of authorisations', async () => {
    const before = { handles: native.openHandles(), descriptors: openDescriptors() };
    const busy = await createLab({ place: lab.place, prover: countingProver });
    await busy.register('above/plain');
    await busy.register('above/repository');
    for (let round = 0; round < 300; round += 1) {
      // Each round is partly cold: the configuration is another one.
      if (round % 10 === 0) await git(repository, 'config', 'x.y', String(round));
      const selectors = [plain, repository, join(lab.place, 'absent'), join(repository, 'a')];
      await Promise.all(
        [...selectors, ...selectors, ...selectors].map((selector) => answerOf(busy.authority, selector)),
      );
    }
    const held = await busy.authority.authorizeRepository(repository);
    await busy[Symbol.asyncDispose]();
    // What was lent stays open until it is given back.
    expect(native.openHandles()).toBeGreaterThan(before.handles);
    await held[Symbol.asyncDispose]();
    expect({ handles: native.openHandles(), descriptors: openDescriptors() }).toEqual(before);
  });

  it('a closed authority answers nothing', async () => {
    await answer(plain);
    await lab.authority.close();
    expect(await answer(plain)).toBe('shutting_down');
    await expect(lab.authority.explain(plain)).resolves.toMatchObject({ refusal: { code: 'shutting_down' } });
  });
});

describe('a capability in use', () => {
  it('R05, R06: is re-proven against the row, the root, the Git directory and the configuration', async () => {
    await using held = await lab.authority.authorizeRepository(repository);
    const outcome = () => held.assertCurrent().then(() => 'current', refusalOf);
    expect(await outcome()).toBe('current');
    await git(repository, 'checkout', '-q', '-b', 'x');
    expect([await outcome(), opinions]).toEqual(['current', 1]);
    await git(repository, 'config', 'user.name', 'x');
    expect([await outcome(), opinions]).toEqual(['current', 2]);
    await git(repository, 'config', 'core.worktree', '/');
    expect(await outcome()).toBe(unsupported('core-worktree'));
    await git(repository, 'config', '--unset', 'core.worktree');
    expect(await outcome()).toBe('current');
    await rename(join(repository, '.git'), join(lab.place, 'kept'));
    await makeRepository(repository);
    expect(await outcome()).toBe('identity_changed: git dir');
    await rm(join(repository, '.git'), { recursive: true });
    await symlink(join(lab.place, 'kept'), join(repository, '.git'));
    expect(await outcome()).toBe('identity_changed: git dir');
    await rm(join(repository, '.git'));
    await rename(join(lab.place, 'kept'), join(repository, '.git'));
    expect(await outcome()).toBe('current');
    lab.registry.failure = new Error('disk');
    expect(await outcome()).toBe('registry_unavailable');
    lab.registry.failure = null;
    lab.registry.rows.delete(repository);
    expect(await outcome()).toBe('workspace_not_authorized');
  });

  it('R06: a row that means another directory by now is a changed identity', async () => {
    await using held = await lab.authority.authorize(plain);
    const row = lab.registry.rows.get(plain);
    lab.registry.register(plain, {
      ...row,
      identity: { ...(row?.identity as object), inode: '1', handle: '1:00' } as never,
    });
    await expect(held.assertCurrent()).rejects.toMatchObject({
      code: 'identity_changed',
      details: { what: 'root' },
    });
    lab.registry.register(plain, { ...row, allowMounts: true });
    await expect(held.assertCurrent()).rejects.toMatchObject({ code: 'identity_changed' });
  });

  it('R12: closes the Git directory by identity, under whatever name it is found', async () => {
    await using held = await lab.authority.authorizeRepository(repository);
    const { inode } = held.repository.gitDirectory.identity();
    expect(held.held.confinement.closedIdentities.map((closed) => closed.inode)).toContain(inode);
    await rename(join(repository, '.git'), join(repository, 'disguised'));
    await rm(join(repository, 'disguised/HEAD'));
    await expect(held.held.guard.check('disguised/config')).rejects.toMatchObject({
      code: 'WA_CLOSED_DIRECTORY',
    });
  });

  it('R04: a directory that cannot be searched any more is no authority', async () => {
    // The super-user may search anything.
    if (process.geteuid?.() === 0) return;
    expect(await answer(plain)).toBe('none');
    await chmod(dirname(plain), 0);
    expect(await answer(plain)).toBe('workspace_not_authorized');
    await chmod(dirname(plain), 0o755);
  });
});
