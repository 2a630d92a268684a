import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { createHttpLab, type HttpLab } from '../support/http-lab.ts';
import { addOwnWorktree, addWorktree } from '../support/http-worktrees.ts';
import { change, get } from './public-bugs/bug-table.ts';

let lab: HttpLab;
beforeAll(async () => {
  lab = await createHttpLab();
});
afterAll(() => lab[Symbol.asyncDispose]());

let place: string;
let count = 0;
beforeEach(async () => {
  for (const { id } of (await lab.service.sessions?.list()) ?? []) await lab.service.sessions?.close(id);
  count += 1;
  place = join(lab.plain, `place ${count}`);
  await mkdir(join(place, 'a/b'), { recursive: true });
});

/** Status and code of an act over HTTP, or 2xx for any success. */
type Outcome = readonly [number, string | undefined];

interface Act {
  readonly act: 'create' | 'move' | 'renew' | 'close';
  readonly body: Readonly<Record<string, unknown>>;
}

const methods = { create: 'POST', move: 'PATCH', renew: 'PATCH', close: 'DELETE' } as const;

async function overHttp({ act, body }: Act): Promise<Outcome> {
  const answer = await lab.server.send(change(methods[act], '/sessions', body));
  const code = answer.body?.['code'] as string | undefined;
  return answer.status < 300 ? [200, undefined] : [answer.status, code];
}

async function throughLibrary({ act, body }: Act): Promise<Outcome> {
  const { sessions } = lab.service;
  if (sessions === null) throw new Error('the sessions are our own');
  const { id, ...rest } = body as unknown as { readonly id: string; readonly cwd: string };
  const acts = {
    create: () => sessions.create(body as never),
    move: () => sessions.move(id, rest),
    renew: () => sessions.renew(id),
    close: () => sessions.close(id),
  };
  try {
    await acts[act]();
    return [200, undefined];
  } catch (error) {
    if (isAuthorityError(error)) return [error.status, error.code];
    throw error;
  }
}

const here = (...names: readonly string[]): string => join(place, ...names);

