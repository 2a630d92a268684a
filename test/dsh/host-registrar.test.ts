import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { createHostRegistrar } from '../../src/dsh/host-registrar.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { FakeHost } from './fake-host.ts';

let host: FakeHost;
let path: string;

beforeEach(async () => {
  const home = await temporaryDirectory();
  path = join(home, 'tree');
  await mkdir(path);
  host = new FakeHost({ home, version: '0.1.0' });
});

const registrar = () => createHostRegistrar(host);
const remove = (row: { id: string; path: string }) => registrar().remove?.(row) ?? Promise.reject();

it('R02: a row is made with its title and without sessions, and the one that is there is kept', async () => {
  const id = await registrar().register(path, 'Title');
  expect(host.registry.get(id)).toMatchObject({ path, title: 'Title', sessionIds: [] });
  expect(await registrar().register(path, 'Other')).toBe(id);
  expect(host.registry.list().length).toBe(1);
});

it('R27: a row goes only by its id and while it has its path', async () => {
  const row = host.registry.put(path);
  const elsewhere = `${path}-elsewhere`;
  expect((await refusalOf(() => remove({ id: row.id, path: elsewhere }))).code).toBe(
    'deferred_workspace_unavailable',
  );
  expect(await remove({ id: 'another id', path })).toBe(false);
  expect(host.registry.list()).toEqual([row]);
  expect(await remove(row)).toBe(true);
  expect(await remove(row)).toBe(false);
});

const failures: Readonly<Record<string, () => unknown>> = {
  'is absent': () => host.services.delete('workspaceRegistry'),
  throws: () => host.registry.order.push('missing'),
  'has a path twice': () => host.registry.put(path),
};

it.each(Object.entries(failures))(
  'R04: while the registry %s, no row is taken away',
  async (_title, fail) => {
    const row = host.registry.put(path);
    fail();
    expect((await refusalOf(() => remove(row))).code).toBe('registry_unavailable');
    expect(host.registry.get(row.id)).toBe(row);
  },
);

it('R02: a row of another path than asked is not taken for ours', async () => {
  host.registry.create = async () => host.registry.put(`${path}-elsewhere`);
  expect((await refusalOf(() => registrar().register(path, 'Title'))).code).toBe('registry_unavailable');
});
