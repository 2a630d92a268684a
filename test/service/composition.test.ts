import { mkdir, readdir, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseBeneathPath } from '../../src/capability/beneath-path.ts';
import type { NativeBinding } from '../../src/native/binding.ts';
import type { WorkspaceRegistry, WorkspaceRow } from '../../src/registry/workspace-registry.ts';
import { openStandaloneState } from '../../src/service/standalone-state.ts';
import { createService, type Service, type ServiceOptions } from '../../src/service.ts';
import { descendants, openDescriptors } from '../support/processes.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';

async function openService(stateDirectory: string, options: ServiceOptions = {}): Promise<Service> {
  const service = await createService({ stateDirectory, prover: 'git', binding: testBinding, ...options });
  onTestFinished(() => service.close());
  return service;
}

function foreignRow(path: string): WorkspaceRow {
  return {
    id: 'host-1',
    path,
    title: null,
    identity: null,
    gitDirIdentity: null,
    allowMounts: false,
    registeredAt: '2026-01-01T00:00:00.000Z',
  };
}

describe('a service', () => {
  it('gives every descriptor and process back, however often it is closed', async () => {
    const sandbox = await temporaryDirectory();
    await mkdir(join(sandbox, 'app'));
    const before = { handles: testBinding.openHandles(), children: descendants().length };
    // The first service loads what stays loaded.
    for (const _ of [1, 2, 3]) {
      const service = await createService({
        stateDirectory: join(sandbox, 'state'),
        prover: 'git',
        binding: testBinding,
      });
      await service.workspaces?.add(join(sandbox, 'app')).catch(() => undefined);
      const capability = await service.authority.authorize(join(sandbox, 'app'));
      await service.files.create(capability, parseBeneathPath(`file-${_}`), Buffer.from('x'));
      await capability[Symbol.asyncDispose]();
      await service.readiness();
      await Promise.all([service.close(), service.close(), service[Symbol.asyncDispose]()]);
    }
    expect(testBinding.openHandles()).toBe(before.handles);
    expect(descendants().length).toBe(before.children);
    const descriptors = openDescriptors();
    const service = await createService({
      stateDirectory: join(sandbox, 'state'),
      prover: 'git',
      binding: testBinding,
    });
    await service.close();
    expect(openDescriptors()).toBe(descriptors);
  });

  it('refuses changes after it was closed', async () => {
    const sandbox = await temporaryDirectory();
    await mkdir(join(sandbox, 'app'));
    const service = await openService(join(sandbox, 'state'));
    await service.workspaces?.add(join(sandbox, 'app'));
    const capability = await service.authority.authorize(join(sandbox, 'app'));
    await service.close();
    expect((await refusalOf(() => service.authority.authorize(join(sandbox, 'app')))).code).toBe(
      'shutting_down',
    );
    const create = () => service.files.create(capability, parseBeneathPath('f'), Buffer.from('x'));
    expect((await refusalOf(create)).code).toBe('shutting_down');
    await capability[Symbol.asyncDispose]();
  });

  it('two over one state directory see the same rows, each at once', async () => {
    const sandbox = await temporaryDirectory();
    await mkdir(join(sandbox, 'app'));
    const [one, two] = [await openService(join(sandbox, 'state')), await openService(join(sandbox, 'state'))];
    await one.workspaces?.add(join(sandbox, 'app'));
    await using capability = await two.authority.authorize(join(sandbox, 'app'));
    expect(capability.root).toBe(join(sandbox, 'app'));
    await two.workspaces?.remove(join(sandbox, 'app'));
    const refusal = await refusalOf(() => one.authority.authorize(join(sandbox, 'app')));
    expect(refusal.code).toBe('workspace_not_authorized');
  });

  it('R04: a registry damaged while its workspaces are in use refuses them, and the process lives on', async () => {
    const sandbox = await temporaryDirectory();
    const app = join(sandbox, 'app');
    await mkdir(app);
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => unheard.push(reason);
    process.on('unhandledRejection', hear);
    onTestFinished(() => void process.off('unhandledRejection', hear));
    const service = await openService(join(sandbox, 'state'));
    await service.workspaces?.add(app);
    await (await service.authority.authorize(app))[Symbol.asyncDispose]();
    await writeFile(join(sandbox, 'state/registry.json'), '');
    for (const _ of [1, 2]) {
      const refusal = await refusalOf(() => service.authority.authorize(app));
      expect(refusal.code).toBe('registry_unavailable');
    }
    await turn();
    expect(unheard).toEqual([]);
  });

  it('R04: a registry that cannot be read refuses everything with 503, says so, and heals', async () => {
    const sandbox = await temporaryDirectory();
    await mkdir(join(sandbox, 'app'));
    const service = await openService(join(sandbox, 'state'));
    await service.workspaces?.add(join(sandbox, 'app'));
    const file = join(sandbox, 'state/registry.json');
    const content = await readFile(file);
    await unlink(file);
    expect((await refusalOf(() => service.authority.authorize(join(sandbox, 'app')))).code).toBe(
      'registry_unavailable',
    );
    expect(await service.readiness()).toMatchObject({
      ready: false,
      registry: { readable: false, rows: null, code: 'registry_unavailable' },
      roots: [],
    });
    await writeFile(file, content, { mode: 0o600 });
    expect(await service.readiness()).toMatchObject({
      ready: true,
      registry: { readable: true, rows: 1, code: null },
      roots: [{ path: join(sandbox, 'app'), authorized: true, code: null, exchange: 'supported' }],
    });
  });

  it('readiness names the roots that cannot be used', async () => {
    const sandbox = await temporaryDirectory();
    await mkdir(join(sandbox, 'app'));
    const service = await openService(join(sandbox, 'state'));
    expect(await service.readiness()).toMatchObject({ ready: true, registry: { rows: 0 }, roots: [] });
    await service.workspaces?.add(join(sandbox, 'app'));
    await rename(join(sandbox, 'app'), join(sandbox, 'moved'));
    const [root] = (await service.readiness()).roots;
    expect(root).toEqual({
      path: join(sandbox, 'app'),
      authorized: false,
      code: 'workspace_not_authorized',
      exchange: 'unknown',
      openWriterCheck: 'unknown',
    });
  });

  it('without any prover it is not ready', async () => {
    const sandbox = await temporaryDirectory();
    const service = await openService(join(sandbox, 'state'), {
      prover: 'nodegit',
      nodegitState: () => ({ state: 'absent' }),
    });
    expect(await service.readiness()).toMatchObject({
      ready: false,
      prover: { active: 'none', nodegit: 'absent' },
    });
  });

  it('a state directory that cannot be used stops the start and leaves nothing open', async () => {
    const sandbox = await temporaryDirectory();
    await writeFile(join(sandbox, 'state'), '');
    const before = testBinding.openHandles();
    const start = () => createService({ stateDirectory: join(sandbox, 'state'), binding: testBinding });
    expect((await refusalOf(start)).code).toBe('state_unavailable');
    await rm(join(sandbox, 'state'));
    await mkdir(join(sandbox, 'state'), { mode: 0o700 });
    await writeFile(join(sandbox, 'state/locks'), '');
    expect(await refusalOf(start)).toMatchObject({
      code: 'state_unavailable',
      details: { file: 'locks/family' },
    });
    expect(testBinding.openHandles()).toBe(before);
  });

  it('R15: clears at its start what a killed writer left of its own, and keeps what is foreign', async () => {
    const sandbox = await temporaryDirectory();
    const state = join(sandbox, 'state');
    await (await openService(state)).close();
    // Made by process 1 of an earlier boot; the digests are of no content that is there.
    const ofNobody = (digits: string) =>
      `.wa-${digits.repeat(32)}.${'1'.repeat(16)}.${'2'.repeat(16)}.1-1-1-00000000.=registry.json.tmp`;
    await writeFile(join(state, ofNobody('a')), '', { mode: 0o600 });
    await writeFile(join(state, ofNobody('b')), 'somebody put this here', { mode: 0o644 });
    const facts: object[] = [];
    const logger = {
      debug: () => undefined,
      info: (fact: object) => facts.push(fact),
      error: () => undefined,
    };
    await openService(state, { logger });
    const left = (await readdir(state)).filter((name) => name.startsWith('.wa-'));
    expect(left).toEqual([ofNobody('b').replace(/\.tmp$/, '.kept')]);
    expect(await readFile(join(state, left[0] as string), 'utf8')).toBe('somebody put this here');
    expect(facts).toEqual([
      expect.objectContaining({ action: 'removed' }),
      expect.objectContaining({ action: 'kept' }),
    ]);
  });
});

