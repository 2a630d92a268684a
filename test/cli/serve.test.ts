import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { compileSources } from '../support/compiled.ts';
import { temporaryDirectory } from '../support/state.ts';

let program: string;
beforeAll(async () => {
  program = join(await compileSources(), 'cli/main.js');
});

interface Place {
  readonly sandbox: string;
  readonly state: string;
  readonly app: string;
}

async function place(): Promise<Place> {
  const sandbox = await temporaryDirectory();
  const app = join(sandbox, 'app');
  await mkdir(app);
  await writeFile(join(app, 'notes.txt'), 'text\n');
  return { sandbox, state: join(sandbox, 'state'), app };
}

function start({ state }: Place, ...words: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [program, ...words, '--state', state], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

async function end(child: ChildProcess): Promise<Ended> {
  const text = { out: '', err: '' };
  child.stdout?.on('data', (chunk) => {
    text.out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    text.err += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, ...text };
}

interface Serving {
  readonly child: ChildProcess;
  readonly url: string;
  readonly api: string;
  readonly token: string;
  readonly pid: number;
  get(path: string, token?: string): Promise<Response>;
}

async function serve(where: Place, ...words: readonly string[]): Promise<Serving> {
  const child = start(where, 'serve', '--json', '--port', '0', ...words);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [line] = await once(lines, 'line');
  const ready = JSON.parse(line);
  return {
    child,
    ...ready,
    get: (path, token = ready.token) =>
      fetch(`${ready.api}${path}`, { headers: { Authorization: `Bearer ${token}` } }),
  };
}

function readNotes(server: Serving, { app }: Place): Promise<Response> {
  return server.get(`/file?cwd=${encodeURIComponent(app)}&path=notes.txt`);
}

describe('serve', () => {
  it('R40: prints one line when it is ready, and serves exactly what is registered', async () => {
    const where = await place();
    const server = await serve(where, '--workspace', where.app, '--workspace', where.app);
    expect(server.api).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api$/);
    expect(server.pid).toBe(server.child.pid);
    expect((await stat(join(where.state, 'token'))).mode & 0o7777).toBe(0o600);
    const response = await readNotes(server, where);
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { kind: 'text', content: 'text\n' },
    ]);
    expect((await server.get('/workspaces', 'x'.repeat(43))).status).toBe(401);
    const elsewhere = await server.get(`/file?cwd=${encodeURIComponent(where.sandbox)}&path=app/notes.txt`);
    expect(elsewhere.status).toBe(403);
    server.child.kill('SIGTERM');
    const [code] = await once(server.child, 'exit');
    expect(code).toBe(0);
    const audit = (await readFile(join(where.state, 'audit.jsonl'), 'utf8')).trimEnd().split('\n');
    expect(audit.map((line) => JSON.parse(line).status)).toEqual([401, 403]);
    expect(audit.join('\n')).not.toContain(server.token);
  });

  it('the one-time URL opens a session once', async () => {
    const server = await serve(await place());
    const first = await fetch(server.url, { redirect: 'manual' });
    expect(first.status).toBe(303);
    const cookie = (first.headers.get('set-cookie') ?? '').split(';')[0] as string;
    expect((await fetch(`${server.api}/workspaces`, { headers: { cookie } })).status).toBe(200);
    expect((await fetch(server.url, { redirect: 'manual' })).status).toBe(401);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s lets a running request end, then exits with 0',
    async (signal) => {
      const where = await place();
      const large = 8 * 1024 * 1024;
      await writeFile(join(where.app, 'large.bin'), Buffer.alloc(large));
      const server = await serve(where, '--workspace', where.app);
      const response = await server.get(
        `/raw?cwd=${encodeURIComponent(where.app)}&path=large.bin&download=1`,
      );
      expect(response.status).toBe(200);
      const exit = once(server.child, 'exit');
      server.child.kill(signal);
      expect((await response.arrayBuffer()).byteLength).toBe(large);
      expect(await exit).toEqual([0, null]);
      await expect(readNotes(server, where)).rejects.toThrow();
    },
  );

  it('a second server over the same state directory has the same workspaces and token', async () => {
    const where = await place();
    const one = await serve(where);
    const two = await serve(where, '--workspace', where.app);
    expect(two.token).toBe(one.token);
    expect((await readNotes(one, where)).status).toBe(200);
    one.child.kill('SIGKILL');
    await once(one.child, 'exit');
    expect((await readNotes(two, where)).status).toBe(200);
    const three = await serve(where);
    expect((await readNotes(three, where)).status).toBe(200);
  });

  it('a rotated token works at once in a running server, and the old one no more', async () => {
    const where = await place();
    const server = await serve(where);
    const { out } = await end(start(where, 'token', 'rotate', '--json'));
    expect((await server.get('/workspaces')).status).toBe(401);
    expect((await server.get('/workspaces', JSON.parse(out).token)).status).toBe(200);
  });

  it('a workspace added by another command is served at once', async () => {
    const where = await place();
    const server = await serve(where);
    expect((await readNotes(server, where)).status).toBe(403);
    expect((await end(start(where, 'workspaces', 'add', where.app))).code).toBe(0);
    expect((await readNotes(server, where)).status).toBe(200);
  });

  it('for people it says how many workspaces, which prover, and where to go; never the token', async () => {
    const where = await place();
    const child = start(where, 'serve', '--port', '0', '--workspace', where.app);
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const seen: string[] = [];
    for await (const line of lines) {
      seen.push(line);
      if (line.startsWith('open once:')) break;
    }
    const text = seen.join('\n');
    expect(text).toMatch(/^workspaces: 1$/m);
    expect(text).toMatch(/^prover: (git|nodegit|git\+nodegit)/m);
    expect(text).toMatch(/^open once: http:\/\/127\.0\.0\.1:\d+\/api\/sign-in\?code=/m);
    expect(text).not.toContain((await readFile(join(where.state, 'token'), 'utf8')).trim());
  });

  const refused: readonly (readonly [
    title: string,
    words: (where: Place) => Promise<readonly string[]>,
    why: RegExp,
  ])[] = [
    [
      'a workspace that cannot be one',
      async ({ sandbox }) => ['--workspace', join(sandbox, 'missing')],
      /workspace_not_registrable/,
    ],
    ['a port that is taken', async () => ['--port', String(await takenPort())], /EADDRINUSE/],
    [
      'an address that is not of this machine',
      async () => ['--host', '192.0.2.1', '--allowed-host', 'x.example'],
      /EADDRNOTAVAIL/,
    ],
  ];
  it.each(refused)('ends with exit code 1 and the reason for %s', async (_, words, why) => {
    const where = await place();
    const { code, out, err } = await end(start(where, 'serve', ...(await words(where))));
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(why);
    expect(err).not.toMatch(/^\s+at /m);
  });
});

describe('where a seccomp filter forbids openat2', () => {
  it.each([
    ['EPERM', constants.errno.EPERM],
    ['ENOSYS', constants.errno.ENOSYS],
  ])('R16: serve does not start, doctor says why (%s), and nothing is made', async (name, errno) => {
    const where = await place();
    const filter = join(where.sandbox, 'filter');
    const source = join(import.meta.dirname, '../native/forbid_openat2.c');
    await promisify(execFile)('cc', ['-std=gnu11', '-DFORBID_PROGRAM', '-o', filter, source]);
    const under = (...words: readonly string[]) =>
      end(spawn(filter, [String(errno), process.execPath, program, ...words, '--state', where.state]));
    const served = await under('serve', '--port', '0');
    expect([served.code, served.out]).toEqual([1, '']);
    expect(served.err).toContain('(kernel_capability_missing)');
    expect(served.err).toContain(name);
    const { code, out } = await under('doctor');
    expect(code).toBe(1);
    expect(out).toContain(`failure openat2: not available (${name})`);
    await expect(stat(where.state)).rejects.toThrow('ENOENT');
  });
});

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}
