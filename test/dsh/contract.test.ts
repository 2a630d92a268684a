import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { apply } from '../../src/dsh/index.ts';
import { defaultLimits } from '../../src/http/index.ts';
import { git, makeRepository } from '../support/http-lab.ts';
import { temporaryDirectory } from '../support/state.ts';
import { ContractClient, type ContractClientOptions, type Outcome } from './contract-client.ts';
import { createWorktree } from './fake-bundle.ts';
import { FakeHost } from './fake-host.ts';
import { createFakeContext, type FakeContext, secondConnection } from './fake-web-server.ts';

let home: string;
let app: string;
let host: FakeHost;
let context: FakeContext;
let unload: () => Promise<void>;
let head: string;

beforeEach(async () => {
  home = await temporaryDirectory();
  app = join(home, 'app');
  await makeRepository(app);
  await git(app, 'config', 'user.name', 't');
  await git(app, 'config', 'user.email', 't@example.org');
  head = (await git(app, 'rev-parse', 'HEAD')).trim();
  host = new FakeHost({ home, version: '0.2.1' });
  host.services.set('connection', secondConnection('let=me-in'));
  await host.registry.create(app);
  context = await createFakeContext(host);
  unload = await apply(context, { home, prover: 'git', protocols: ['file'] });
  onTestFinished(unload);
});

function clientWith(headers: ContractClientOptions['headers'] = {}): ContractClient {
  return new ContractClient({ port: context.webServer.port, headers: { cookie: 'let=me-in', ...headers } });
}

function successOf<Value>(outcome: Outcome<Value>): Value {
  if (!outcome.ok) throw new Error(`${outcome.status} ${outcome.text}`);
  return outcome.value;
}

/** Every call of the client, of a workspace where it works or would if the route were there. */
const calls: readonly (readonly [
  string,
  (client: ContractClient, cwd: string) => Promise<Outcome<unknown>>,
])[] = [
  ['GET /detect', (client, cwd) => client.detect(cwd)],
  ['GET /branches', (client, cwd) => client.branches(cwd)],
  ['GET /pulls', (client, cwd) => client.pulls(cwd)],
  ['GET /pull', (client, cwd) => client.pull(cwd, 7)],
  ['GET /worktrees', (client, cwd) => client.worktrees(cwd)],
  ['POST /worktrees', (client, cwd) => client.create(cwd, { intent: 'branch-off', branchName: 'made' })],
  ['POST /worktrees/archive', (client, cwd) => client.archive(cwd)],
  ['GET /worktrees/deferred', (client, cwd) => client.deferred(cwd)],
  ['POST /worktrees/finalize-delete', (client, cwd) => client.finalize(cwd, 'token')],
  ['POST /snapshots', (client, cwd) => client.snapshots([cwd])],
  ['GET /diff', (client, cwd) => client.diff(cwd)],
  ['GET /commits', (client, cwd) => client.commits(cwd, head)],
  ['GET /actions', (client, cwd) => client.actions(cwd)],
  ['POST /action commit', (client, cwd) => client.action(cwd, 'commit', { message: 'm', addAll: true })],
  ['POST /action pull', (client, cwd) => client.action(cwd, 'pull')],
  ['POST /action push', (client, cwd) => client.action(cwd, 'push')],
  ['POST /action fetch', (client, cwd) => client.action(cwd, 'fetch')],
  ['POST /action discard', (client, cwd) => client.action(cwd, 'discard')],
  ['POST /action mergeToBase', (client, cwd) => client.action(cwd, 'mergeToBase')],
  ['POST /action updateFromBase', (client, cwd) => client.action(cwd, 'updateFromBase')],
  ['POST /action createPr', (client, cwd) => client.action(cwd, 'createPr', { title: 't' })],
  ['POST /action mergePr', (client, cwd) => client.action(cwd, 'mergePr')],
  ['POST /action archive', (client, cwd) => client.action(cwd, 'archive')],
  ['GET /file', (client, cwd) => client.file(cwd, 'tracked.txt')],
  ['POST /file', (client, cwd) => client.save(cwd, 'tracked.txt', 'x', '0'.repeat(40))],
];

/** Everything that fails for every call, and how. */
const failures: readonly {
  readonly title: string;
  readonly status: number;
  readonly arrange?: () => unknown;
  readonly headers?: ContractClientOptions['headers'];
  readonly cwd?: () => string;
}[] = [
  { title: 'without credentials', status: 401, headers: { cookie: null } },
  { title: 'under the name of somebody else', status: 403, headers: { host: 'evil.example' } },
  { title: 'from the page of somebody else', status: 403, headers: { origin: 'http://evil.example' } },
  { title: 'across sites', status: 403, headers: { 'sec-fetch-site': 'cross-site' } },
  { title: 'for a workspace that is none', status: 403, cwd: () => home },
  { title: 'for a place that does not exist', status: 403, cwd: () => join(home, 'nothing') },
  { title: 'for a directory below a workspace', status: 403, cwd: () => join(app, '.git') },
  { title: 'without a registry', status: 503, arrange: () => host.services.delete('workspaceRegistry') },
  {
    title: 'with a registry that fails',
    status: 503,
    arrange: () => host.registry.order.push('missing'),
  },
  {
    title: 'where the workspace was replaced by a link',
    status: 403,
    arrange: async () => {
      successOf(await clientWith().detect(app));
      await rename(app, `${app}-old`);
      await symlink(`${app}-old`, app);
    },
  },
  {
    title: 'while the host cannot say who calls',
    status: 503,
    arrange: () => host.services.delete('connection'),
  },
];

