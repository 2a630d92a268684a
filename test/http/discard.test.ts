import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, makeRepository } from '../support/git.ts';
import type { TestAnswer } from '../support/http-server.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { makeTree } from '../support/tree.ts';

const here = useWorktreeLab();

function discard(params?: unknown, cwd = here.main): Promise<TestAnswer> {
  const json = { cwd, name: 'discard', ...(params === undefined ? {} : { params }) };
  return here.lab.server.send({ method: 'POST', path: '/action', json });
}

function listed(cwd = here.main): Promise<TestAnswer> {
  return here.lab.server.send({ path: `/discarded?cwd=${encodeURIComponent(cwd)}` });
}

function restore(json: object): Promise<TestAnswer> {
  return here.lab.server.send({ method: 'POST', path: '/discarded/restore', json });
}

async function changed(): Promise<readonly string[]> {
  return (await git(here.main, 'status', '--porcelain')).split('\n').filter(Boolean);
}

async function tokenOf(answer: TestAnswer): Promise<string> {
  return String((answer.body?.['details'] as { token?: string } | undefined)?.token);
}

describe('POST /action discard', () => {
  const wrong: readonly (readonly [title: string, params: unknown, status: number, code: string])[] = [
    ['paths as one string', { paths: 'new' }, 400, 'invalid_request'],
    ['paths as an object', { paths: { 0: 'new' } }, 400, 'invalid_request'],
    ['paths as null', { paths: null }, 400, 'invalid_request'],
    ['a path that is no string', { paths: ['new', 7] }, 400, 'invalid_request'],
    ['an unknown parameter', { path: 'new' }, 400, 'invalid_request'],
    ['ignored as a string', { ignored: 'true' }, 400, 'invalid_request'],
    ['no path at all', { paths: [] }, 422, 'discard_paths_empty'],
    ['a path that leads out', { paths: ['../new'] }, 409, 'action_refused'],
  ];
  it.each(wrong)('W6: %s never widens it', async (_title, params, status, code) => {
    await makeTree(here.main, ['new: 1']);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const answer = await discard(params);
      expect([answer.status, answer.body?.['code']]).toEqual([status, code]);
      if (status === 409) expect(answer.body?.['reasonKey']).toBe('actions.discard.unsafePath');
    }
    expect(await changed()).toEqual(['?? new']);
  });

  it('W6, R41: old clients send it twice, and get it when nothing has changed in between', async () => {
    await makeTree(here.main, ['new: 1']);
    const first = await discard({});
    expect([first.status, first.body?.['code'], first.body?.['reasonKey']]).toEqual([
      409,
      'confirmation_required',
      'actions.discard.confirm',
    ]);
    expect(first.body?.['details']).toMatchObject({ counts: { untracked: 1 }, paths: ['new'], more: 0 });
    await makeTree(here.main, ['newer: 1']);
    expect((await discard({})).body?.['details']).toMatchObject({ counts: { untracked: 2 } });
    const done = await discard({});
    expect([done.status, done.body?.['ok']]).toEqual([200, true]);
    expect(await changed()).toEqual([]);
    expect((await discard()).body?.['reasonKey']).toBe('actions.commit.clean');
  });

  it('R41: a token stands for one state; what went is listed and comes back', async () => {
    await makeTree(here.main, ['new: 1']);
    const token = await tokenOf(await discard());
    await makeTree(here.main, ['new: 2']);
    const stale = await discard({ token });
    expect([stale.status, stale.body?.['code']]).toEqual([412, 'state_changed']);
    const done = await discard({ token: await tokenOf(stale) });
    const archive = String(done.body?.['archive']);
    expect((await listed()).body?.['items']).toMatchObject([{ archive, here: true, finished: true }]);
    const back = await restore({ cwd: here.main, archive });
    expect([back.status, back.body?.['restored']]).toEqual([200, ['new']]);
    expect(await readFile(join(here.main, 'new'), 'utf8')).toBe('2');
    const unknown = await restore({ cwd: here.main, archive: 'x' });
    expect([unknown.status, unknown.body?.['code']]).toEqual([404, 'archive_not_found']);
  });

  it('R01: what was discarded is shown to whom the checkout is authorised, and to nobody else', async () => {
    expect((await listed(here.place)).status).toBe(403);
    expect((await restore({ cwd: here.place, archive: 'x' })).status).toBe(403);
  });

  it('run-fsmonitor-off, R22: no program that the repository names runs', async () => {
    const ran = join(here.place, 'ran');
    const program = join(here.place, 'program');
    await writeFile(program, `#!/bin/sh\necho ran >> '${ran}'\nexit 1\n`, { mode: 0o755 });
    await git(here.main, 'config', 'core.fsmonitor', program);
    await git(here.main, 'config', 'core.hooksPath', here.place);
    await writeFile(join(here.place, 'post-checkout'), `#!/bin/sh\nexec '${program}'\n`, { mode: 0o755 });
    await makeTree(here.main, ['new: 1']);
    await discard({ token: await tokenOf(await discard()) });
    expect(await readdir(here.place)).not.toContain('ran');
  });

  it('run-ambient-common, R20: nothing of the environment of the server reaches Git', async () => {
    const other = join(here.place, 'other');
    await makeRepository(other);
    await makeTree(here.main, ['new: 1']);
    await makeTree(other, ['theirs: 1']);
    const before = { ...process.env };
    Object.assign(process.env, {
      GIT_COMMON_DIR: join(other, '.git'),
      GIT_DIR: join(other, '.git'),
      GIT_INDEX_FILE: '/dev/null',
    });
    try {
      const token = await tokenOf(await discard());
      expect((await discard({ token })).status).toBe(200);
    } finally {
      for (const name of ['GIT_COMMON_DIR', 'GIT_DIR', 'GIT_INDEX_FILE']) {
        if (before[name] === undefined) delete process.env[name];
      }
    }
    expect(await changed()).toEqual([]);
    expect(await readdir(other)).toContain('theirs');
  });
});
