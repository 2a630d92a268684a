import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/http-lab.ts';
import type { TestAnswer } from '../support/http-server.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { expectNoLeak } from './public-bugs/bug-table.ts';

const here = useWorktreeLab();

function act(name: unknown, params?: unknown, cwd: unknown = here.main): Promise<TestAnswer> {
  const json = { cwd, name, ...(params === undefined ? {} : { params }) };
  return here.lab.server.send({ method: 'POST', path: '/action', json });
}

describe('POST /action', () => {
  it('R41: commits, and says which commit it made', async () => {
    await writeFile(join(here.main, 'new'), 'x\n');
    const answer = await act('commit', { message: 'm' });
    const head = (await git(here.main, 'rev-parse', 'HEAD')).trim();
    expect([answer.status, answer.body]).toEqual([200, { ok: true, oid: head }]);
    const again = await act('commit', { message: 'm', addAll: false });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({ code: 'action_refused', reasonKey: 'actions.commit.clean' });
  });

  it('R41: pushes and fetches', async () => {
    const remote = join(here.place, 'remote.git');
    await git(here.place, 'init', '-q', '--bare', remote);
    await git(here.main, 'remote', 'add', 'origin', remote);
    for (const name of ['push', 'fetch']) {
      const answer = await act(name, {});
      expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    }
    expect(await git(remote, 'rev-parse', 'refs/heads/main')).toBe(await git(here.main, 'rev-parse', 'HEAD'));
  });

  it.each([
    ['no name', undefined, undefined, 'name', 'cwd and name required'],
    ['an empty name', '', undefined, 'name', 'cwd and name required'],
    ['a name that is no text', 7, undefined, 'name', 'cwd and name required'],
    ['params that are a list', 'commit', ['m'], 'params', 'params must be an object'],
    ['params that are a text', 'commit', 'm', 'params', 'params must be an object'],
    ['a message that is a list', 'commit', { message: ['m'] }, 'message', 'invalid_request'],
    ['a message that is an object', 'commit', { message: {} }, 'message', 'invalid_request'],
    ['addAll that is a text', 'commit', { message: 'm', addAll: 'no' }, 'addAll', 'invalid_request'],
    [
      'git-identity-injection',
      'commit',
      { message: 'm', author: { name: 'a\nb' } },
      'author',
      'invalid_request',
    ],
    ['git-freeform-args', 'fetch', { args: ['--upload-pack=x'] }, 'args', 'invalid_request'],
    ['git-ext-transport', 'fetch', { remote: 'ext::sh -c x' }, 'remote', 'invalid_request'],
    ['a forced push', 'push', { force: true }, 'force', 'invalid_request'],
  ])(
    'W6, W22: %s is refused before the selector, the gate or a process',
    async (_, name, params, field, error) => {
      for (const cwd of [here.main, '/nowhere']) {
        const answer = await act(name, params, cwd);
        expect(answer.status).toBe(400);
        expect(answer.body).toMatchObject({ code: 'invalid_request', error, details: { field } });
      }
    },
  );

  it.each(['nothing', '__proto__', 'constructor', 'Commit', 'x'.repeat(200)])(
    'W22: the action %s is unknown, to whomever',
    async (name) => {
      const answer = await act(name, {}, '/nowhere');
      expect(answer.status).toBe(400);
      const params = { name: name.slice(0, 64) };
      expect(answer.body).toMatchObject({ code: 'action_unknown', reasonKey: 'actions.unknown', params });
    },
  );

  it('R41: an action of the contract that is not offered says so to who is authorised', async () => {
    expect((await act('createPr')).status).toBe(501);
    expect((await act('createPr', {}, '/nowhere')).status).toBe(403);
  });

  it('R20: git-conflict-markers: an unresolved merge is told with its paths, and nothing is committed', async () => {
    const person = ['-c', 'user.name=t', '-c', 'user.email=t@example.org'];
    await git(here.main, 'checkout', '-q', '-b', 'side');
    await writeFile(join(here.main, 'tracked.txt'), 'side\n');
    await act('commit', { message: 'side' });
    await git(here.main, 'checkout', '-q', 'main');
    await writeFile(join(here.main, 'tracked.txt'), 'main\n');
    await act('commit', { message: 'main' });
    await git(here.main, ...person, 'merge', '-q', 'side').catch(() => undefined);
    const head = await git(here.main, 'rev-parse', 'HEAD');
    const answer = await act('commit', { message: 'm' });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: 'unmerged_index',
      reasonKey: 'actions.merge.conflict',
      details: { paths: ['tracked.txt'] },
    });
    expect(await readFile(join(here.main, 'tracked.txt'), 'utf8')).toContain('<<<<<<<');
    expect(await git(here.main, 'rev-parse', 'HEAD')).toBe(head);
  });

  it('R41: a commit that fails after the index was written says so beside its code', async () => {
    await writeFile(join(here.main, 'new'), 'x\n');
    await writeFile(join(here.main, '.git/refs/heads/main.lock'), '');
    const answer = await act('commit', { message: 'm' });
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({
      code: 'repository_locked',
      retryable: true,
      partial: true,
      stage: 'commit',
      staged: true,
      recovery: { remove: 'refs/heads/main.lock', below: 'git dir' },
    });
    expectNoLeak(here.lab, answer);
  });

  it('R20: git-url-insteadof: a repository that rewrites addresses is not fetched', async () => {
    await git(here.main, 'remote', 'add', 'origin', 'https://example.invalid/x');
    await git(here.main, 'config', 'url.ext::sh -c x.insteadOf', 'https://example.invalid/');
    const answer = await act('fetch');
    expect([answer.status, answer.body?.['code']]).toEqual([409, 'untrusted_repository_config']);
  });
});
