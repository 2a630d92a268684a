import { chown, link, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseBeneathPath } from '../../src/capability/beneath-path.ts';
import { createService, type Service } from '../../src/service.ts';
import { git } from '../support/http-lab.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';

interface Place {
  /** Holds the state directory `state` and whatever a test makes. */
  readonly sandbox: string;
  readonly service: Service;
  readonly workspaces: NonNullable<Service['workspaces']>;
}

async function openPlace(): Promise<Place> {
  const sandbox = await temporaryDirectory();
  const service = await createService({
    stateDirectory: join(sandbox, 'state'),
    prover: 'git',
    binding: testBinding,
  });
  onTestFinished(() => service.close());
  if (service.workspaces === null) throw new Error('the registry is our own');
  return { sandbox, service, workspaces: service.workspaces };
}

async function bareRepository(path: string): Promise<void> {
  await mkdir(path);
  await git(path, 'init', '-q', '--bare');
}

describe('registering', () => {
  it('R02: writes a row with the pinned identity, and the directory is authorised from then on', async () => {
    const { sandbox, service, workspaces } = await openPlace();
    const path = join(sandbox, 'app');
    await mkdir(path);
    expect((await refusalOf(() => service.authority.authorize(path))).code).toBe('workspace_not_authorized');
    const row = await workspaces.add(path, { title: 'App' });
    expect(row).toMatchObject({ path, title: 'App', allowMounts: false, gitDirIdentity: null });
    expect(row.identity?.inode).toMatch(/^\d+$/);
    await using capability = await service.authority.authorize(path);
    expect([capability.kind, capability.gitBoundary, capability.root]).toEqual(['workspace', 'none', path]);
    expect(await workspaces.list()).toEqual([row]);
  });

  interface Refused {
    readonly title: string;
    readonly code?: string;
    readonly reason?: string;
    /** Makes what is to be refused and answers with its path. */
    readonly make: (sandbox: string) => Promise<string>;
  }
  const refused: readonly Refused[] = [
    { title: 'the root of the file system', reason: 'root-directory', make: async () => '/' },
    { title: 'a relative path', reason: 'not-canonical', make: async () => 'app' },
    { title: 'an empty path', reason: 'not-canonical', make: async () => '' },
    { title: 'a path with ..', reason: 'not-canonical', make: async (sandbox) => `${sandbox}/state/..` },
    {
      title: 'a path with a slash at the end',
      reason: 'not-canonical',
      make: async (sandbox) => `${sandbox}/`,
    },
    { title: 'a path with //', reason: 'not-canonical', make: async (sandbox) => `/${sandbox}` },
    {
      title: 'what does not exist',
      reason: 'not-a-usable-directory',
      make: async (sandbox) => join(sandbox, 'missing'),
    },
    {
      title: 'a file',
      reason: 'not-a-usable-directory',
      make: async (sandbox) => {
        await writeFile(join(sandbox, 'file'), '');
        return join(sandbox, 'file');
      },
    },
    {
      title: 'a symbolic link',
      reason: 'not-a-usable-directory',
      make: async (sandbox) => {
        await mkdir(join(sandbox, 'real'));
        await symlink('real', join(sandbox, 'link'));
        return join(sandbox, 'link');
      },
    },
    {
      title: 'a directory below a symbolic link',
      reason: 'not-a-usable-directory',
      make: async (sandbox) => {
        await mkdir(join(sandbox, 'real/app'), { recursive: true });
        await symlink('real', join(sandbox, 'link'));
        return join(sandbox, 'link/app');
      },
    },
    {
      title: 'the state directory',
      reason: 'state-directory',
      make: async (sandbox) => join(sandbox, 'state'),
    },
    {
      title: 'a directory in the state directory',
      reason: 'state-directory',
      make: async (sandbox) => join(sandbox, 'state/locks'),
    },
    {
      title: 'the directory of a worktree group in the state directory',
      reason: 'state-directory',
      make: async (sandbox) => {
        await mkdir(join(sandbox, 'state/worktrees/0123'), { recursive: true });
        return join(sandbox, 'state/worktrees/0123');
      },
    },
    {
      title: 'a Git directory',
      reason: 'git-directory',
      make: async (sandbox) => {
        await mkdir(join(sandbox, 'repo'));
        await git(join(sandbox, 'repo'), 'init', '-q');
        return join(sandbox, 'repo/.git');
      },
    },
    {
      title: 'a directory in a Git directory',
      reason: 'git-directory',
      make: async (sandbox) => {
        await mkdir(join(sandbox, 'repo'));
        await git(join(sandbox, 'repo'), 'init', '-q');
        return join(sandbox, 'repo/.git/hooks');
      },
    },
    {
      title: 'a bare repository under any name',
      reason: 'bare-repository',
      make: async (sandbox) => {
        await bareRepository(join(sandbox, 'innocent'));
        return join(sandbox, 'innocent');
      },
    },
    {
      title: 'a directory in a bare repository',
      reason: 'git-directory',
      make: async (sandbox) => {
        await bareRepository(join(sandbox, 'innocent'));
        return join(sandbox, 'innocent/objects');
      },
    },
    {
      title: 'a directory of another user',
      code: 'workspace_owner_mismatch',
      make: async (sandbox) => {
        await mkdir(join(sandbox, 'foreign'));
        await chown(join(sandbox, 'foreign'), 65534, 65534);
        return join(sandbox, 'foreign');
      },
    },
    {
      title: 'a repository of another user',
      code: 'workspace_owner_mismatch',
      make: async (sandbox) => {
        await mkdir(join(sandbox, 'repo'));
        await git(join(sandbox, 'repo'), 'init', '-q');
        await chown(join(sandbox, 'repo'), 65534, 65534);
        return join(sandbox, 'repo');
      },
    },
  ];

  it.each(refused)('R12: refuses $title, and writes nothing', async ({ code, reason, make }) => {
    const { sandbox, workspaces } = await openPlace();
    const path = await make(sandbox);
    const refusal = await refusalOf(() => workspaces.add(path));
    expect(refusal.code).toBe(code ?? 'workspace_not_registrable');
    if (reason !== undefined) expect(refusal.details).toEqual({ reason });
    expect(await workspaces.list()).toEqual([]);
  });

  it.each(['/srv/a\0b', '/srv/a\nb', '/srv/\ud800'])('refuses the malformed path %j', async (path) => {
    const { workspaces } = await openPlace();
    expect((await refusalOf(() => workspaces.add(path))).code).toBe('invalid_request');
  });

  it('refuses a title that could not be read back', async () => {
    const { sandbox, workspaces } = await openPlace();
    const refusal = await refusalOf(() => workspaces.add(sandbox, { title: 'x'.repeat(201) }));
    expect(refusal).toEqual({ code: 'workspace_not_registrable', details: { reason: 'title-too-long' } });
  });

  it('a path that is registered already stays as it is', async () => {
    const { sandbox, workspaces } = await openPlace();
    await mkdir(join(sandbox, 'app'));
    const row = await workspaces.add(join(sandbox, 'app'));
    expect((await refusalOf(() => workspaces.add(join(sandbox, 'app')))).code).toBe(
      'workspace_already_registered',
    );
    expect(await workspaces.list()).toEqual([row]);
  });

  it('roots may lie in each other, and one may contain the state directory, which is closed then', async () => {
    const { sandbox, service, workspaces } = await openPlace();
    await mkdir(join(sandbox, 'app'));
    await writeFile(join(sandbox, 'app/file'), 'text');
    await workspaces.add(join(sandbox, 'app'));
    await workspaces.add(sandbox);
    await using capability = await service.authority.authorize(sandbox);
    const read = (path: string) => service.files.read(capability, parseBeneathPath(path));
    expect(Buffer.from((await read('app/file')).bytes).toString()).toBe('text');
    for (const path of ['state/registry.json', 'state/locks/file']) {
      expect((await refusalOf(() => read(path))).code, path).toBe('administrative_path');
    }
    const create = () => service.files.create(capability, parseBeneathPath('state/new'), Buffer.from('x'));
    expect((await refusalOf(create)).code).toBe('administrative_path');
    const { entries } = await service.files.list(capability, null);
    expect(entries.map(({ name }) => name)).toEqual(['app']);
  });

  it('the state directory is known under every name', async () => {
    const { sandbox, service, workspaces } = await openPlace();
    await mkdir(join(sandbox, 'outer'));
    await rename(join(sandbox, 'state'), join(sandbox, 'outer/elsewhere'));
    await symlink('outer/elsewhere', join(sandbox, 'state'));
    const refusal = await refusalOf(() => workspaces.add(join(sandbox, 'outer/elsewhere')));
    expect(refusal.code).toMatch(/^(workspace_not_registrable|registry_unavailable)$/);
    expect((await service.readiness()).registry.readable).toBe(false);
  });
});

