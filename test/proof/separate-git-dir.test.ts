import { execFile } from 'node:child_process';
import {
  chown,
  cp,
  mkdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WorkspaceRow } from '../../src/registry/workspace-registry.ts';
import { createService, type Service, type ServiceOptions } from '../../src/service.ts';
import { answerOf, currencyOf, grantOf, refusalOf } from '../support/answers.ts';
import { createLab, identityOf } from '../support/authority-lab.ts';
import { beneath, outcomeOf } from '../support/files-workspace.ts';
import { git, makeRepository } from '../support/git.ts';
import { MemoryRegistry } from '../support/memory-registry.ts';
import { temporaryDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';

const run = promisify(execFile);
const isRoot = process.geteuid?.() === 0;
const changed = 'repository_identity_changed';

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
}

/** A main checkout at `checkout` whose Git dir is `gitDirectory`. */
async function makeSeparate(checkout: string, gitDirectory: string): Promise<void> {
  await run('git', ['init', '-q', '-b', 'main', `--separate-git-dir=${gitDirectory}`, checkout]);
  await git(checkout, 'commit', '-q', '--allow-empty', '-m', 'first');
}

async function replaceByCopy(path: string): Promise<void> {
  await rename(path, `${path} kept`);
  await cp(`${path} kept`, path, { recursive: true, preserveTimestamps: true });
}

interface Place {
  readonly sandbox: string;
  readonly checkout: string;
  readonly gitDirectory: string;
  readonly service: Service;
  grant(): Promise<string>;
}

async function openPlace(options: ServiceOptions = {}): Promise<Place> {
  const sandbox = await temporaryDirectory();
  const [checkout, gitDirectory] = [join(sandbox, 'checkout'), join(sandbox, 'separate')];
  await makeSeparate(checkout, gitDirectory);
  const service = await createService({
    stateDirectory: join(sandbox, 'state'),
    prover: 'git',
    binding: testBinding,
    ...options,
  });
  onTestFinished(() => service.close());
  const grant = () => grantOf(service.authority, checkout);
  return { sandbox, checkout, gitDirectory, service, grant };
}

describe.each(['nodegit', 'git', 'both'] as const)('a separate Git dir, prover %s', (prover) => {
  it('R02, R06: makes a main checkout when its identity was pinned with the row', async () => {
    const { checkout, gitDirectory, service, grant } = await openPlace({ prover });
    expect(await grant()).toBe('workspace_not_authorized');
    const row = await service.workspaces?.add(checkout);
    expect(row?.gitDirIdentity).toEqual(await identityOf(gitDirectory));
    expect([await grant(), await grant()]).toEqual(['workspace root', 'workspace root']);
    await using held = await service.authority.authorizeRepository(checkout);
    const { repository } = held;
    expect([repository.mainRoot, await realpath(repository.gitDirectory.descriptorPath())]).toEqual([
      checkout,
      gitDirectory,
    ]);
    expect(repository.commonDirectory).toBe(repository.gitDirectory);
    expect(await currencyOf(held)).toBe('current');
  });

  it('R06: is followed through commits, branches and gc, and another setting', async () => {
    const { checkout, service, grant } = await openPlace({ prover });
    await service.workspaces?.add(checkout);
    await using held = await service.authority.authorizeRepository(checkout);
    for (const words of [
      ['commit', '-q', '--allow-empty', '-m', 'x'],
      ['checkout', '-q', '-b', 'x'],
      ['checkout', '-q', '--detach'],
      ['gc', '--quiet', '--prune=now'],
      ['config', 'user.name', 'x'],
      ['sparse-checkout', 'set', 'a'],
    ]) {
      await git(checkout, ...words);
      expect([words, await currencyOf(held), await grant()]).toEqual([words, 'current', 'workspace root']);
    }
  });
});