describe('a client of the wire contract, whatever it calls', () => {
  it.each(failures)('R41: $title: reads a failure and its text, and status $status', async (failure) => {
    const { status, arrange, headers = {}, cwd = () => app } = failure;
    await arrange?.();
    const client = clientWith(headers);
    let answered = 0;
    for (const [title, call] of calls) {
      const outcome = await call(client, cwd());
      expect(outcome.ok, title).toBe(false);
      // A route that is not offered is not there for anybody.
      if ([404, 405, 501].includes(outcome.status)) continue;
      answered += 1;
      // Whoever comes without credentials so often has to wait.
      const isLimited = status === 401 && answered > defaultLimits.failedAuthentications;
      expect(outcome.status, title).toBe(isLimited ? 429 : status);
    }
    expect(await git(app, 'log', '--format=%H')).toBe(`${head}\n`);
  });

  it('R41: while the plugin ends: reads a failure', async () => {
    const stream = await fetch(`http://127.0.0.1:${context.webServer.port}/better-workspaces/api/events`, {
      headers: { cookie: 'let=me-in' },
    });
    const unloading = unload();
    const outcomes = await Promise.all(
      calls.slice(0, 4).map(([, call]) => call(clientWith(), app).catch(String)),
    );
    // Whoever comes after the route went meets the host's own page, which is not ours to word.
    for (const outcome of outcomes) {
      if (typeof outcome === 'string') expect(outcome).toContain('a body is no JSON: ""');
      else expect(outcome.ok && outcome.status >= 300).toBe(false);
    }
    await stream.text();
    await unloading;
  });

  it('R41: with a plain directory and a nested one: reads what there is, and a failure where there is no Git', async () => {
    const plain = join(home, 'plain');
    const nested = join(app, 'nested');
    for (const path of [plain, nested]) {
      await mkdir(path);
      await writeFile(join(path, 'tracked.txt'), 'x\n');
      await host.registry.create(path);
      const client = clientWith();
      expect(successOf(await client.file(path, 'tracked.txt'))).toMatchObject({ content: 'x\n' });
      for (const [title, call] of calls) {
        const outcome = await call(client, path);
        expect(outcome.ok, title).toBe(outcome.status < 300);
      }
    }
    expect(successOf(await clientWith().detect(plain))).toBeNull();
    expect(successOf(await clientWith().branches(plain))).toEqual([]);
    expect(successOf(await clientWith().snapshots([plain]))).toMatchObject([{ cwd: plain, isGit: false }]);
  });
});

