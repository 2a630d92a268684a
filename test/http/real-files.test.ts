import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { apiRoutes } from '../../src/http/routes/index.ts';
import {
  createHttpLab,
  etagOf,
  git,
  type HttpLab,
  makeRepository,
  put,
  putLink,
  sha1Of,
} from '../support/http-lab.ts';
import type { TestRequest } from '../support/http-server.ts';
import { addOwnWorktree } from '../support/http-worktrees.ts';
import { createMemoryForge, issueOf, pullOf } from '../support/memory-forge.ts';
import { change, get } from './public-bugs/bug-table.ts';

describe('the API over real directories', () => {
  const memory = createMemoryForge();
  let lab: HttpLab;
  beforeAll(async () => {
    lab = await createHttpLab({ forge: memory.forge });
  });
  beforeEach(() => lab.reset());
  afterAll(() => lab[Symbol.asyncDispose]());

  it('R13: of 64 clients that save the same version one wins, and 63 are told the version it made', async () => {
    const baseSha1 = await sha1Of(join(lab.plain, 'a.txt'));
    const contents = Array.from({ length: 64 }, (_, client) => `written by client ${client}\n`);
    const answers = await Promise.all(
      contents.map((content) =>
        lab.server.send(change('POST', '/file', { cwd: lab.plain, path: 'a.txt', content, baseSha1 })),
      ),
    );
    const winners = answers.flatMap((answer, client) => (answer.status === 200 ? [client] : []));
    expect(winners.length).toBe(1);
    expect(await readFile(join(lab.plain, 'a.txt'), 'utf8')).toBe(contents[winners[0] as number]);
    const [sha1, etag] = [await sha1Of(join(lab.plain, 'a.txt')), await etagOf(join(lab.plain, 'a.txt'))];
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ ok: false, code: 'conflict', error: 'conflict', sha1, etag });
      expect(answer.headers.etag).toBe(etag);
    }
    expect((await readdir(lab.plain)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it.each([
    'plain',
    ' leading and trailing ',
    'tab\tand\nnewline',
    'quote"\'`back\\slash',
    '%2e%2e',
    'a&b=c?d#e+f',
    '한글 é é 🙂',
    '...',
    '-rf',
    '\u0001\u007f',
    '\u202eltr',
    'x'.repeat(255),
  ])('R10: the name %j is written, listed, read, renamed and deleted as it is', async (name) => {
    const place = join(lab.plain, 'names');
    await mkdir(place, { recursive: true });
    const path = `names/${name}`;
    const created = await lab.server.send(
      change('PUT', '/file', { cwd: lab.plain, path, content: 'x' }, { 'if-none-match': '*' }),
    );
    expect([created.status, await readdir(place)]).toEqual([201, [name]]);
    const listed = await lab.server.send(get('/list', { cwd: lab.plain, path: 'names' }));
    expect(listed.body?.['entries']).toMatchObject([{ name, type: 'file', size: 1 }]);
    const read = await lab.server.send(get('/file', { cwd: lab.plain, path }));
    expect([read.status, read.body?.['content']]).toEqual([200, 'x']);
    const raw = await lab.server.send(get('/raw', { cwd: lab.plain, path, download: '1' }));
    expect([raw.status, raw.text]).toEqual([200, 'x']);
    const moved = await lab.server.send(
      change('POST', '/rename', { cwd: lab.plain, from: path, to: 'names/to' }),
    );
    expect([moved.status, await readdir(place)]).toEqual([200, ['to']]);
    const version = { 'if-match': String(read.headers.etag) };
    const gone = await lab.server.send(
      change('DELETE', '/file', { cwd: lab.plain, path: 'names/to' }, version),
    );
    expect([gone.status, await readdir(place)]).toEqual([200, []]);
  });

  it('R10: a name that is no UTF-8 is listed and cannot be addressed', async () => {
    const place = join(lab.plain, 'undecodable');
    await mkdir(place, { recursive: true });
    await writeFile(Buffer.concat([Buffer.from(`${place}/`), Buffer.from([0x66, 0xff])]), 'x');
    const listed = await lab.server.send(get('/list', { cwd: lab.plain, path: 'undecodable' }));
    expect(listed.body?.['entries']).toMatchObject([
      { name: null, undecodable: true, type: 'file', size: 1 },
    ]);
    const read = await lab.server.send(get('/file', { cwd: lab.plain, path: 'undecodable/f\ufffd' }));
    expect(read.status).toBe(404);
  });

  it('a large directory is listed in pages that miss and repeat nothing', async () => {
    const place = join(lab.plain, 'many');
    await mkdir(place, { recursive: true });
    const names = Array.from({ length: 250 }, (_, index) => `f${String(index).padStart(4, '0')}`);
    await Promise.all(names.map((name) => writeFile(join(place, name), '')));
    const seen: unknown[] = [];
    let cursor: string | null = null;
    do {
      const page = { cwd: lab.plain, path: 'many', limit: '100', ...(cursor === null ? {} : { cursor }) };
      const { body } = await lab.server.send(get('/list', page));
      seen.push(...((body?.['entries'] ?? []) as { name: string }[]).map((entry) => entry.name));
      cursor = (body?.['cursor'] ?? null) as string | null;
    } while (cursor !== null);
    expect(seen).toEqual(names);
    const wrong = await lab.server.send(get('/list', { cwd: lab.plain, cursor: 'no cursor of ours' }));
    expect([wrong.status, wrong.body?.['code']]).toEqual([400, 'invalid_request']);
  });

  it('a large file is streamed whole, in ranges, and as one download', async () => {
    const bytes = Buffer.alloc(5_000_000, 'abcdefg');
    await put(join(lab.plain, 'large.png'), bytes);
    const request = get('/raw', { cwd: lab.plain, path: 'large.png' });
    const whole = await lab.server.send(request);
    expect([whole.status, whole.bytes.equals(bytes)]).toEqual([200, true]);
    const part = await lab.server.send({ ...request, headers: { range: 'bytes=1000000-3999999' } });
    expect([part.status, part.bytes.equals(bytes.subarray(1_000_000, 4_000_000))]).toEqual([206, true]);
  });

  it('R41: every answer of every route has the shape its description promises', async () => {
    await putLink('a.txt', join(lab.plain, 'link'));
    await put(join(lab.plain, 'image.png'), 'image');
    const made = join(lab.sandbox, 'made');
    await mkdir(made);
    await mkdir(join(lab.plain, 'directory-of-session'));
    const { plain: cwd, repo } = lab;
    const managed = await addOwnWorktree(repo, lab.managedRoot, 'shaped', 'Title');
    const gone = await addOwnWorktree(repo, lab.managedRoot, 'gone', 'Title');
    const { token } = await lab.service.worktreeArchives.preflight(managed);
    const earlier = await addOwnWorktree(repo, lab.managedRoot, 'earlier', 'Title');
    const archived = await lab.service.worktreeArchives.archive(earlier, {});
    const later = await addOwnWorktree(repo, lab.managedRoot, 'later', 'Title');
    await lab.service.workspaces?.add(later);
    const deferred = await lab.service.worktreeArchives.archive(later, { deferWorkspaceDelete: true });
    const create = { 'if-none-match': '*' };
    const paths = ['discarded'];
    const discard = change('POST', '/action', { cwd: repo, name: 'discard', params: { paths } });
    await put(join(repo, 'discarded'), 'x');
    expect((await lab.server.send(discard)).status).toBe(409);
    const archive = (await lab.server.send(discard)).body?.['archive'];
    await put(join(repo, 'discarded'), 'x');
    expect((await lab.server.send(discard)).status).toBe(409);
    const forged = join(lab.sandbox, 'forged');
    await makeRepository(forged);
    await git(forged, 'remote', 'add', 'origin', 'https://forge.example/o/r');
    await lab.service.workspaces?.add(forged);
    memory.pulls.push(pullOf(7, '2024-01-01T00:00:00Z'));
    memory.issues.push(issueOf(8, null));
    const requests: readonly TestRequest[] = [
      get('/detect', { path: cwd }),
      get('/detect', { path: repo }),
      get('/detect', { path: managed }),
      get('/worktrees', { cwd }),
      get('/worktrees', { cwd: repo }),
      get('/worktrees', { cwd: managed }),
      get('/worktrees/preflight', { path: managed }),
      change('POST', '/worktrees', { cwd: repo, intent: 'branch-off', branchName: 'made' }),
      change('POST', '/worktrees', { cwd: managed, branchName: 'made' }),
      ...['/branches', '/commits', '/diff', '/snapshot', '/actions'].flatMap((path) => [
        get(path, { cwd: repo }),
        get(path, { cwd: managed }),
      ]),
      get('/snapshot', { cwd }),
      change('POST', '/snapshots', { cwds: [cwd, repo, managed], partial: true }),
      discard,
      get('/discarded', { cwd: repo }),
      change('POST', '/discarded/restore', { cwd: repo, archive }),
      change('POST', '/action', { cwd: repo, name: 'commit', params: { message: 'Change' } }),
      get('/file', { cwd, path: 'a.txt' }),
      get('/file', { cwd, path: 'image.png' }),
      get('/list', { cwd }),
      get('/pulls', { cwd: forged }),
      get('/pull', { cwd: forged, number: '7' }),
      get('/pull', { cwd: forged, number: '8' }),
      get('/explain', { path: repo }),
      get('/explain', { path: lab.outside }),
      change('POST', '/file', {
        cwd,
        path: 'a.txt',
        content: 'two\n',
        baseSha1: await sha1Of(join(cwd, 'a.txt')),
      }),
      change('PUT', '/file', { cwd, path: 'put', content: 'x' }, create),
      change('DELETE', '/file', { cwd, path: 'image.png', baseSha1: await sha1Of(join(cwd, 'image.png')) }),
      change('POST', '/rename', { cwd, from: 'put', to: 'moved' }),
      change('POST', '/mkdir', { cwd, path: 'directory' }),
      change('DELETE', '/directory', { cwd, path: 'directory' }),
      change('POST', '/workspaces', { path: made, title: 'Made' }),
      get('/workspaces', {}),
      change('POST', '/workspaces/confirm', { path: made }),
      change('DELETE', '/workspaces', { path: made }),
      change('POST', '/sessions', {
        cwd,
        path: 'directory-of-session',
        id: 'session-shaped',
        leaseSeconds: 60,
      }),
      change('PATCH', '/sessions', { id: 'session-shaped', cwd: managed }),
      get('/sessions', {}),
      get('/sessions/occupants', { cwd: managed }),
      get('/sessions/occupants', { cwd: repo }),
      change('DELETE', '/sessions', { id: 'session-shaped' }),
      change('POST', '/action', { cwd: gone, name: 'archive', params: {} }),
      change('POST', '/worktrees/archive', { path: managed, token }),
      get('/worktrees/archived', { cwd: repo }),
      get('/worktree-workspaces', {}),
      get('/worktrees/deferred', { cwd: repo }),
      change('POST', '/worktrees/finalize-delete', { cwd: repo, token: deferred.workspaceDeletionToken }),
      change('POST', '/worktrees/restore', { cwd: repo, archive: archived.archive }),
      { path: '/healthz' },
      { path: '/readyz' },
      { path: '/openapi.json' },
    ];
    const shown = new Set<string>();
    for (const request of requests) {
      const path = request.path.replace(/\?.*/, '');
      const name = `${request.method ?? 'GET'} ${path}`;
      const answer = await lab.server.send(request);
      const route = apiRoutes({}).find((candidate) => candidate.name === name);
      const schema = route?.definition.answers[answer.status]?.schema;
      expect([name, answer.status, schema?.safeParse(answer.body).error?.issues ?? []]).toEqual([
        name,
        answer.status,
        [],
      ]);
      expect([name, schema !== undefined]).toEqual([name, true]);
      shown.add(name);
    }
    // Those two answer with no JSON; what a stream tells is held against the snapshots in its own test.
    const described = apiRoutes({}).filter(({ path }) => path !== '/raw' && path !== '/events');
    expect([...shown].sort()).toEqual(described.map((route) => route.name).sort());
  });
});