describe('a registry of the host', () => {
  function registryOf(rows: WorkspaceRow[]): WorkspaceRegistry {
    return { find: (path) => rows.find((row) => row.path === path) ?? null, list: () => rows };
  }

  it('R02: authorises its rows and offers no way to change them', async () => {
    const sandbox = await temporaryDirectory();
    await mkdir(join(sandbox, 'app'));
    const service = await openService(join(sandbox, 'state'), {
      registry: registryOf([foreignRow(join(sandbox, 'app'))]),
    });
    expect(service.workspaces).toBeNull();
    await using capability = await service.authority.authorize(join(sandbox, 'app'));
    expect(capability.root).toBe(join(sandbox, 'app'));
    expect((await readdir(join(sandbox, 'state'))).sort()).toEqual([
      'archives',
      'locks',
      'pins.json',
      'pins.json.initialised',
      'worktree-journals',
    ]);
  });

  it('R05: pins what it saw first, for later processes too', async () => {
    const sandbox = await temporaryDirectory();
    const path = join(sandbox, 'app');
    await mkdir(path);
    const registry = registryOf([foreignRow(path)]);
    const first = await openService(join(sandbox, 'state'), { registry });
    await (await first.authority.authorize(path))[Symbol.asyncDispose]();
    await first.close();
    await rename(path, `${path}-old`);
    await mkdir(path);
    const second = await openService(join(sandbox, 'state'), { registry });
    expect((await refusalOf(() => second.authority.authorize(path))).code).toBe('workspace_not_authorized');
    await rm(path, { recursive: true });
    await rename(`${path}-old`, path);
    await using capability = await second.authority.authorize(path);
    expect(capability.root).toBe(path);
  });
});