describe('a client of the wire contract with a workspace', () => {
  it('R41: reads the repository', async () => {
    const client = clientWith();
    expect(successOf(await client.detect(app))).toEqual({
      isLinkedWorktree: false,
      managed: false,
      mainRepoRoot: app,
      repoRoot: app,
      branch: 'main',
      sourceWorkspaceTitle: undefined,
    });
    expect(successOf(await client.branches(app))).toMatchObject([{ name: 'main', current: true }]);
    expect(successOf(await client.worktrees(app))).toEqual([{ path: app, managed: false }]);
    expect(successOf(await client.snapshots([app]))).toMatchObject([{ cwd: app, isGit: true }]);
    const ladder = successOf(await client.actions(app));
    expect(ladder.map(({ id }) => id)).toEqual(expect.arrayContaining(['commit', 'pull', 'push', 'fetch']));
  });

  it('R41: edits, commits and merges a task, and reads each conflict as one', async () => {
    const client = clientWith();
    const session = host.createSession('agent', app);
    const { path: cwd, baseCommit } = await createWorktree(host, session, { name: 'task' });
    const file = successOf(await client.file(cwd, 'tracked.txt'));
    expect(file?.content).toBe('one\n');
    const sha1 = successOf(await client.save(cwd, 'tracked.txt', 'two\n', file?.sha1 ?? ''));
    const stale = await client.save(cwd, 'tracked.txt', 'three\n', file?.sha1 ?? '');
    expect(stale).toMatchObject({ ok: false, status: 409, body: { error: 'conflict', sha1 } });
    expect(successOf(await client.diff(cwd)).files).toEqual([
      { path: 'tracked.txt', hunks: [['delone', 'addtwo']] },
    ]);
    successOf(await client.action(cwd, 'commit', { message: 'Two', addAll: true }));
    expect(successOf(await client.commits(cwd, baseCommit))).toMatchObject([
      { subject: 'Two', unpushed: true },
    ]);
    await writeFile(join(app, 'tracked.txt'), 'other\n');
    const dirty = await client.action(cwd, 'mergeToBase');
    expect(dirty).toMatchObject({ ok: false, status: 409 });
    expect(dirty.body['reasonKey']).toMatch(/^actions\./);
    await git(app, '-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-qam', 'other');
    const conflict = await client.action(cwd, 'mergeToBase');
    expect(conflict).toMatchObject({ ok: false, status: 409 });
    expect(conflict.ok ? '' : conflict.text).toContain('tracked.txt');
    expect(conflict.ok ? '' : conflict.text).toContain(String(conflict.body['recoveryCwd']));
  });

  it('R41: reads of a file that is no text that it is none, and of a failure that it is one', async () => {
    const client = clientWith();
    await mkdir(join(app, 'directory'));
    await writeFile(join(app, 'binary.bin'), '\0');
    await writeFile(join(app, 'image.png'), 'x');
    await writeFile(join(app, 'large.txt'), Buffer.alloc(2 * 1024 * 1024, 'x'));
    await writeFile(join(app, 'secret.txt'), 'x');
    await chmod(join(app, 'secret.txt'), 0o200);
    for (const name of ['directory', 'binary.bin', 'image.png', 'large.txt', 'missing.txt']) {
      const outcome = await client.file(app, name);
      expect(outcome.ok ? outcome.value : outcome.text, name).toBeNull();
    }
    for (const name of ['../outside.txt', '/etc/passwd', '.git/config']) {
      expect((await client.file(app, name)).ok, name).toBe(false);
      expect((await client.save(app, name, 'x', '0'.repeat(40))).ok, name).toBe(false);
    }
  });

  it('R41: reads wrong input as a failure, on every route that takes some', async () => {
    const client = clientWith();
    const outcomes = [
      await client.snapshots([]),
      await client.snapshots([app, home]),
      await client.diff(app, { mode: 'nonsense' }),
      await client.diff(app, { commit: 'f'.repeat(40) }),
      await client.diff(app, { commit: '--output=x' }),
      await client.commits(app, '--all'),
      await client.save(app, 'tracked.txt', '\0', '0'.repeat(40)),
      await client.save(app, 'tracked.txt', 'x', 'nonsense'),
      await client.save(app, 'tracked.txt', 'x'.repeat(9 * 1024 * 1024), '0'.repeat(40)),
      await client.action(app, 'commit', { message: 1 }),
      await client.action(app, 'commit', { message: '' }),
      await client.action(app, 'discard', { paths: 'tracked.txt' }),
      await client.action(app, 'nonsense'),
      await client.create(app, { pull: { number: 0 } }),
    ];
    const empty = outcomes[0];
    for (const outcome of outcomes.slice(1)) {
      expect(outcome.ok, JSON.stringify(outcome.body)).toBe(false);
      expect(outcome.status).toBeGreaterThanOrEqual(400);
    }
    expect(empty?.ok).toBe((empty?.status ?? 500) < 300);
    expect(await git(app, 'status', '--porcelain')).toBe('');
  });

  it('R41: makes a worktree with a row of the host, archives it and ends the row by its id', async () => {
    const client = clientWith();
    const made = successOf(await client.create(app, { intent: 'branch-off', branchName: 'made' }));
    expect(host.registry.get(made.workspaceId)).toMatchObject({ path: made.path, sessionIds: [] });
    expect(successOf(await client.worktreeWorkspaces())).toEqual([made.workspaceId]);
    const { token = '' } = successOf(await client.archive(made.path));
    expect(host.registry.get(made.workspaceId)).toBeDefined();
    expect(successOf(await client.deferred(app))).toEqual([{ token, path: made.path }]);
    const other = host.registry.put(made.path);
    expect(await client.finalize(app, token)).toMatchObject({ ok: false, status: 503 });
    await host.registry.delete(other.id);
    expect(successOf(await client.finalize(app, token))).toBe(made.workspaceId);
    expect(host.registry.list().map(({ path }) => path)).toEqual([app]);
    expect((await client.finalize(app, token)).ok).toBe(false);
  });

  it('R41: sees a snapshot in the stream when something changed, with the fields it sorts by', async () => {
    const url = `http://127.0.0.1:${context.webServer.port}/better-workspaces/api/events?cwds=${encodeURIComponent(JSON.stringify([app]))}`;
    const response = await fetch(url, { headers: { cookie: 'let=me-in' } });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const untilMatches = async (pattern: RegExp): Promise<RegExpExecArray> => {
      for (;;) {
        const found = pattern.exec(text);
        if (found !== null) return found;
        const next = await reader?.read();
        if (next === undefined || next.done) throw new Error(`the stream ended: ${text}`);
        text += next.value;
      }
    };
    await untilMatches(/:connected/);
    await writeFile(join(app, 'tracked.txt'), 'changed\n');
    const [, data = ''] = await untilMatches(/event: snapshot\ndata: ([^\n]*"dirty":true[^\n]*)\n/);
    expect(JSON.parse(data)).toMatchObject({ cwd: app, at: expect.any(Number) });
    await reader?.cancel();
  });

  it('R41: loses no word of a workspace that went while it was open', async () => {
    const client = clientWith();
    successOf(await client.detect(app));
    await rm(app, { recursive: true });
    for (const [title, call] of calls) expect((await call(client, app)).ok, title).toBe(false);
  });
});