describe('the identity of a separate Git dir', () => {
  it('R05, R06: changed, gives nothing until an operator confirms it', async () => {
    const { checkout, gitDirectory, service, grant } = await openPlace();
    await service.workspaces?.add(checkout);
    await using held = await service.authority.authorizeRepository(checkout);
    await replaceByCopy(gitDirectory);
    expect([await grant(), await grant()]).toEqual([changed, changed]);
    expect(await currencyOf(held)).toBe('identity_changed: git dir');
    const row = await service.confirmWorkspace(checkout);
    expect(row.gitDirIdentity).toEqual(await identityOf(gitDirectory));
    expect(await grant()).toBe('workspace root');
    await rm(gitDirectory, { recursive: true });
    await rename(`${gitDirectory} kept`, gitDirectory);
    expect(await grant()).toBe(changed);
    expect(await currencyOf(held)).toBe('current');
  });

  it('R05: another one that .git names by now gives nothing', async () => {
    const { sandbox, checkout, gitDirectory, service, grant } = await openPlace();
    await makeSeparate(join(sandbox, 'other'), join(sandbox, 'other git'));
    await service.workspaces?.add(checkout);
    expect(await grant()).toBe('workspace root');
    await using held = await service.authority.authorizeRepository(checkout);
    await writeFile(join(checkout, '.git'), `gitdir: ${sandbox}/other git\n`);
    expect([await grant(), await currencyOf(held)]).toEqual([changed, 'identity_changed: git dir']);
    await writeFile(join(checkout, '.git'), `gitdir: ${gitDirectory}\n`);
    expect([await grant(), await currencyOf(held)]).toEqual(['workspace root', 'current']);
  });

  it('R05: the one of a .git directory or of none is not the pinned one', async () => {
    const { checkout, service, grant } = await openPlace();
    await service.workspaces?.add(checkout);
    await rm(join(checkout, '.git'));
    expect(await grant()).toBe(changed);
    await makeRepository(checkout);
    expect(await grant()).toBe(changed);
    await service.confirmWorkspace(checkout);
    expect(await grant()).toBe('workspace root');
  });

  it('R05: a checkout that becomes one with a separate Git dir is not believed', async () => {
    const { sandbox, checkout, gitDirectory, service } = await openPlace();
    const path = join(sandbox, 'usual');
    await makeRepository(path);
    await service.workspaces?.add(path);
    expect(await grantOf(service.authority, path)).toBe('workspace root');
    await rm(join(path, '.git'), { recursive: true });
    await writeFile(join(path, '.git'), await readFile(join(checkout, '.git')));
    expect(await grantOf(service.authority, path)).toBe(changed);
    expect(gitDirectory).toBe(join(sandbox, 'separate'));
  });

  it('R06: moved away while held is another one', async () => {
    const { checkout, gitDirectory, service, grant } = await openPlace();
    await service.workspaces?.add(checkout);
    await using held = await service.authority.authorizeRepository(checkout);
    await rename(gitDirectory, `${gitDirectory} away`);
    expect([await grant(), await currencyOf(held)]).toEqual([
      unsupported('separate-git-dir'),
      'identity_changed: git dir',
    ]);
    await symlink(`${gitDirectory} away`, gitDirectory);
    expect([await grant(), await currencyOf(held)]).toEqual([
      unsupported('separate-git-dir'),
      'identity_changed: git dir',
    ]);
  });
});

