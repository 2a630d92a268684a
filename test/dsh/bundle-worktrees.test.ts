import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { apply } from '../../src/dsh/index.ts';
import { git, makeRepository } from '../support/http-lab.ts';
import { addPluginWorktree } from '../support/http-worktrees.ts';
import { temporaryDirectory } from '../support/state.ts';
import { createWorktree } from './fake-bundle.ts';
import { FakeHost, type FakeSession } from './fake-host.ts';
import { createFakeContext, firstConnection } from './fake-web-server.ts';
import { ask, type PlainAnswer } from './plain-client.ts';

let home: string;
let app: string;
let host: FakeHost;
let port: number;
let session: FakeSession;

beforeEach(async () => {
  home = await temporaryDirectory();
  app = join(home, 'app');
  await makeRepository(app);
  await git(app, 'config', 'user.name', 't');
  await git(app, 'config', 'user.email', 't@example.org');
  host = new FakeHost({ home, version: '0.2.1' });
  host.services.set('connection', firstConnection);
  const context = await createFakeContext(host);
  port = context.webServer.port;
  onTestFinished(await apply(context, { home, prover: 'git', protocols: ['file'] }));
  session = host.createSession('agent', app);
});

const query = (values: Readonly<Record<string, string>>): string => `?${new URLSearchParams(values)}`;

const get = (path: string, values: Readonly<Record<string, string>>): Promise<PlainAnswer> =>
  ask(port, `${path}${query(values)}`);

