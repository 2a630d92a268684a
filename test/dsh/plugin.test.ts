import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { apply, Config, inject, name } from '../../src/dsh/index.ts';
import { refusalOf, temporaryDirectory } from '../support/state.ts';
import { testBinding } from '../support/test-binding.ts';
import { FakeHost } from './fake-host.ts';
import { createFakeContext, type FakeContext, firstConnection, secondConnection } from './fake-web-server.ts';
import { ask } from './plain-client.ts';

let home: string;
let app: string;
let host: FakeHost;
let context: FakeContext;

beforeEach(async () => {
  home = await temporaryDirectory();
  app = join(home, 'app');
  await mkdir(app);
  await writeFile(join(app, 'a.txt'), 'a\n');
  host = new FakeHost({ home, version: '0.2.1' });
  host.services.set('connection', secondConnection('let=me-in'));
  await host.registry.create(app);
  context = await createFakeContext(host);
});

async function load(config: object = {}): Promise<() => Promise<void>> {
  const settings = Config['~standard'].validate({ home, prover: 'git', ...config });
  if (!('value' in settings)) throw new Error(JSON.stringify(settings.issues));
  const unload = await apply(context, settings.value);
  let unloaded: Promise<void> | null = null;
  const unloadOnce = () => {
    unloaded ??= unload();
    return unloaded;
  };
  onTestFinished(unloadOnce);
  return unloadOnce;
}

const inside = { cookie: 'let=me-in' };

function fileOf(headers: Readonly<Record<string, string>> = inside) {
  return ask(context.webServer.port, `/file?cwd=${encodeURIComponent(app)}&path=a.txt`, { headers });
}

describe('the plugin', () => {
  it('R02: is what a loader looks for, and serves the rows of the host under the path that clients know', async () => {
    expect(name).toBe('workspace-authority');
    expect(inject).toEqual(['webServer']);
    await load();
    expect(await fileOf()).toMatchObject({ status: 200, body: { ok: true, kind: 'text', content: 'a\n' } });
    const other = await ask(context.webServer.port, `/file?cwd=${home}&path=a.txt`, { headers: inside });
    expect(other).toMatchObject({ status: 403, body: { ok: false, code: 'workspace_not_authorized' } });
  });

  it('R04: is there, and says so, while the registry and the sessions are not', async () => {
    await load();
    host.services.delete('workspaceRegistry');
    expect(await fileOf()).toMatchObject({ status: 503, body: { ok: false, code: 'registry_unavailable' } });
    const ready = await ask(context.webServer.port, '/readyz', { headers: inside });
    expect(ready).toMatchObject({
      status: 503,
      body: {
        registry: { readable: false, code: 'registry_unavailable' },
        sessions: { readable: false, code: 'session_guard_unavailable' },
      },
    });
  });

  it('R28: asks the sessions of the host who is in a workspace', async () => {
    await load();
    host.createSession('here', app);
    const answer = await ask(context.webServer.port, `/sessions/occupants?cwd=${encodeURIComponent(app)}`, {
      headers: inside,
    });
    expect(answer).toMatchObject({ status: 200 });
    expect(JSON.stringify(answer.body)).toContain('"here"');
  });

  it('writes to the log of the host, and nothing of a caller there as a format', async () => {
    await load();
    await ask(context.webServer.port, '/%s', { headers: inside });
    expect(context.logged.some((line) => line.startsWith('workspace-authority: refused'))).toBe(true);
  });

  it('keeps its state in the home of the host', async () => {
    await load();
    expect(await readdir(home)).toContain('workspace-authority');
  });

  it('fails to load, and leaves nothing open, where another plugin has the path', async () => {
    context.webServer.register({
      kind: 'prefix',
      path: '/better-workspaces/api',
      handler: (_request, response) => void response.end(),
    });
    const before = await openFiles();
    await expect(apply(context, { home, prover: 'git' })).rejects.toThrow('duplicate prefix route');
    expect(await openFiles()).toEqual(before);
  });

  it('R04: does not start over a state directory that cannot be used', async () => {
    await writeFile(join(home, 'state'), '');
    const refusal = await refusalOf(() => apply(context, { home, stateDirectory: join(home, 'state') }));
    expect(refusal.code).toBe('state_unavailable');
    expect(context.webServer.routes.size).toBe(0);
  });
});