describe('R16: where the kernel or the addon lacks what is needed', () => {
  const crippled: NativeBinding = {
    ...testBinding,
    probe: () => ({ ...testBinding.probe(), openat2: { available: false, code: 'EPERM' } }),
  };

  it('everything is refused with the cause and a hint, and nothing is made on disk', async () => {
    const sandbox = await temporaryDirectory();
    const service = await openService(join(sandbox, 'state'), { binding: crippled });
    const refused = {
      code: 'kernel_capability_missing',
      details: { syscall: 'openat2', errno: 'EPERM', hint: expect.stringContaining('seccomp') },
    };
    expect(await refusalOf(() => service.authority.authorize(sandbox))).toEqual(refused);
    expect(await refusalOf(() => service.authority.authorizeRepository(sandbox))).toEqual(refused);
    expect(await refusalOf(() => service.repositories.detect(sandbox))).toEqual(refused);
    expect(await refusalOf(() => service.repositories.worktrees(sandbox))).toEqual(refused);
    expect(await refusalOf(() => service.confirmWorkspace(sandbox))).toEqual(refused);
    expect(await refusalOf(() => service.workspaces?.add(sandbox))).toEqual(refused);
    expect(await service.authority.explain(sandbox)).toMatchObject({
      authorized: false,
      facts: [{ fact: 'kernel', seen: 'EPERM', holds: false }],
      refusal: { code: 'kernel_capability_missing' },
    });
    expect(await service.readiness()).toMatchObject({
      ready: false,
      kernel: { openat2: false, code: 'EPERM', hint: expect.stringContaining('seccomp') },
      registry: { readable: false, code: 'kernel_capability_missing' },
    });
    expect(await readdir(sandbox)).toEqual([]);
    await expect(
      openStandaloneState({ stateDirectory: join(sandbox, 'state'), binding: crippled }),
    ).rejects.toMatchObject({
      code: 'kernel_capability_missing',
    });
  });
});
