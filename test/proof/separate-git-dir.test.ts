import { cp, mkdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { WorkspaceRow } from '../../src/registry/workspace-registry.ts';
import { createService, type Service, type ServiceOptions } from '../../src/service.ts';
import { currencyOf, grantOf } from '../support/answers.ts';
import { identityOf } from '../support/authority-lab.ts';
import { beneath, outcomeOf } from '../support/files-workspace.ts';
import { git, makeRepository, makeSeparateRepository } from '../support/git.ts';
import { MemoryRegistry } from '../support/memory-registry.ts';
import { temporaryDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';

const changed = 'repository_identity_changed';

function unsupported(reason: string): string {
  return `repository_unsupported: ${reason}`;
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
  await makeSeparateRepository(checkout, gitDirectory);
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
    await makeSeparateRepository(join(sandbox, 'other'), join(sandbox, 'other git'));
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

describe('a Git dir inside its own checkout', () => {
  it('R12: is closed to files under every name and spelling', async () => {
    const { sandbox, service } = await openPlace();
    const [checkout, inside] = [join(sandbox, 'around'), join(sandbox, 'around/sub/real')];
    await mkdir(join(checkout, 'sub'), { recursive: true });
    await makeSeparateRepository(checkout, inside);
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
