import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DiffQuery } from '../../src/git/diff-query.ts';
import { diffRoute } from '../../src/http/routes/diff.ts';
import wireCases from '../cases/wire-cases.json' with { type: 'json' };
import { git } from '../support/git.ts';
import { useWorktreeLab } from '../support/http-worktree-lab.ts';
import { addPluginWorktree, addWorktree } from '../support/http-worktrees.ts';
import { ask, expectNoLeak, get } from './public-bugs/bug-table.ts';

const here = useWorktreeLab();
const answers = diffRoute.definition.answers[200]?.schema;

async function oidOf(directory: string, revision: string): Promise<string> {
  return (await git(directory, 'rev-parse', revision)).trimEnd();
}

/** The same answer from the library and from the route, in the documented shape. */
async function diff(cwd: string, query: DiffQuery = {}): Promise<Record<string, unknown>> {
  const fromLibrary = await here.lab.service.reads.diff(cwd, query);
  const { ignoreWhitespace, ...texts } = query;
  const parameters = { ...texts, ...(ignoreWhitespace ? { w: '1' } : {}) } as Record<string, string>;
  const { body } = await ask(here.lab, get('/diff', { cwd, ...parameters }), 200);
  expect(body).toEqual({ ok: true, ...fromLibrary });
  expect(answers?.safeParse(body).error?.issues).toBeUndefined();
  return body as Record<string, unknown>;
}

describe('GET /diff', () => {
  it('R41: tells every field of the wire contract, in each mode', async () => {
    const first = await oidOf(here.main, 'HEAD');
    await git(here.main, 'checkout', '-q', '-b', 'work');
    await writeFile(join(here.main, 'tracked.txt'), 'two\n');
    await git(here.main, 'commit', '-q', '-a', '-m', 'second');
    const second = await oidOf(here.main, 'HEAD');
    await writeFile(join(here.main, 'tracked.txt'), 'three');
    await writeFile(join(here.main, 'new'), '');
    const file = {
      path: 'tracked.txt',
      oldPath: null,
      status: 'modified',
      change: 'modified',
      additions: 1,
      deletions: 1,
      hunks: [
        {
          oldStart: 1,
          oldCount: 1,
          newStart: 1,
          newCount: 1,
          header: '',
          lines: [
            { type: 'del', content: 'two' },
            { type: 'add', content: 'three' },
            { type: 'meta', content: '\\ No newline at end of file' },
          ],
        },
      ],
      oldMode: '100644',
      newMode: '100644',
    };
    const untracked = {
      ...file,
      path: 'new',
      status: 'added',
      change: 'added',
      additions: 0,
      deletions: 0,
      hunks: [],
      oldMode: null,
      untracked: true,
    };
    const uncommitted = {
      ok: true,
      mode: 'uncommitted',
      refs: { baseRef: second, targetRef: null, label: 'uncommitted' },
      files: [untracked, file],
      tooLarge: false,
      untrackedOmitted: 0,
      nestedRepositories: [],
    };
    expect(await diff(here.main)).toEqual(uncommitted);
    expect(await diff(here.main, { mode: 'session' })).toEqual({ ...uncommitted, mode: 'session' });
    expect(await diff(here.main, { path: 'new' })).toEqual({ ...uncommitted, files: [untracked] });
    expect(await diff(here.main, { mode: 'base', base: 'main', ignoreWhitespace: true })).toMatchObject({
      mode: 'base',
      refs: { baseRef: first, targetRef: second, label: 'base:main' },
      files: [{ path: 'tracked.txt', additions: 1, deletions: 1 }],
    });
    expect(await diff(here.main, { commit: second })).toMatchObject({
      sha: second,
      isMerge: false,
      isRoot: false,
      files: [{ path: 'tracked.txt' }],
      tooLarge: false,
    });
  });

  it('W38: the task of a managed worktree goes on where another branch is checked out', async () => {
    const worktree = await addPluginWorktree(here.main, here.lab.pluginRoot, 'task');
    const first = await oidOf(here.main, 'HEAD');
    await git(here.main, 'commit', '-q', '--allow-empty', '-m', 'base moves on');
    await git(worktree, 'checkout', '-q', '-b', 'renamed');
    await writeFile(join(worktree, 'tracked.txt'), 'two\n');
    await git(worktree, 'commit', '-q', '-a', '-m', 'work');
    await writeFile(join(worktree, 'new'), '1\n');
    expect(await diff(worktree, { mode: 'task' })).toMatchObject({
      refs: { baseRef: first, targetRef: null, label: 'task:main' },
      files: [{ path: 'new' }, { path: 'tracked.txt' }],
    });
    expect(await diff(worktree, { mode: 'base' })).toMatchObject({
      refs: { baseRef: first, label: 'base:main' },
      files: [{ path: 'tracked.txt' }],
    });
  });

  it('R41: task-base-missing where nothing is recorded', async () => {
    const linked = await addWorktree(here.main, join(here.place, 'linked'), 'linked');
    const unknown = await addPluginWorktree(here.main, here.lab.pluginRoot, 'unknown', { baseRef: null });
    for (const cwd of [here.main, linked, unknown]) {
      const answer = await ask(here.lab, get('/diff', { cwd, mode: 'task' }), 409, 'task_base_missing');
      expect(answer.body?.['error']).toBe('task-base-missing');
    }
  });

  it('R02, R03: a repository is needed, and its own selector', async () => {
    await ask(here.lab, get('/diff', { cwd: here.lab.plain }), 422, 'git_repository_required');
    await ask(here.lab, get('/diff', { cwd: here.lab.nested }), 403, 'git_root_not_authorized');
    const refused = 'workspace_not_authorized';
    for (const cwd of [here.lab.outside, join(here.main, '.git'), join(here.lab.sandbox, 'none')]) {
      await ask(here.lab, get('/diff', { cwd, commit: 'bad', mode: 'bad', base: '--x' }), 403, refused);
    }
  });

  it.each([
    [{ mode: 'all' }, 422, 'invalid diff mode'],
    [{ mode: '' }, 422, 'invalid diff mode'],
    [{ base: 'a..b' }, 422, 'invalid base revision'],
    [{ mode: 'base', base: 'no-such-branch' }, 422, 'invalid base revision'],
    [{ commit: '' }, 422, 'invalid commit oid'],
    [{ commit: 'f'.repeat(40) }, 404, 'commit oid not found'],
    [{ path: '../x' }, 422, 'invalid diff path'],
    [{ path: '/etc' }, 422, 'invalid diff path'],
    [{ path: 'a\0b' }, 422, 'invalid diff path'],
    [{ w: '2' }, 400, 'invalid_request'],
    [{ force: '1' }, 400, 'invalid_request'],
  ])('R20, R41: %j is %i %s', async (parameters, status, error) => {
    const answer = await here.lab.server.send(
      get('/diff', { cwd: here.main, ...(parameters as unknown as Record<string, string>) }),
    );
    expect([answer.status, answer.body?.['error'], answer.body?.['ok']]).toEqual([status, error, false]);
    expectNoLeak(here.lab, answer);
  });

  it('R41: without a selector it is 400', async () => {
    const answer = await here.lab.server.send(get('/diff', {}));
    expect([answer.status, answer.body?.['error']]).toEqual([400, 'cwd required']);
  });
});