describe.each([
  ['over HTTP', overHttp],
  ['through the library', throughLibrary],
])('sessions %s', (_title, perform) => {
  it('R28: are created, move and close, and say where they are', async () => {
    const id = 'session-1';
    const inside = `place ${count}/a`;
    expect(await perform({ act: 'create', body: { id, cwd: lab.plain, path: inside } })).toEqual([
      200,
      undefined,
    ]);
    expect(await perform({ act: 'move', body: { id, cwd: lab.repo } })).toEqual([200, undefined]);
    const { body } = await lab.server.send(get('/sessions', {}));
    expect(body?.['items']).toMatchObject([
      { id, workspace: lab.plain, header: here('a'), current: lab.repo, moving: [], ends: 'closed' },
    ]);
    const by = async (cwd: string) => {
      const answer = await lab.server.send(get('/sessions/occupants', { cwd }));
      const occupants = await lab.service.occupants(cwd);
      expect(answer.body?.['occupants']).toEqual(occupants);
      return occupants.map((occupant) => occupant.by);
    };
    expect(await by(lab.plain)).toEqual(['header']);
    expect(await by(lab.repo)).toEqual(['current']);
    expect(await perform({ act: 'close', body: { id } })).toEqual([200, undefined]);
    expect(await by(lab.plain)).toEqual([]);
    expect(await perform({ act: 'renew', body: { id } })).toEqual([404, 'session_not_found']);
  });

  interface Row {
    readonly title: string;
    readonly act: () => Act;
    readonly outcome: Outcome;
    readonly prepare?: () => Promise<unknown>;
  }
  const create = (body: object) => ({ act: 'create', body: { id: 'session-2', ...body } }) as const;
  const move = (body: object) => ({ act: 'move', body: { id: 'session-1', ...body } }) as const;
  const inPlace = (path: string) => ({ cwd: lab.plain, path: `place ${count}/${path}` });
  const rows: readonly Row[] = [
    {
      title: 'a directory that is no workspace',
      act: () => create({ cwd: lab.outside }),
      outcome: [403, 'workspace_not_authorized'],
    },
    {
      title: 'a directory below a workspace as selector',
      act: () => create({ cwd: here('a') }),
      outcome: [403, 'workspace_not_authorized'],
    },
    {
      title: 'a directory that is not there',
      act: () => create(inPlace('missing')),
      outcome: [404, 'not_found'],
    },
    {
      title: 'a file',
      act: () => create(inPlace('file')),
      prepare: () => writeFile(here('file'), ''),
      outcome: [422, 'not_directory'],
    },
    {
      title: 'a path that climbs out',
      act: () => create({ cwd: lab.plain, path: '../repo' }),
      outcome: [403, 'path_outside_workspace'],
    },
    {
      title: 'an absolute path',
      act: () => create({ cwd: lab.plain, path: lab.repo }),
      outcome: [403, 'path_outside_workspace'],
    },
    {
      title: 'a path with dots',
      act: () => create({ cwd: lab.plain, path: './a' }),
      outcome: [400, 'invalid_path'],
    },
    {
      title: 'a Git directory',
      act: () => create({ cwd: lab.repo, path: '.git' }),
      outcome: [403, 'administrative_path'],
    },
    {
      title: 'a link that leads outside',
      act: () => create(inPlace('out')),
      prepare: () => symlink(lab.outside, here('out')),
      outcome: [403, 'path_outside_workspace'],
    },
    {
      title: 'a link to a Git directory',
      act: () => create({ cwd: lab.repo, path: `git-link-${count}` }),
      prepare: () => symlink('.git', join(lab.repo, `git-link-${count}`)),
      outcome: [403, 'administrative_path'],
    },
    {
      title: 'an id that is taken',
      act: () => create({ cwd: lab.plain, id: 'session-1' }),
      outcome: [409, 'session_already_exists'],
    },
    {
      title: 'an id that is none',
      act: () => create({ cwd: lab.plain, id: '../evil id' }),
      outcome: [400, 'invalid_request'],
    },
    {
      title: 'a lease of a moment',
      act: () => create({ cwd: lab.plain, leaseSeconds: 1 }),
      outcome: [400, 'invalid_request'],
    },
    {
      title: 'a lease of years',
      act: () => create({ cwd: lab.plain, leaseSeconds: 1e9 }),
      outcome: [400, 'invalid_request'],
    },
    {
      title: 'a lease of half seconds',
      act: () => create({ cwd: lab.plain, leaseSeconds: 7.5 }),
      outcome: [400, 'invalid_request'],
    },
    {
      title: 'a process that does not run',
      act: () => create({ cwd: lab.plain, process: { pid: 4_194_304, startTime: '1' } }),
      outcome: [422, 'session_owner_unknown'],
    },
    {
      title: 'a process and a lease',
      act: () => create({ cwd: lab.plain, leaseSeconds: 60, process: { pid: process.pid, startTime: '1' } }),
      outcome: [400, 'invalid_request'],
    },
    {
      title: 'moving to no workspace',
      act: () => move({ cwd: lab.outside }),
      outcome: [403, 'workspace_not_authorized'],
    },
    {
      title: 'moving to what is not there',
      act: () => move(inPlace('missing')),
      outcome: [404, 'not_found'],
    },
    {
      title: 'moving a session that is not there',
      act: () => move({ cwd: lab.plain, id: 'session-9' }),
      outcome: [404, 'session_not_found'],
    },
    {
      title: 'closing a session that is not there',
      act: () => ({ act: 'close', body: { id: 'session-9' } }),
      outcome: [404, 'session_not_found'],
    },
  ];

  it.each(rows)('R02, R28: $title is refused, and changes nothing', async ({ act, prepare, outcome }) => {
    await lab.service.sessions?.create({ id: 'session-1', cwd: lab.plain });
    const before = await lab.service.sessions?.list();
    await prepare?.();
    expect(await perform(act())).toEqual(outcome);
    expect(await lab.service.sessions?.list()).toEqual(before);
  });

  it('R28: a link that stays inside leads to the directory itself', async () => {
    await symlink('a/b', here('link'));
    expect(await perform(create(inPlace('link')))).toEqual([200, undefined]);
    expect(await lab.service.sessions?.list()).toMatchObject([{ header: here('a/b') }]);
  });

  it('R28: a managed worktree, a linked one and their main checkout are occupied each for itself', async () => {
    const managed = await addOwnWorktree(lab.repo, lab.managedRoot, `managed-${perform.name}`, null);
    const linked = await addWorktree(
      lab.repo,
      join(lab.sandbox, `linked-${perform.name}`),
      `linked-${perform.name}`,
    );
    expect(await perform(create({ cwd: managed }))).toEqual([200, undefined]);
    const counts = async () =>
      Promise.all([managed, linked, lab.repo].map(async (cwd) => (await lab.service.occupants(cwd)).length));
    expect(await counts()).toEqual([2, 0, 0]);
    await perform({ act: 'move', body: { id: 'session-2', cwd: linked } });
    expect(await counts()).toEqual([1, 1, 0]);
  });
});