const post = (path: string, body: object, method = 'POST'): Promise<PlainAnswer> =>
  ask(port, path, {
    method,
    headers: { origin: `http://127.0.0.1:${port}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const unauthorized = { status: 403, body: { ok: false, code: 'workspace_not_authorized' } };

describe('a worktree that the bundle of 0.2.1 made', () => {
  beforeEach(async () => {
    await host.registry.create(app);
  });

  it('R30, R33: is a linked worktree of the registered main checkout, and not managed', async () => {
    const { path, branch } = await createWorktree(host, session, { name: 'feat/deep' });
    expect(path).toBe(join(app, '.agents/worktrees/feat/deep'));
    expect(await get('/detect', { path })).toMatchObject({
      status: 200,
      body: {
        isGit: true,
        isLinkedWorktree: true,
        managed: false,
        repoRoot: path,
        mainRepoRoot: app,
        branch,
      },
    });
    const { body } = await get('/worktrees', { cwd: app });
    expect(body?.['items']).toMatchObject([
      { path: app, isMain: true },
      { path, branch, managed: false, isMain: false },
    ]);
  });

  it('R33: is read, diffed, changed, committed, pushed and merged', async () => {
    const { path: cwd, branch, baseCommit } = await createWorktree(host, session, { name: 'task' });
    const remote = join(home, 'remote.git');
    await git(home, 'init', '-q', '--bare', remote);
    await git(app, 'remote', 'add', 'origin', remote);
    const { body: file } = await get('/file', { cwd, path: 'tracked.txt' });
    const change = { cwd, path: 'tracked.txt', content: 'two\n', baseSha1: file?.['sha1'] };
    expect(await post('/file', change)).toMatchObject({ status: 200, body: { ok: true } });
    const { body: diff } = await get('/diff', { cwd });
    expect(diff?.['files']).toMatchObject([{ path: 'tracked.txt', status: 'modified', additions: 1 }]);
    const act = (name: string, params: object = {}) => post('/action', { cwd, name, params });
    expect(await act('commit', { message: 'two', addAll: true })).toMatchObject({ status: 200 });
    const { body: commits } = await get('/commits', { cwd, base: baseCommit });
    expect(commits?.['commits']).toMatchObject([{ subject: 'two', unpushed: true }]);
    expect(await act('push')).toMatchObject({ status: 200, body: { ok: true } });
    expect(await git(remote, 'rev-parse', branch)).toBe(await git(cwd, 'rev-parse', 'HEAD'));
    const { body: snapshot } = await get('/snapshot', { cwd });
    expect(snapshot?.['snapshot']).toMatchObject({
      isLinkedWorktree: true,
      managed: false,
      dirty: false,
      branch,
    });
    const merged = await act('mergeToBase');
    expect([merged.status, merged.body?.['code'] ?? null]).toEqual([200, null]);
    expect(await git(app, 'log', '-1', '--format=%s', 'main')).toBe('two\n');
  });

  it('R33: makes no workspace, neither when it is made nor when it is used', async () => {
    const { path } = await createWorktree(host, session);
    await get('/snapshot', { cwd: path });
    await get('/worktrees', { cwd: app });
    expect(host.registry.list().map((row) => row.path)).toEqual([app]);
  });

  it('R34: a directory in it, one above it and its pool are no selectors', async () => {
    const { path } = await createWorktree(host, session, { name: 'feat/deep' });
    await mkdir(join(path, 'src'));
    for (const cwd of [join(path, 'src'), dirname(path), join(app, '.agents/worktrees'), `${path}/`]) {
      expect(await get('/snapshot', { cwd }), cwd).toMatchObject(unauthorized);
    }
  });

  it('R12: its files are files of the workspace around it, its Git link is not, and the status of that knows nothing of it', async () => {
    const { path } = await createWorktree(host, session, { name: 'task' });
    const below = (name: string) => get('/file', { cwd: app, path: `.agents/worktrees/task/${name}` });
    expect(await below('tracked.txt')).toMatchObject({ status: 200, body: { kind: 'text' } });
    expect(await below('.git')).toMatchObject({ status: 403, body: { code: 'administrative_path' } });
    const { body } = await get('/snapshot', { cwd: app });
    expect(body?.['snapshot']).toMatchObject({ dirty: false, untrackedCount: 0 });
    expect(path.startsWith(app)).toBe(true);
  });

  it('R28: is occupied by the session that made it and moved there, until it moves away; the header never moves', async () => {
    const { path: cwd } = await createWorktree(host, session);
    const occupants = async () => (await get('/sessions/occupants', { cwd })).body?.['occupants'];
    expect(await occupants()).toEqual([{ sessionId: 'agent', by: 'current', reason: 'inside' }]);
    host.endLife('agent');
    expect(await occupants()).toEqual([{ sessionId: 'agent', by: 'current', reason: 'inside' }]);
    const other = host.createSession('other', app);
    await host.moveSession(other, cwd);
    await host.moveSession(other, app);
    expect(await occupants()).toHaveLength(1);
    host.createSession('child', cwd, { origin: 'subagent', parentSession: 'agent' });
    // The child works there as well: its header is the first state of the projection.
    expect(await occupants()).toEqual(
      expect.arrayContaining(
        ['header', 'current'].map((by) => ({ sessionId: 'child', by, reason: 'inside' })),
      ),
    );
  });

  it.each(['archive', 'cleanup'])('R33: is not for %s, which is for managed worktrees', async (verb) => {
    const { path } = await createWorktree(host, session);
    await host.moveSession(session, app);
    const body = verb === 'archive' ? { path, force: true } : { cwd: path };
    const answer = await post(`/worktrees/${verb}`, body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.body).toMatchObject({ ok: false });
    expect(await git(path, 'rev-parse', '--show-toplevel')).toBe(`${path}\n`);
  });

  it('R31, R34: what a failed call left in the pool is nothing; a row whose directory is gone is nothing', async () => {
    const { path } = await createWorktree(host, session, { name: 'whole' });
    const left = join(app, '.agents/worktrees/left');
    await mkdir(left);
    expect(await get('/snapshot', { cwd: left })).toMatchObject(unauthorized);
    await writeFile(join(left, '.git'), `gitdir: ${join(app, '.git/worktrees/whole')}\n`);
    expect(await get('/snapshot', { cwd: left })).toMatchObject(unauthorized);
    await rm(path, { recursive: true });
    await mkdir(path);
    expect(await get('/snapshot', { cwd: path })).toMatchObject(unauthorized);
  });
});

describe('nested pools', () => {
  it('R32: a worktree made from a linked one has its authority from the main checkout', async () => {
    await host.registry.create(app);
    const first = await createWorktree(host, session, { name: 'first' });
    const second = await createWorktree(host, session, { name: 'second' });
    expect(second).toMatchObject({
      path: join(first.path, '.agents/worktrees/second'),
      repositoryRoot: first.path,
    });
    expect(await get('/detect', { path: second.path })).toMatchObject({
      status: 200,
      body: { isLinkedWorktree: true, managed: false, mainRepoRoot: app },
    });
  });

  it('R32: a registered linked worktree gives none to its siblings, nor to those in its own pool', async () => {
    const first = await createWorktree(host, session, { name: 'first' });
    const inside = await createWorktree(host, session, { name: 'inside' });
    await host.moveSession(session, app);
    const sibling = await createWorktree(host, session, { name: 'sibling' });
    await host.registry.create(first.path);
    expect(await get('/snapshot', { cwd: first.path })).toMatchObject({ status: 200 });
    for (const { path } of [inside, sibling])
      expect(await get('/snapshot', { cwd: path })).toMatchObject(unauthorized);
  });

  it('R32: a session in another repository makes worktrees of that one, which nobody here registered', async () => {
    await host.registry.create(app);
    const foreign = join(home, 'foreign');
    await makeRepository(foreign);
    await host.moveSession(session, foreign);
    const { path } = await createWorktree(host, session);
    expect(await get('/snapshot', { cwd: path })).toMatchObject(unauthorized);
    await host.registry.create(foreign);
    expect(await get('/snapshot', { cwd: path })).toMatchObject({ status: 200 });
  });

  it('R34: without a registered main checkout there is no authority, and with the row it goes again', async () => {
    const { path } = await createWorktree(host, session);
    expect(await get('/snapshot', { cwd: path })).toMatchObject(unauthorized);
    const { id } = await host.registry.create(app);
    expect(await get('/snapshot', { cwd: path })).toMatchObject({ status: 200 });
    await host.registry.delete(id);
    expect(await get('/snapshot', { cwd: path })).toMatchObject(unauthorized);
  });
});

describe('a worktree that the existing plugin made', () => {
  it('R02: below the home of the host is managed, and needs no row', async () => {
    await host.registry.create(app);
    const path = await addPluginWorktree(app, join(home, 'worktrees'), 'task');
    expect(await get('/detect', { path })).toMatchObject({
      status: 200,
      body: { isLinkedWorktree: true, managed: true, mainRepoRoot: app, branch: 'task' },
    });
    const { body } = await get('/worktrees', { cwd: app });
    expect(body?.['items']).toMatchObject([{ path: app }, { path, managed: true, baseRefName: 'main' }]);
  });

  it('R02: elsewhere is a linked worktree like any other', async () => {
    await host.registry.create(app);
    const path = await addPluginWorktree(app, join(home, 'elsewhere'), 'task');
    expect(await get('/detect', { path })).toMatchObject({
      body: { isLinkedWorktree: true, managed: false },
    });
  });

  it('R02: has no authority without its main checkout, and is a workspace when the host made it one', async () => {
    const path = await addPluginWorktree(app, join(home, 'worktrees'), 'task');
    expect(await get('/detect', { path })).toMatchObject(unauthorized);
    await host.registry.create(path);
    expect(await get('/detect', { path })).toMatchObject({ status: 200, body: { isLinkedWorktree: true } });
  });
});
