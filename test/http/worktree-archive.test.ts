import { lstat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/http-lab.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { addOwnWorktree, addPluginWorktree, addWorktree } from '../support/http-worktrees.ts';
import { ask, change, get } from './public-bugs/bug-table.ts';

const here = useWorktreeLab();
const own = (branch: string) => addOwnWorktree(here.main, here.lab.managedRoot, branch, 'Title');
const stands = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );

type Send = (path: string, more?: object) => ReturnType<typeof change>;
const ways: Readonly<Record<string, Send>> = {
  'POST /worktrees/archive': (path, more = {}) => change('POST', '/worktrees/archive', { path, ...more }),
  'POST /action archive': (path, more = {}) =>
    change('POST', '/action', { cwd: path, name: 'archive', params: { path, ...more } }),
};

describe.each(Object.entries(ways))('%s', (_title, send) => {
  it('decisions 1.1, sec-archive-unsafe, sec-archive-own: an old client is refused with what would be lost, repeats with force, and gets it back', async () => {
    const path = await own('topic');
    await writeFile(join(path, 'new'), 'untracked');
    const refused = await ask(here.lab, send(path, { deferWorkspaceDelete: true }), 409, 'worktree_unsafe');
    expect(refused.body).toMatchObject({
      ok: false,
      error: 'unsafe',
      reason: 'unsafe',
      dirty: true,
      unpushed: 0,
      details: { preflight: { untracked: { count: 1, paths: ['new'] } } },
    });
    const done = await ask(here.lab, send(path, { deferWorkspaceDelete: true, force: true }), 200);
    expect(done.body).toMatchObject({ ok: true, path, branch: 'topic' });
    expect(await stands(path)).toBe(false);
    await git(here.main, 'rev-parse', '--verify', 'refs/heads/topic');
    const listed = await ask(here.lab, get('/worktrees/archived', { cwd: here.main }), 200);
    expect(listed.body?.['items']).toMatchObject([{ archive: done.body?.['archive'], path, files: 1 }]);
    const asked = { cwd: here.main, archive: done.body?.['archive'] };
    const restored = await ask(here.lab, change('POST', '/worktrees/restore', asked), 201);
    expect(restored.body).toMatchObject({ ok: true, path, branch: 'topic', files: 1, missing: [] });
    expect(await stands(join(path, 'new'))).toBe(true);
  });

  it('R41, run-tx-archive-deferred: the row of the registry goes with it, or stays for the client with a token', async () => {
    const [now, later] = [await own('now'), await own('later')];
    const rows = await Promise.all([now, later].map((path) => here.lab.service.workspaces?.add(path)));
    expect((await ask(here.lab, send(now), 200)).body).toMatchObject({ workspaceDeleted: rows[0]?.id });
    const deferred = await ask(here.lab, send(later, { deferWorkspaceDelete: true }), 200);
    expect(deferred.body).toMatchObject({
      workspaceId: rows[1]?.id,
      workspaceSessionIds: [],
      workspaceDeletionToken: expect.any(String),
      workspaceDeletionDeferred: true,
    });
    const left = (await here.lab.service.workspaces?.list())?.map(({ path }) => path) ?? [];
    expect([left.includes(now), left.includes(later)]).toEqual([false, true]);
    await here.lab.service.workspaces?.remove(later);
  });

  it('R33: linked worktrees and main checkouts are 403 not-managed', async () => {
    const linked = await addWorktree(here.main, join(here.place, 'linked'), 'linked');
    for (const path of [linked, here.main]) {
      const { body } = await ask(here.lab, send(path, { force: true }), 403, 'worktree_not_managed');
      expect(body).toMatchObject({ reason: 'not-managed', error: 'not-managed' });
      expect(await stands(path)).toBe(true);
    }
  });

  it('R28, W21: a session is 409 active-session whichever way is taken, and a lock is 423', async () => {
    const path = await own('topic');
    const session = await here.lab.service.sessions?.create({ cwd: path });
    const { body } = await ask(here.lab, send(path, { force: true }), 409, 'session_active');
    expect(body).toMatchObject({ reason: 'active-session', stage: 'pre-remove' });
    await here.lab.service.sessions?.close(session?.id ?? '');
    await git(here.main, 'worktree', 'lock', path);
    await ask(here.lab, send(path, { force: true }), 423, 'worktree_locked');
    expect(await stands(path)).toBe(true);
  });

  it('R02: a worktree of the existing plugin is archived and restored as one', async () => {
    const path = await addPluginWorktree(here.main, here.lab.pluginRoot, 'plugin');
    const { body } = await ask(here.lab, send(path), 200);
    const asked = { cwd: here.main, archive: body?.['archive'] };
    await ask(here.lab, change('POST', '/worktrees/restore', asked), 201);
    const listed = await ask(here.lab, get('/worktrees', { cwd: here.main }), 200);
    expect(listed.body?.['items']).toContainEqual(expect.objectContaining({ path, managed: true }));
  });

  it.each([
    ['force', 'yes', 'force must be boolean'],
    ['deferWorkspaceDelete', 1, 'deferWorkspaceDelete must be boolean'],
  ])('R41: %s of another type is 400 with the text that old clients read', async (field, value, error) => {
    const { body } = await ask(here.lab, send(here.main, { [field]: value }), 400, 'invalid_request');
    expect(body).toMatchObject({ error, details: { field } });
  });
});

it('R02: sec-archive-path-mismatch: an action archives nothing but what it was authorised for', async () => {
  const [one, other] = [await own('one'), await own('other')];
  const params = { path: other, force: true };
  const request = change('POST', '/action', { cwd: one, name: 'archive', params });
  const { body } = await ask(here.lab, request, 403, 'workspace_not_authorized');
  expect(body?.['error']).toBe('archive path does not match authorized cwd');
  expect([await stands(one), await stands(other)]).toEqual([true, true]);
});

it('R34: an archive of somewhere else, and one that is none, are 404', async () => {
  for (const archive of ['none', '20200101000000000-0123456789abcdef'])
    await ask(
      here.lab,
      change('POST', '/worktrees/restore', { cwd: here.main, archive }),
      404,
      'archive_not_found',
    );
});