describe('a registered directory that was replaced', () => {
  it('R05: loses authority, until it is confirmed', async () => {
    const { sandbox, service, workspaces } = await openPlace();
    const path = join(sandbox, 'app');
    await mkdir(path);
    await workspaces.add(path);
    await rename(path, `${path}-old`);
    await mkdir(path);
    expect((await refusalOf(() => service.authority.authorize(path))).code).toBe('workspace_not_authorized');
    const confirmed = await workspaces.confirm(path);
    await using capability = await service.authority.authorize(path);
    expect(capability.root).toBe(path);
    expect(await workspaces.list()).toEqual([confirmed]);
  });

  it('cannot be confirmed when what stands there could not be registered', async () => {
    const { sandbox, workspaces } = await openPlace();
    const path = join(sandbox, 'app');
    await mkdir(path);
    await workspaces.add(path);
    await rm(path, { recursive: true });
    await bareRepository(path);
    expect(await refusalOf(() => workspaces.confirm(path))).toEqual({
      code: 'workspace_not_registrable',
      details: { reason: 'bare-repository' },
    });
    expect((await refusalOf(() => workspaces.confirm(join(sandbox, 'other')))).code).toBe(
      'workspace_not_found',
    );
  });
});

describe('taking off', () => {
  it('removes the row and touches nothing on disk; capabilities held meanwhile end', async () => {
    const { sandbox, service, workspaces } = await openPlace();
    const path = join(sandbox, 'app');
    await mkdir(path);
    await writeFile(join(path, 'file'), 'text');
    await link(join(path, 'file'), join(path, 'second'));
    const row = await workspaces.add(path);
    await using capability = await service.authority.authorize(path);
    expect(await workspaces.remove(path)).toEqual(row);
    expect((await refusalOf(() => service.authority.authorize(path))).code).toBe('workspace_not_authorized');
    const create = () => service.files.create(capability, parseBeneathPath('new'), Buffer.from('x'));
    expect((await refusalOf(create)).code).toBe('workspace_not_authorized');
    expect((await refusalOf(() => workspaces.remove(path))).code).toBe('workspace_not_found');
    await workspaces.add(path);
  });
});
