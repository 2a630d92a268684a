import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileSources } from '../support/compiled.ts';
import { temporaryDirectory } from '../support/state.ts';
import { installedPackages, type RealHost, type RealHostOptions, startRealHost } from './real-host.ts';

let compiled: string;
let home: string;
let app: string;

beforeAll(async () => {
  await installedPackages();
  compiled = await compileSources();
});

beforeEach(async () => {
  home = await temporaryDirectory();
  app = join(home, 'app');
  await mkdir(app);
  await writeFile(join(app, 'a.txt'), 'a\n');
});

const start = (options: Partial<RealHostOptions> = {}): Promise<RealHost> =>
  startRealHost(compiled, { home, config: { authentication: 'loopback' }, ...options });

const fileOf = (host: RealHost, cwd = app) => host.ask(`/file?cwd=${encodeURIComponent(cwd)}&path=a.txt`);
const unauthorized = { status: 403, body: { ok: false, code: 'workspace_not_authorized' } };

describe.skipIf(process.arch !== 'x64')('the registry of a real host of 0.1.0', () => {
  it('R02: gives authority by its rows, at once, and takes it back at once', async () => {
    const host = await start();
    expect(await fileOf(host)).toMatchObject(unauthorized);
    const { id, path } = await host.run<{ id: string; path: string }>(
      'createWorkspace',
      `${app}/.`,
      'The app',
    );
    expect(path).toBe(app);
    expect(await fileOf(host)).toMatchObject({ status: 200, body: { kind: 'text', content: 'a\n' } });
    expect(await fileOf(host, home)).toMatchObject(unauthorized);
    expect(await host.run('deleteWorkspace', id)).toBe(true);
    expect(await fileOf(host)).toMatchObject(unauthorized);
  });

  it('R02: what somebody writes into workspace.json while it runs gives none', async () => {
    const host = await start();
    await host.run('createWorkspace', app);
    const file = join(home, 'storages/workspace.json');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll(app, home));
    expect(await fileOf(host, home)).toMatchObject(unauthorized);
    expect(await fileOf(host)).toMatchObject({ status: 200 });
  });

  it('R05: a path that was rebound has lost it, also in the next life of the host', async () => {
    const first = await start();
    await first.run('createWorkspace', app);
    expect(await fileOf(first)).toMatchObject({ status: 200 });
    await rename(app, `${app}-old`);
    await symlink(`${app}-old`, app);
    expect(await fileOf(first)).toMatchObject(unauthorized);
    await first.kill();
    const second = await start();
    expect(await fileOf(second)).toMatchObject(unauthorized);
    expect(await fileOf(second, `${app}-old`)).toMatchObject(unauthorized);
  });

  it('R04: a registry that stopped is registry_unavailable', async () => {
    const host = await start();
    await host.run('createWorkspace', app);
    await host.run('stopRegistry');
    expect(await fileOf(host)).toMatchObject({
      status: 503,
      body: { ok: false, code: 'registry_unavailable' },
    });
  });

  it.each([
    ['is no JSON', () => 'garbage'],
    ['is of another version', (text: string) => text.replace('"version": 2', '"version": 3')],
    [
      'names a row that is not there',
      (text: string) => text.replace(/"workspaceIds": \[/, '"workspaceIds": ["gone",'),
    ],
  ])('R04: one whose file %s does not start, and is registry_unavailable', async (_title, damage) => {
    const first = await start();
    await first.run('createWorkspace', app);
    await first.kill();
    const file = join(home, 'storages/workspace.json');
    const text = await readFile(file, 'utf8');
    expect(damage(text)).not.toBe(text);
    await writeFile(file, damage(text));
    const second = await start({ toleratesFailures: true });
    expect(await fileOf(second)).toMatchObject({ status: 503, body: { code: 'registry_unavailable' } });
  });

  it('R02: the directory of a session gives none, although the host takes any', async () => {
    const host = await start();
    await host.run('createSession', 'steered', { cwd: app });
    await host.run('append', 'steered');
    expect(await fileOf(host)).toMatchObject(unauthorized);
  });
});

describe.skipIf(process.arch !== 'x64')('calls to a real host of 0.1.0', () => {
  const evil = 'http://evil.example';

  it('R40: meet our gates, since the host has none before a plugin', async () => {
    const host = await start({ connection: 1 });
    await host.run('createWorkspace', app);
    const path = `/file?cwd=${encodeURIComponent(app)}&path=a.txt`;
    const ask = (headers: Readonly<Record<string, string>>) => host.ask(path, { headers });
    expect(await ask({})).toMatchObject({ status: 200 });
    expect(await ask({ host: 'evil.example', origin: evil })).toMatchObject({
      status: 403,
      body: { code: 'host_not_allowed' },
    });
    expect(await ask({ origin: evil })).toMatchObject({
      status: 403,
      body: { code: 'same_origin_required' },
    });
    expect(await ask({ 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
    expect(await ask({ 'x-forwarded-for': '192.0.2.1' })).toMatchObject({ status: 401 });
  });

  it('R40: need the credentials of a host that has some', async () => {
    const host = await start({ connection: 2 });
    await host.run('createWorkspace', app);
    expect(await fileOf(host)).toMatchObject({ status: 401, body: { code: 'authentication_required' } });
    const path = `/file?cwd=${encodeURIComponent(app)}&path=a.txt`;
    expect(await host.ask(path, { headers: { cookie: 'let=me-in' } })).toMatchObject({ status: 200 });
  });

  it('are refused by a host of whose authentication nothing is known', async () => {
    const host = await start({ config: {} });
    await host.run('createWorkspace', app);
    const code = 'host_authentication_unavailable';
    expect(await fileOf(host)).toMatchObject({ status: 503, body: { code } });
  });
});