describe('R40: who may call', () => {
  const rows: readonly {
    readonly title: string;
    readonly connection: unknown;
    readonly config?: object;
    readonly headers?: Readonly<Record<string, string>>;
    readonly status: number;
    readonly code?: string;
  }[] = [
    {
      title: '0.2.x: whoever the host lets in',
      connection: secondConnection('let=me-in'),
      headers: inside,
      status: 200,
    },
    {
      title: '0.2.x: nobody without the cookie',
      connection: secondConnection('let=me-in'),
      status: 401,
      code: 'authentication_required',
    },
    {
      title: '0.2.x: nobody with another cookie',
      connection: secondConnection('let=me-in'),
      headers: { cookie: 'let=me' },
      status: 401,
      code: 'authentication_required',
    },
    {
      title: '0.2.x: nobody whom its fence refuses, although our own gates let him pass',
      connection: secondConnection('let=me-in'),
      config: { allowedHosts: ['box.example'] },
      headers: { ...inside, host: 'box.example' },
      status: 403,
      code: 'host_not_allowed',
    },
    {
      title: '0.2.x: a later answer counts like one at once',
      connection: { requestRejection: async () => 401 },
      status: 401,
      code: 'authentication_required',
    },
    {
      title: 'an answer that is none that is known',
      connection: { requestRejection: () => false },
      status: 503,
      code: 'host_authentication_unavailable',
    },
    {
      title: 'a host that fails to answer',
      connection: {
        requestRejection: () => {
          throw new Error('no');
        },
      },
      status: 500,
      code: 'internal_error',
    },
    { title: '0.1.x: whoever calls from this machine', connection: firstConnection, status: 200 },
    {
      title: '0.1.x: nobody under another name, also an allowed one',
      connection: firstConnection,
      config: { allowedHosts: ['box.example'] },
      headers: { host: 'box.example' },
      status: 401,
      code: 'authentication_required',
    },
    {
      title: '0.1.x: nobody through a proxy',
      connection: firstConnection,
      headers: { 'x-forwarded-for': '192.0.2.1' },
      status: 401,
      code: 'authentication_required',
    },
    {
      title: 'nobody where the host has no connection service',
      connection: undefined,
      status: 503,
      code: 'host_authentication_unavailable',
    },
    {
      title: 'unless loopback is configured to be enough there',
      connection: undefined,
      config: { authentication: 'loopback' },
      status: 200,
    },
    {
      title: 'and never instead of what the host says',
      connection: secondConnection('let=me-in'),
      config: { authentication: 'loopback' },
      status: 401,
      code: 'authentication_required',
    },
    {
      title: 'a Host of somebody else comes no further than our first gate',
      connection: firstConnection,
      headers: { host: 'evil.example' },
      status: 403,
      code: 'host_not_allowed',
    },
    {
      title: 'nor does an Origin of somebody else',
      connection: firstConnection,
      headers: { origin: 'http://evil.example' },
      status: 403,
      code: 'same_origin_required',
    },
  ];

  it.each(rows)('$title: $status', async ({ connection, config = {}, headers = {}, status, code }) => {
    host.services.set('connection', connection);
    await load(config);
    const answer = await fileOf(headers);
    expect(answer).toMatchObject({ status, body: code === undefined ? { ok: true } : { ok: false, code } });
  });

  it('0.2.x: a change needs the cookie, our origin and JSON, each of them', async () => {
    await load();
    const { port } = context.webServer;
    const whole = { ...inside, origin: `http://127.0.0.1:${port}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ cwd: app, path: 'new.txt', content: 'x', encoding: 'utf8' });
    const put = (without: keyof typeof whole | null, headers: object = {}) => {
      const { [without ?? '']: _left, ...rest } = whole as Record<string, string>;
      return ask(port, '/file', {
        method: 'PUT',
        headers: { ...rest, 'if-none-match': '*', ...headers },
        body,
      });
    };
    expect(await put('cookie')).toMatchObject({ status: 401 });
    expect(await put('origin')).toMatchObject({ status: 403 });
    expect(await put(null, { origin: 'null' })).toMatchObject({ status: 403 });
    expect(await put('content-type')).toMatchObject({ status: 415 });
    expect(await readdir(app)).toEqual(['a.txt']);
    expect(await put(null)).toMatchObject({ status: 201 });
  });
});

describe('unloading', () => {
  it('leaves no file, process or timer behind, also after streams and failed callers', async () => {
    const before = await openFiles();
    const timers = watchTimers();
    for (let round = 0; round < 2; round += 1) {
      const unload = await load();
      await fileOf();
      await fileOf({});
      expect(timers.running()).not.toEqual([]);
      const streaming = new AbortController();
      const stream = fetch(
        `http://127.0.0.1:${context.webServer.port}/better-workspaces/api/events?cwds=${encodeURIComponent(JSON.stringify([app]))}`,
        { headers: inside, signal: streaming.signal },
      );
      expect((await stream).status).toBe(200);
      await unload();
      // The stream was ended by the server, not by us.
      await (await stream).text();
      streaming.abort();
      expect(context.webServer.routes.size).toBe(0);
    }
    await expect.poll(openFiles).toEqual(before);
    await expect.poll(() => timers.running()).toEqual([]);
    expect(testBinding.openHandles()).toBe(0);
  });

  it('R41: lets a change that has begun end, and answers who comes meanwhile with a body that can be parsed', async () => {
    const unload = await load();
    const { port } = context.webServer;
    const body = JSON.stringify({ cwd: app, path: 'new.txt', content: 'x', encoding: 'utf8' });
    const change = request({
      host: '127.0.0.1',
      port,
      path: '/better-workspaces/api/file',
      method: 'PUT',
      headers: {
        ...inside,
        origin: `http://127.0.0.1:${port}`,
        'content-type': 'application/json',
        'content-length': body.length,
        'if-none-match': '*',
      },
    });
    change.write(body.slice(0, 5));
    await once(context.webServer.server, 'request');
    const unloading = unload();
    const late = await fileOf();
    expect(late).toMatchObject({ status: 503, body: { ok: false, code: 'shutting_down' } });
    change.end(body.slice(5));
    const [answer] = (await once(change, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(201);
    answer.resume();
    await unloading;
    expect(await readdir(app)).toEqual(['a.txt', 'new.txt']);
    expect(await fileOf()).toEqual({ status: 404, body: null });
  });

  it('can be loaded again at once', async () => {
    for (let round = 0; round < 3; round += 1) {
      const unload = await load();
      expect((await fileOf()).status).toBe(200);
      await unload();
    }
  });
});

describe('its configuration', () => {
  const validate = Config['~standard'].validate;

  const ssh = { sshAuthenticationSocket: '/run/agent', sshKnownHostsFile: '/home/a/known_hosts' };

  it.each([[undefined], [null], [{}], [{ fetchEverySeconds: 10, allowedHosts: [] }], [ssh]])(
    '%j is fine',
    (value) => {
      expect(validate(value)).toHaveProperty('value');
    },
  );

  it.each<readonly [object | string, string]>([
    ['text', 'is no object'],
    [[], 'is no object'],
    [{ allowedHost: ['x'] }, 'is no setting'],
    [{ home: 'relative' }, 'is not an absolute path'],
    [{ stateDirectory: 1 }, 'is not an absolute path'],
    [{ sessionLogDirectory: '' }, 'is not an absolute path'],
    [{ authentication: 'none' }, 'is not host or loopback'],
    [{ allowedHosts: 'x' }, 'is not a list of host names'],
    [{ trustedProxyHosts: [1] }, 'is not a list of host names'],
    [{ prover: 'both' }, 'is not auto, nodegit or git'],
    [{ fetchEverySeconds: 9 }, 'is not a number of seconds from 10 to 999999'],
    [{ constructor: 1 }, 'is no setting'],
    [{ protocols: ['ext'] }, 'is not a list of https'],
    [{ credentialHelper: '/bin/x; y' }, 'is not a plain absolute path'],
    [{ sshKnownHostsFile: '/etc/hosts' }, 'is missing beside the other ssh setting'],
    [{ sshAuthenticationSocket: '/run/agent' }, 'is missing beside the other ssh setting'],
  ])('%j %s', (value, message) => {
    const result = validate(value);
    expect(result).toHaveProperty('issues');
    expect(JSON.stringify(result)).toContain(message);
  });
});

async function openFiles(): Promise<readonly string[]> {
  const names = await readdir('/proc/self/fd');
  const targets = await Promise.all(names.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return targets.filter((target) => target.startsWith('/') && !target.startsWith('/proc/')).sort();
}

/** The timers, referenced or not, that code of this package or of a library it uses for them started and that still run. */
function watchTimers(): { running(): readonly string[] } {
  const running = new Map<number, string>();
  const hook = createHook({
    init: (id, type) => {
      const { stack = '' } = new Error('started here');
      if (type === 'Timeout' && /\/src\/|express-rate-limit/.test(stack)) running.set(id, stack);
    },
    destroy: (id) => void running.delete(id),
  });
  hook.enable();
  onTestFinished(() => void hook.disable());
  return { running: () => [...running.values()] };
}
