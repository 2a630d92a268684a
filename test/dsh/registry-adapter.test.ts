import { mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createHostRegistry } from '../../src/dsh/registry-adapter.ts';
import { createService, type Service } from '../../src/service.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';
import { FakeHost } from './fake-host.ts';

let home: string;
let app: string;
let host: FakeHost;

beforeEach(async () => {
  home = await temporaryDirectory();
  app = join(home, 'app');
  await mkdir(app);
  host = new FakeHost({ home, version: '0.1.0' });
});

async function open(): Promise<Service> {
  const registry = createHostRegistry(host);
  const stateDirectory = join(home, 'state');
  const service = await createService({ stateDirectory, registry, prover: 'git', binding: testBinding });
  onTestFinished(() => service.close());
  return service;
}

async function rootOf(service: Service, selector = app): Promise<string> {
  await using capability = await service.authority.authorize(selector);
  return capability.root;
}

describe('rows of the host', () => {
  it('R02: are found by their exact path, with the id and title the host gave them', async () => {
    const { id, createdAt } = await host.registry.create(`${app}/`, 'The app');
    const registry = createHostRegistry(host);
    const row = { id, path: app, title: 'The app', identity: null, gitDirIdentity: null, allowMounts: false };
    expect(registry.find(app)).toEqual({ ...row, registeredAt: createdAt });
    expect(registry.list()).toEqual([{ ...row, registeredAt: createdAt }]);
    for (const other of [`${app}/`, join(app, 'src'), home, '/'])
      expect(await registry.find(other)).toBeNull();
  });

  it('R02: the same row is the same object until something of it changes', async () => {
    const { id } = await host.registry.create(app);
    const registry = createHostRegistry(host);
    const row = await registry.find(app);
    expect(registry.find(app)).toBe(row);
    host.registry.entities.set(id, { ...(host.registry.get(id) as never as object), title: 'New' } as never);
    expect(registry.find(app)).toEqual({ ...row, title: 'New' });
  });

  it('R02: give authority as long as they are there, and not a moment longer', async () => {
    const service = await open();
    expect((await refusalOf(() => rootOf(service))).code).toBe('workspace_not_authorized');
    const { id } = await host.registry.create(app);
    expect(await rootOf(service)).toBe(app);
    await host.registry.delete(id);
    expect((await refusalOf(() => rootOf(service))).code).toBe('workspace_not_authorized');
  });

  it('R02: a row that is being created is none yet', async () => {
    const { id } = await host.registry.create(app);
    host.registry.order = [];
    expect(host.registry.get(id)).toBeDefined();
    expect(createHostRegistry(host).find(app)).toBeNull();
  });

  it('R05: a path that was rebound since lost its authority, although the host still lists it', async () => {
    const service = await open();
    await host.registry.create(app);
    expect(await rootOf(service)).toBe(app);
    await rename(app, `${app}-old`);
    await symlink(`${app}-old`, app);
    expect((await refusalOf(() => rootOf(service))).code).toBe('workspace_not_authorized');
    expect((await refusalOf(() => rootOf(service, `${app}-old`))).code).toBe('workspace_not_authorized');
  });

  it('R05: so does one that another directory took the place of', async () => {
    const service = await open();
    await host.registry.create(app);
    await rootOf(service);
    await rename(app, `${app}-old`);
    await mkdir(app);
    expect((await refusalOf(() => rootOf(service))).code).toBe('workspace_not_authorized');
  });

  it('R02: the directory of a session gives none', async () => {
    const service = await open();
    host.createSession('steered', app);
    expect((await refusalOf(() => rootOf(service))).code).toBe('workspace_not_authorized');
  });
});

describe('R04: a registry that cannot be read is registry_unavailable, never "no such row"', () => {
  const breaks: readonly (readonly [string, (host: FakeHost) => unknown])[] = [
    ['is absent', ({ services }) => services.delete('workspaceRegistry')],
    ['is not started', ({ services }) => services.set('workspaceRegistry', undefined)],
    ['throws', ({ registry }) => registry.order.push('missing')],
    [
      'answers later',
      ({ services, registry }) =>
        services.set('workspaceRegistry', { get: () => undefined, list: async () => registry.list() }),
    ],
    [
      'has no way to look one row up',
      ({ services }) => services.set('workspaceRegistry', { list: () => [] }),
    ],
    [
      'lists a row that it does not know: one that is being deleted',
      ({ services, registry }) =>
        services.set('workspaceRegistry', { get: () => undefined, list: () => registry.list() }),
    ],
    [
      'lists nothing that is a row',
      ({ registry }) => registry.entities.set(registry.order[0] ?? '', null as never),
    ],
    ['lists a row twice', ({ registry }) => registry.order.push(registry.order[0] ?? '')],
    ['has two rows of one path', ({ registry }) => registry.put(registry.list()[0]?.path ?? '')],
    [
      'has a row without a path',
      ({ registry }) => Object.assign(registry.list()[0] ?? {}, { path: undefined }),
    ],
    [
      'has a row whose sessions are no list',
      ({ registry }) => Object.assign(registry.list()[0] ?? {}, { sessionIds: {} }),
    ],
  ];

  it.each(breaks)('that %s', async (_title, breakIt) => {
    await host.registry.create(app);
    const service = await open();
    expect(await rootOf(service)).toBe(app);
    breakIt(host);
    for (const selector of [app, join(home, 'unknown')]) {
      expect((await refusalOf(() => rootOf(service, selector))).code).toBe('registry_unavailable');
    }
    expect((await service.readiness()).registry).toEqual({
      readable: false,
      rows: null,
      code: 'registry_unavailable',
    });
  });
});
