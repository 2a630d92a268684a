import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { outcomeOf } from '../actions/action-lab.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { addOwnWorktree, addWorktree } from '../support/http-worktrees.ts';
import { ask, change, get } from './public-bugs/bug-table.ts';

const here = useWorktreeLab();
const archives = () => here.lab.service.worktreeArchives;
const rows = async () => (await here.lab.service.workspaces?.list()) ?? [];

interface Way {
  list(cwd: string): Promise<unknown>;
  /** The refusal, or what became of the row. */
  finalize(cwd: string, token: string): Promise<unknown>;
}

const ways: Readonly<Record<string, Way>> = {
  library: {
    list: (cwd) => archives().deferred(cwd),
    finalize: async (cwd, token) => {
      let done: unknown;
      const refusal = await outcomeOf(
        archives()
          .finalize(cwd, token)
          .then((value) => (done = value)),
      );
      return refusal === 'ok' ? done : refusal;
    },
  },
  HTTP: {
    list: async (cwd) => (await ask(here.lab, get('/worktrees/deferred', { cwd }), 200)).body?.['items'],
    finalize: async (cwd, token) => {
      const { path, ...rest } = change('POST', '/worktrees/finalize-delete', { cwd, token });
      const { body } = await here.lab.server.send({ path, ...rest });
      const { ok, ...said } = body ?? {};
      return ok === true ? said : said['code'];
    },
  },
};

/** A managed worktree whose row stays when it is archived. */
async function archived(branch = 'task') {
  const path = await addOwnWorktree(here.main, here.lab.managedRoot, branch, 'Title');
  const row = await here.lab.service.workspaces?.add(path);
  const { workspaceDeletionToken } = await archives().archive(path, { deferWorkspaceDelete: true });
  return { path, workspaceId: row?.id ?? '', token: workspaceDeletionToken ?? '' };
}

describe.each(Object.entries(ways))('%s', (_title, { list, finalize }) => {
  it('R41: a row that was left is listed and ended once', async () => {
    const { path, workspaceId, token } = await archived();
    const item = { token, workspaceId, path, sessionIds: [], createdAt: expect.any(String) };
    expect(await list(here.main)).toEqual([item]);
    expect(await finalize(here.main, token)).toEqual({ workspaceId, workspaceDeleted: workspaceId });
    expect((await rows()).some(({ id }) => id === workspaceId)).toBe(false);
    expect(await list(here.main)).toEqual([]);
    expect(await finalize(here.main, token)).toMatch(/^deferred_workspace_unavailable/);
  });

  it('run-tx-finalize: a row that went meanwhile is said to be absent, and a new one under its path stays', async () => {
    const { path, workspaceId, token } = await archived();
    await here.lab.service.workspaces?.remove(path);
    await mkdir(path);
    const other = await here.lab.service.workspaces?.add(path);
    expect(await list(here.main)).toEqual([]);
    expect(await finalize(here.main, token)).toMatch(/^deferred_workspace_unavailable/);
    await rm(path, { recursive: true });
    expect(await finalize(here.main, token)).toEqual({ workspaceId, workspaceAlreadyAbsent: workspaceId });
    expect((await rows()).some(({ id }) => id === other?.id)).toBe(true);
    await here.lab.service.workspaces?.remove(path);
  });

  it('R02: only the registered main checkout of the repository ends it', async () => {
    const { path, token } = await archived();
    const linked = await addWorktree(here.main, join(here.place, 'linked'), 'linked');
    expect(await finalize(linked, token)).toMatch(/^workspace_not_authorized/);
    expect(await finalize(here.main, 'f'.repeat(32))).toMatch(/^deferred_workspace_unavailable/);
    expect(await finalize(here.main, '../../registry')).toMatch(/^deferred_workspace_unavailable/);
    await here.lab.service.workspaces?.remove(path);
  });
});

it('R41: rows that lie where managed worktrees do are named, and no others', async () => {
  const { path, workspaceId } = await archived();
  const { body } = await ask(here.lab, get('/worktree-workspaces', {}), 200);
  expect(body?.['items']).toEqual([{ workspaceId, path }]);
  await here.lab.service.workspaces?.remove(path);
});
