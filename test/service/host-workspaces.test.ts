import { mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { toStoredIdentity } from '../../src/capability/identity.ts';
import { createService, type Service } from '../../src/service.ts';
import { git, makeRepository } from '../support/http-lab.ts';
import { startServer } from '../support/http-server.ts';
import { addWorktree } from '../support/http-worktrees.ts';
import { MemoryRegistry } from '../support/memory-registry.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';

let sandbox: string;
let app: string;
let registry: MemoryRegistry;

beforeEach(async () => {
  sandbox = await temporaryDirectory();
  app = join(sandbox, 'app');
  registry = new MemoryRegistry();
});

async function open(): Promise<Service> {
  const stateDirectory = join(sandbox, 'state');
  const service = await createService({ stateDirectory, registry, prover: 'git', binding: testBinding });
  onTestFinished(() => service.close());
  return service;
}

async function rootOf(service: Service): Promise<string> {
  await using capability = await service.authority.authorize(app);
  return capability.root;
}

async function separate(gitDirectory: string): Promise<void> {
  await rm(app, { recursive: true, force: true });
  await mkdir(app);
  await git(app, 'init', '-q', '-b', 'main', `--separate-git-dir=${gitDirectory}`);
}

describe('confirming a workspace of the host', () => {
  it('R05: a directory that was replaced has authority again, in later processes too', async () => {
    await mkdir(app);
    registry.register(app);
    const service = await open();
    await rootOf(service);
    await rename(app, `${app}-old`);
    await mkdir(app);
    expect((await refusalOf(() => rootOf(service))).code).toBe('workspace_not_authorized');
    expect(await service.confirmWorkspace(app)).toEqual(registry.rows.get(app));
    expect(await rootOf(service)).toBe(app);
    await service.close();
    expect(await rootOf(await open())).toBe(app);
  });

  it('R05: the former directory has none any more', async () => {
    await mkdir(app);
    registry.register(app);
    const service = await open();
    await rootOf(service);
    await rename(app, `${app}-old`);
    await mkdir(app);
    await service.confirmWorkspace(app);
    await rm(app, { recursive: true });
    await rename(`${app}-old`, app);
    expect((await refusalOf(() => rootOf(service))).code).toBe('workspace_not_authorized');
  });

  it('R06: what was proven before another process confirmed is believed no longer', async () => {
    await mkdir(app);
    registry.register(app);
    const [service, other] = [await open(), await open()];
    await rootOf(service);
    await using held = await service.authority.authorize(app);
    await rename(app, `${app}-old`);
    await mkdir(app);
    await other.confirmWorkspace(app);
    await rm(app, { recursive: true });
    await rename(`${app}-old`, app);
    expect((await refusalOf(() => held.assertCurrent())).code).toBe('identity_changed');
    for (const each of [service, other]) {
      expect((await refusalOf(() => rootOf(each))).code).toBe('workspace_not_authorized');
    }
  });

  it('a worktree follows the pin of its main checkout', async () => {
    await makeRepository(app);
    registry.register(app);
    const service = await open();
    const linked = await addWorktree(app, join(sandbox, 'linked'), 'linked');
    const use = async () => {
      await using capability = await service.authority.authorize(linked);
      return capability.kind;
    };
    expect([await use(), await use()]).toEqual(['linked-worktree', 'linked-worktree']);
    await rename(app, `${app}-old`);
    await makeRepository(app);
    await service.confirmWorkspace(app);
    await rm(app, { recursive: true });
    await rename(`${app}-old`, app);
    expect((await refusalOf(use)).code).toBe('workspace_not_authorized');
  });

  it('R06: another separate Git dir is accepted by it, and by nothing else', async () => {
    await separate(join(sandbox, 'one.git'));
    registry.register(app);
    const service = await open();
    await rootOf(service);
    await git(
      sandbox,
      'init',
      '-q',
      '-b',
      'main',
      `--separate-git-dir=${sandbox}/two.git`,
      join(sandbox, 'x'),
    );
    await rename(join(sandbox, 'x/.git'), join(app, '.git'));
    expect((await refusalOf(() => rootOf(service))).code).toBe('repository_identity_changed');
    await service.confirmWorkspace(app);
    expect(await rootOf(service)).toBe(app);
  });

  it('before the first use it pins what stands there', async () => {
    await mkdir(app);
    registry.register(app);
    const service = await open();
    await service.confirmWorkspace(app);
    await rename(app, `${app}-old`);
    await mkdir(app);
    expect((await refusalOf(() => rootOf(service))).code).toBe('workspace_not_authorized');
  });

  const refusals: readonly {
    readonly title: string;
    readonly make: () => Promise<unknown>;
    readonly code: string;
    readonly reason?: string;
  }[] = [
    { title: 'what is not registered', make: () => mkdir(app), code: 'workspace_not_found' },
    {
      title: 'a row that names an identity itself',
      make: async () => {
        await mkdir(app);
        const handle = await testBinding.openRoot(app, {});
        registry.register(app, { identity: toStoredIdentity(handle.identity()) });
        handle.close();
      },
      code: 'not_offered',
      reason: 'pinned-by-registry',
    },
    {
      title: 'what does not exist',
      make: async () => registry.register(app),
      code: 'workspace_not_registrable',
      reason: 'not-a-usable-directory',
    },
    {
      title: 'a link',
      make: async () => {
        await mkdir(`${app}-real`);
        await symlink('app-real', app);
        registry.register(app);
      },
      code: 'workspace_not_registrable',
      reason: 'not-a-usable-directory',
    },
    {
      title: 'a bare repository',
      make: async () => {
        await git('/', 'init', '-q', '--bare', app);
        registry.register(app);
      },
      code: 'workspace_not_registrable',
      reason: 'bare-repository',
    },
    {
      title: 'anything while the registry cannot be read',
      make: async () => {
        await mkdir(app);
        registry.failure = new Error('disk');
      },
      code: 'registry_unavailable',
    },
  ];

  it.each(refusals)('R04: refuses $title, and pins nothing', async ({ make, code, reason }) => {
    const service = await open();
    await make();
    const refusal = await refusalOf(() => service.confirmWorkspace(app));
    expect(refusal).toMatchObject({ code, ...(reason === undefined ? {} : { details: { reason } }) });
    await expect(readFile(join(sandbox, 'state/pins.json'))).rejects.toThrow('ENOENT');
  });

  it('R41: POST /workspaces/confirm does it for an operator, though the rows are the host’s', async () => {
    await makeRepository(app);
    registry.register(app);
    const service = await open();
    await using server = await startServer(service);
    const list = { path: `/list?cwd=${encodeURIComponent(app)}` };
    expect((await server.send(list)).status).toBe(200);
    await rename(app, `${app}-old`);
    await makeRepository(app);
    expect((await server.send(list)).status).toBe(403);
    const confirm = { method: 'POST', path: '/workspaces/confirm', json: { path: app } };
    const guest = await server.send({ ...confirm, headers: { authorization: 'Bearer guest' } });
    expect([guest.status, guest.body?.['code']]).toEqual([403, 'operator_required']);
    const { status, body } = await server.send(confirm);
    expect([status, body]).toMatchObject([200, { ok: true, workspace: { path: app } }]);
    expect((await server.send(list)).status).toBe(200);
    const add = await server.send({ method: 'POST', path: '/workspaces', json: { path: app } });
    expect([add.status, add.body?.['code']]).toEqual([501, 'not_offered']);
  });
});

describe('confirming a workspace of the embedded registry', () => {
  it('R05: is the same as `workspaces.confirm`', async () => {
    await mkdir(app);
    const service = await createService({
      stateDirectory: join(sandbox, 'state'),
      prover: 'git',
      binding: testBinding,
    });
    onTestFinished(() => service.close());
    await service.workspaces?.add(app);
    await rename(app, `${app}-old`);
    await mkdir(app);
    const confirmed = await service.confirmWorkspace(app);
    expect(await service.workspaces?.list()).toEqual([confirmed]);
    expect(await rootOf(service)).toBe(app);
    const missing = await refusalOf(() => service.confirmWorkspace(join(sandbox, 'other')));
    expect(missing.code).toBe('workspace_not_found');
  });
});