describe("the host's own registry", () => {
  async function openHost(): Promise<
    Place & { readonly registry: MemoryRegistry; readonly row: WorkspaceRow }
  > {
    const registry = new MemoryRegistry();
    const place = await openPlace({ registry });
    return { ...place, registry, row: registry.register(place.checkout) };
  }

  it('R06: has the Git dir pinned in the state directory when it is first proven', async () => {
    const { sandbox, checkout, gitDirectory, grant } = await openHost();
    expect(await grant()).toBe('workspace root');
    const { pins } = JSON.parse(await readFile(join(sandbox, 'state/pins.json'), 'utf8'));
    expect(pins).toMatchObject([
      {
        path: checkout,
        identity: await identityOf(checkout),
        gitDirIdentity: await identityOf(gitDirectory),
      },
    ]);
  });

  it('R05: the pin holds over a restart, and until an operator renews it', async () => {
    const { sandbox, checkout, gitDirectory, service, registry, grant } = await openHost();
    expect(await grant()).toBe('workspace root');
    await service.close();
    await replaceByCopy(gitDirectory);
    const again = await createService({
      stateDirectory: join(sandbox, 'state'),
      prover: 'git',
      binding: testBinding,
      registry,
    });
    onTestFinished(() => again.close());
    expect(await grantOf(again.authority, checkout)).toBe(changed);
    await again.confirmWorkspace(checkout);
    expect(await grantOf(again.authority, checkout)).toBe('workspace root');
  });

  it('R04: nothing is pinned by a proof that fails', async () => {
    const { checkout, gitDirectory, grant } = await openHost();
    const head = await readFile(join(gitDirectory, 'HEAD'));
    await writeFile(join(gitDirectory, 'HEAD'), 'garbage\n');
    expect(await grant()).toBe(unsupported('head-malformed'));
    await replaceByCopy(gitDirectory);
    await writeFile(join(gitDirectory, 'HEAD'), head);
    expect([checkout, await grant()]).toEqual([checkout, 'workspace root']);
  });
});

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
  await makeSeparate(`${directory}/../scratch`, join(directory, 'inner'));
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
      await makeSeparate(join(sandbox, 'other'), join(sandbox, 'theirs'));
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
    await makeSeparate(checkout, join(lab.place, 'whole'));
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
    await makeSeparate(checkout, gitDirectory);
    await lab.register('checkout', { gitDirIdentity: await identityOf(gitDirectory) });
    expect(await answerOf(lab.authority, checkout)).toBe('root');
    await damage(gitDirectory);
    expect(await answerOf(lab.authority, checkout)).toBe(unsupported(reason));
  });

  it('R32: makes no main checkout for worktrees: Git itself does not know the way back', async () => {
    await using lab = await createLab({ mode: 'nodegit' });
    const [checkout, gitDirectory] = [join(lab.place, 'checkout'), join(lab.place, 'separate')];
    await makeSeparate(checkout, gitDirectory);
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

describe('a Git dir inside its own checkout', () => {
  it('R12: is closed to files under every name and spelling', async () => {
    const { sandbox, service } = await openPlace();
    const [checkout, inside] = [join(sandbox, 'around'), join(sandbox, 'around/sub/real')];
    await mkdir(join(checkout, 'sub'), { recursive: true });
    await makeSeparate(checkout, inside);
    await writeFile(join(checkout, 'readme'), 'text');
    await symlink('sub/real', join(checkout, 'link'));
    await service.workspaces?.add(checkout);
    await using held = await service.authority.authorizeRepository(checkout);
    const { files } = service;
    expect(await outcomeOf(files.read(held, beneath('readme')))).toBe('ok');
    const paths = ['sub/real/config', 'sub/real/HEAD', 'sub/real/hooks/x', 'link/config', '.git'];
    const read = await Promise.all(paths.map((path) => outcomeOf(files.read(held, beneath(path)))));
    const make = (path: string) => outcomeOf(files.create(held, beneath(path), Buffer.from('x')));
    const made = [await make('sub/real/hooks/post-commit'), await make('sub/real/x')];
    const listed = await outcomeOf(files.list(held, beneath('sub/real')));
    expect(new Set([...read, ...made, listed])).toEqual(new Set(['administrative_path']));
    // By identity: neither another name nor a missing file makes it an ordinary directory.
    await rm(join(inside, 'HEAD'));
    await rename(inside, join(checkout, 'renamed'));
    await expect(held.held.guard.check('renamed/config')).rejects.toMatchObject({
      code: 'WA_CLOSED_DIRECTORY',
    });
  });
});