describe('the cases of the wire contract on diffs', () => {
  const ids: readonly string[] = [
    'sec-diff-base-1',
    'sec-diff-base-2',
    'sec-diff-base-3',
    'sec-diff-base-4',
    'sec-diff-commit-1',
    'sec-diff-commit-2',
    'sec-diff-commit-3',
    'sec-diff-commit-4',
    'sec-diff-commit-unknown',
    'sec-diff-literal-1',
    'sec-diff-session',
    'sec-diff-head-oid',
    'sec-diff-base-ref',
    'run-task-ok',
  ];
  const rows = wireCases.filter(({ id }) => ids.includes(id));

  it.each(rows)('R20: $id: $note', async (row) => {
    const head = await oidOf(here.main, 'HEAD');
    const places: Record<string, () => Promise<string>> = {
      REPO: async () => here.main,
      WT1: () => addPluginWorktree(here.main, here.lab.pluginRoot, 'wt1'),
      '<HEAD oid>': async () => head,
      '<12 hex prefix of HEAD>': async () => head.slice(0, 12),
      '--output=<sentinel>': async () => `--output=${join(here.place, 'sentinel')}`,
    };
    const [route, query = ''] = (row.request as { path: string }).path.split('?');
    const parameters: Record<string, string> = {};
    for (const pair of query.split('&')) {
      const split = pair.indexOf('=');
      const value = pair.slice(split + 1);
      parameters[pair.slice(0, split)] = (await places[value]?.()) ?? value;
    }
    const { path } = parameters;
    if (path !== undefined) {
      for (const name of [path, 'x']) await writeFile(join(here.main, name), 'one\n');
      await git(here.main, 'add', '-A');
      await git(here.main, 'commit', '-q', '-m', 'tracked');
      for (const name of [path, 'x']) await writeFile(join(here.main, name), 'two\n');
    }
    const before = await git(here.main, 'status', '--porcelain');
    const { status, body } = await here.lab.server.send(get(route as string, parameters));
    const expected = row.expect as { status: number; body: Record<string, unknown> };
    expect([status, body?.['ok']]).toEqual([expected.status, expected.status === 200]);
    // The two rows whose body is told in words.
    const told: Record<string, object> = {
      'sec-diff-literal-1': { files: [{ path }] },
      'run-task-ok': { refs: { label: expect.stringMatching(/^task:/) } },
    };
    expect(body).toMatchObject(told[row.id] ?? expected.body);
    expect(await git(here.main, 'status', '--porcelain')).toBe(before);
    expect(await readdir(here.place)).not.toContain('sentinel');
  });
});