describe('the routes of sessions', () => {
  it('R41: a lease is shown and begins anew with each renewal', async () => {
    const created = await lab.server.send(change('POST', '/sessions', { cwd: lab.plain, leaseSeconds: 60 }));
    const session = created.body?.['session'] as { readonly id: string; readonly renewedAt: string };
    expect([created.status, session]).toMatchObject([201, { ends: 'lease', leaseSeconds: 60 }]);
    expect(session.id).toMatch(/^session-[0-9a-f-]{36}$/);
    await expect
      .poll(async () => {
        const renewed = await lab.server.send(change('PATCH', '/sessions', { id: session.id }));
        return String(Object(renewed.body?.['session'])['renewedAt']) > session.renewedAt;
      })
      .toBe(true);
  });

  it('R41: a path without its selector is named as missing it', async () => {
    const answer = await lab.server.send(change('PATCH', '/sessions', { id: 'session-1', path: 'a' }));
    expect([answer.status, answer.body?.['details']]).toEqual([400, { field: 'cwd', reason: 'missing' }]);
  });

  it('R04, R27: a damaged file is 503 on every route, said by readyz, and nobody counts as free', async () => {
    const file = join(lab.sandbox, 'state/sessions.json');
    await lab.service.sessions?.create({ id: 'session-1', cwd: lab.plain });
    const bytes = await readFile(file);
    try {
      await writeFile(file, '{"version":2,"sessions":[]}');
      for (const request of [
        get('/sessions', {}),
        get('/sessions/occupants', { cwd: lab.plain }),
        change('POST', '/sessions', { cwd: lab.plain }),
        change('PATCH', '/sessions', { id: 'session-1' }),
        change('PATCH', '/sessions', { id: 'session-1', cwd: lab.plain }),
        change('DELETE', '/sessions', { id: 'session-1' }),
      ]) {
        const { status, body } = await lab.server.send(request);
        expect([status, body?.['code'], body?.['error'], body?.['details']]).toEqual([
          503,
          'session_guard_unavailable',
          'session guard unavailable',
          { file: 'sessions.json', reason: 'does not have version 1' },
        ]);
      }
      const { status, body } = await lab.server.send({ path: '/readyz' });
      expect([status, body?.['sessions']]).toEqual([
        200,
        { readable: false, open: null, code: 'session_guard_unavailable' },
      ]);
    } finally {
      await writeFile(file, bytes);
      await chmod(file, 0o600);
    }
    expect((await lab.server.send({ path: '/readyz' })).body?.['sessions']).toEqual({
      readable: true,
      open: 1,
      code: null,
    });
  });

  it('R28: a session stays where it was written down when its directory is renamed, removed or unregistered', async () => {
    const made = join(lab.sandbox, 'short-lived');
    await mkdir(made);
    await lab.service.workspaces?.add(made);
    await lab.service.sessions?.create({ id: 'session-1', cwd: made });
    await rename(made, `${made}-aside`);
    await rm(`${made}-aside`, { recursive: true });
    await lab.service.workspaces?.remove(made);
    expect((await lab.server.send(get('/sessions', {}))).body?.['items']).toMatchObject([{ header: made }]);
    await mkdir(made);
    await lab.service.workspaces?.add(made);
    expect(await lab.service.occupants(made)).toHaveLength(2);
  });
});
