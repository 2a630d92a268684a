import { existsSync } from 'node:fs';
import { mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runningProcess } from '../../../src/capability/process-owner.ts';
import { git, type HttpLab } from '../../support/http-lab.ts';
import { addOwnWorktree } from '../../support/http-worktrees.ts';
import { ask, change, get, runBugTable } from './bug-table.ts';

const removal = 'worktrees are not archived or removed yet: POST /worktrees/archive';
const cleanup = 'worktrees are not cleaned up yet: POST /worktrees/cleanup';

async function occupants(lab: HttpLab, cwd: string): Promise<unknown> {
  return (await ask(lab, get('/sessions/occupants', { cwd }), 200)).body?.['occupants'];
}

/** The session is told by what its directory is, not by how it was spelled. */
async function aliasOfWorktree(lab: HttpLab): Promise<void> {
  const worktree = await addOwnWorktree(lab.repo, lab.managedRoot, 'aliased', null);
  await mkdir(join(worktree, 'sub'));
  const alias = join(lab.sandbox, 'alias');
  await symlink(worktree, alias);
  await symlink('sub', join(worktree, 'link'));
  const id = 'session-alias';
  // Of a worktree only the canonical path is a selector.
  await ask(lab, change('POST', '/sessions', { id, cwd: alias }), 403, 'workspace_not_authorized');
  await ask(lab, change('POST', '/sessions', { id, cwd: worktree, path: 'link' }), 201);
  const { body } = await ask(lab, get('/sessions', {}), 200);
  expect(body?.['items']).toMatchObject([{ id, workspace: worktree, header: join(worktree, 'sub') }]);
  expect(await occupants(lab, worktree)).toMatchObject([
    { sessionId: id, by: 'header', reason: 'inside' },
    { sessionId: id, by: 'current', reason: 'inside' },
  ]);
  expect(await occupants(lab, lab.repo)).toEqual([]);
  await ask(lab, change('DELETE', '/sessions', { id }), 200);
}

/** The number of a process is no name: the caller must know when it began, and the row remembers. */
async function reusedProcessNumber(lab: HttpLab): Promise<void> {
  const own = runningProcess(process.pid);
  const owner = { pid: process.pid, startTime: own?.startTime };
  const other = { ...owner, startTime: String(Number(own?.startTime) + 1) };
  const body = { cwd: lab.plain, id: 'session-process' };
  await ask(lab, change('POST', '/sessions', { ...body, process: other }), 422, 'session_owner_unknown');
  await ask(lab, change('POST', '/sessions', { ...body, process: owner }), 201);
  expect(await occupants(lab, lab.plain)).toHaveLength(2);
  await ask(lab, change('DELETE', '/sessions', { id: body.id }), 200);
  expect(await occupants(lab, lab.plain)).toEqual([]);
}

/** Closing the last session takes nothing away. */
async function lastSession(lab: HttpLab): Promise<void> {
  const worktree = await addOwnWorktree(lab.repo, lab.managedRoot, 'last-agent', null);
  for (const id of ['session-one', 'session-two'])
    await ask(lab, change('POST', '/sessions', { cwd: worktree, id }), 201);
  for (const id of ['session-one', 'session-two']) await ask(lab, change('DELETE', '/sessions', { id }), 200);
  expect(existsSync(join(worktree, 'tracked.txt'))).toBe(true);
  expect(await git(lab.repo, 'worktree', 'list', '--porcelain')).toContain(`worktree ${worktree}\n`);
}

/** Whoever takes the directory away first wins; the session is then nowhere. */
async function vanishingDirectory(lab: HttpLab): Promise<void> {
  const worktree = await addOwnWorktree(lab.repo, lab.managedRoot, 'vanishing', null);
  const asked = change('POST', '/sessions', { cwd: worktree, id: 'session-late' });
  const [answer] = await Promise.all([lab.server.send(asked), rename(worktree, `${worktree}-aside`)]);
  const { body } = await ask(lab, get('/sessions', {}), 200);
  expect(body?.['items']).toMatchObject(answer.status === 201 ? [{ id: 'session-late' }] : []);
  expect([201, 403, 409]).toContain(answer.status);
  await ask(lab, { ...asked, json: { cwd: worktree, id: 'session-later' } }, 403, 'workspace_not_authorized');
  if (answer.status === 201) await ask(lab, change('DELETE', '/sessions', { id: 'session-late' }), 200);
}

runBugTable('session-guard', 'R28', {
  scenarios: {
    'sg-alias-cwd': aliasOfWorktree,
    'sg-stale-lease-pid': reusedProcessNumber,
    'sg-last-agent-auto': lastSession,
    'sg-race-new-session': vanishingDirectory,
  },
  later: { 'sg-process-cwd': removal, 'sg-resume-baseline': cleanup },
});
