import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHttpLab, git, type HttpLab, makeRepository } from '../support/http-lab.ts';
import { ask, change, get } from './public-bugs/bug-table.ts';

let lab: HttpLab;
let repo: string;
let remote: string;
let program: string;
let count = 0;
beforeAll(async () => {
  lab = await createHttpLab();
});
afterAll(() => lab[Symbol.asyncDispose]());
/** A registered repository with a remote, and a program that leaves a mark. */
beforeEach(async () => {
  count += 1;
  [repo, remote, program] = ['repository', 'remote', 'program'].map((name) =>
    join(lab.sandbox, `${name} ${count}`),
  ) as [string, string, string];
  await makeRepository(repo);
  await lab.service.workspaces?.add(repo);
  await git(lab.sandbox, 'clone', '-q', '--bare', repo, remote);
  await git(repo, 'remote', 'add', 'origin', remote);
  await writeFile(program, `#!/bin/sh\n: > '${program} ran'\nexit 1\n`, { mode: 0o755 });
});

const act = (name: string, params: object = {}, cwd = repo) =>
  change('POST', '/action', { cwd, name, params });
const ran = () =>
  rm(`${program} ran`).then(
    () => true,
    () => false,
  );
const headOf = async (path: string, revision = 'HEAD') => (await git(path, 'rev-parse', revision)).trim();
const filesOf = async () =>
  (await ask(lab, get('/diff', { cwd: repo }), 200)).body?.['files'] as readonly Record<string, unknown>[];

describe('what clients of HTTP met before', () => {
  it('W7: an untracked file counts and is committed, whatever status.showUntrackedFiles says', async () => {
    await git(repo, 'config', 'status.showUntrackedFiles', 'no');
    await writeFile(join(repo, 'new'), 'x\n');
    expect((await filesOf()).map(({ path }) => path)).toEqual(['new']);
    await ask(lab, act('commit', { message: 'm' }), 200);
    expect(await git(repo, 'cat-file', 'blob', 'HEAD:new')).toBe('x\n');
  });

  it('W12: a push to a mirror sends one branch, and takes none away', async () => {
    await git(repo, 'push', '-q', 'origin', 'main:theirs');
    await git(repo, 'config', 'remote.origin.mirror', 'true');
    await git(repo, 'config', 'remote.origin.push', '+refs/*:refs/*');
    await git(repo, 'update-ref', 'refs/remotes/elsewhere/secret', 'HEAD');
    await ask(lab, act('push'), 200);
    expect(await git(remote, 'for-each-ref', '--format=%(refname)')).toBe(
      'refs/heads/main\nrefs/heads/theirs\n',
    );
  });

  it('W15: a blob that is missing is fetched from no promisor', async () => {
    const blob = await headOf(repo, 'HEAD:tracked.txt');
    for (const [key, value] of [
      ['extensions.partialClone', 'promisor'],
      ['remote.promisor.url', remote],
      ['remote.promisor.promisor', 'true'],
      ['remote.promisor.uploadpack', program],
    ] as const) {
      await git(repo, 'config', key, value);
    }
    await git(repo, 'config', 'core.repositoryFormatVersion', '1');
    await rm(join(repo, '.git/objects', blob.slice(0, 2), blob.slice(2)));
    await writeFile(join(repo, 'tracked.txt'), 'two\n');
    const { status } = await lab.server.send(get('/diff', { cwd: repo }));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(await ran()).toBe(false);
  });

  it.each(['credential.https://example.invalid.helper', 'core.sshCommand', 'remote.origin.uploadpack'])(
    'W16: no network action runs the program of %s',
    async (key) => {
      await git(repo, 'config', key, program);
      for (const name of ['fetch', 'push', 'pull']) {
        await ask(lab, act(name), 409, 'untrusted_repository_config');
      }
      expect(await ran()).toBe(false);
    },
  );

  it('W28, W29, W30: lines like headers are lines, and no setting of the eyes changes a name', async () => {
    await writeFile(join(repo, 'tracked.txt'), '-- one\n++ two\n');
    await ask(lab, act('commit', { message: 'm' }), 200);
    for (const [key, value] of [
      ['diff.mnemonicPrefix', 'true'],
      ['diff.noprefix', 'true'],
      ['diff.relative', 'true'],
      ['diff.context', '0'],
    ] as const) {
      await git(repo, 'config', key, value);
    }
    await writeFile(join(repo, 'tracked.txt'), '++ two\n++ three\n');
    expect(await filesOf()).toMatchObject([
      {
        path: 'tracked.txt',
        hunks: [
          {
            lines: [
              { type: 'del', content: '-- one' },
              { type: 'ctx', content: '++ two' },
              { type: 'add', content: '++ three' },
            ],
          },
        ],
      },
    ]);
  });

  it('W31: a repository inside is no file of a diff, and no part of a commit', async () => {
    await makeRepository(join(repo, 'nest'));
    const { body } = await ask(lab, get('/diff', { cwd: repo }), 200);
    expect([body?.['files'], body?.['nestedRepositories']]).toEqual([[], ['nest']]);
    await ask(lab, act('commit', { message: 'm' }), 409, 'action_refused');
  });

  it('W36: repositories in one directory are different families', async () => {
    const paths = ['one', 'two'].map((name) => join(lab.sandbox, `team ${count}`, name));
    for (const path of paths) {
      await makeRepository(path);
      await lab.service.workspaces?.add(path);
      await writeFile(join(path, 'own'), `${path}\n`);
    }
    await Promise.all(paths.map((path) => ask(lab, act('commit', { message: path }, path), 200)));
    for (const path of paths) expect(await git(path, 'log', '-1', '--format=%s')).toBe(`${path}\n`);
  });

  it('W37: a main checkout whose Git dir lies elsewhere is acted on by itself, and its worktrees are refused by name', async () => {
    const [main, tree] = ['separate', 'separate tree'].map((name) =>
      join(lab.sandbox, `${name} ${count}`),
    ) as [string, string];
    await git('/', 'init', '-q', '-b', 'main', `--separate-git-dir=${main}.git`, main);
    await lab.service.workspaces?.add(main);
    await writeFile(join(main, 'f'), 'one\n');
    const { body } = await ask(lab, act('commit', { message: 'm' }, main), 200);
    const oid = body?.['oid'];
    expect(await headOf(main)).toBe(oid);
    await git(main, 'worktree', 'add', '-q', '-b', 'topic', tree);
    const refusal = await lab.server.send(act('mergeToBase', {}, tree));
    expect([refusal.status, refusal.body?.['code']]).not.toContain('ref_moved');
    expect([403, 409]).toContain(refusal.status);
    // There is no other checkout that has the base, and it says so.
    await git(main, 'checkout', '-q', '-b', 'work');
    const { body: said } = await ask(lab, act('mergeToBase', {}, main), 409, 'action_refused');
    expect(said?.['reasonKey']).toBe('actions.mergeToBase.noOwner');
    expect(await headOf(main, 'main')).toBe(oid);
  });

  it('W39: a tag of the name of the branch is neither pushed nor committed to', async () => {
    const first = await headOf(repo);
    await git(repo, 'tag', 'main');
    await writeFile(join(repo, 'new'), 'x\n');
    await ask(lab, act('commit', { message: 'm' }), 200);
    await ask(lab, act('push'), 200);
    expect(await headOf(repo, 'refs/tags/main')).toBe(first);
    expect(await git(remote, 'for-each-ref', '--format=%(refname) %(objectname)')).toBe(
      `refs/heads/main ${await headOf(repo, 'refs/heads/main')}\n`,
    );
  });
});

describe('a repository that is made to do harm', () => {
  const secret = () => readFile(join(lab.sandbox, 'external/external.txt'), 'utf8');

  it.each([
    ['a link to a ref of another repository', 'refs/heads/stolen'],
    ['a link to a file outside', 'refs/heads/outside'],
  ])('R20: %s is moved by no commit', async (_, ref) => {
    const other = join(lab.outside, '.git/refs/heads/main');
    const target = ref.endsWith('stolen') ? other : join(lab.sandbox, 'external/external.txt');
    const [before, said] = [await readFile(other, 'utf8'), await secret()];
    await mkdir(join(repo, '.git/refs/heads'), { recursive: true });
    await symlink(target, join(repo, '.git', ref));
    await git(repo, 'symbolic-ref', 'HEAD', ref);
    await writeFile(join(repo, 'new'), 'x\n');
    await lab.server.send(act('commit', { message: 'm' }));
    expect([await readFile(other, 'utf8'), await secret()]).toEqual([before, said]);
  });

  it('R20: replaced objects and grafts change neither a diff, nor what a commit follows', async () => {
    const head = await headOf(repo);
    const blob = await headOf(repo, 'HEAD:tracked.txt');
    await writeFile(join(repo, 'evil'), 'evil\n');
    const evil = (await git(repo, 'hash-object', '-w', 'evil')).trim();
    await rm(join(repo, 'evil'));
    await git(repo, 'update-ref', `refs/replace/${blob}`, evil);
    await mkdir(join(repo, '.git/info'), { recursive: true });
    await writeFile(join(repo, '.git/info/grafts'), `${head} ${'1'.repeat(40)}\n`);
    expect(await filesOf()).toEqual([]);
    await writeFile(join(repo, 'tracked.txt'), 'two\n');
    const [file] = await filesOf();
    expect(JSON.stringify(file)).not.toContain('evil');
    const answer = await lab.server.send(act('commit', { message: 'm' }));
    if (answer.status === 200) {
      const raw = await git(repo, '--no-replace-objects', 'cat-file', 'commit', 'HEAD');
      expect(raw).toContain(`parent ${head}\n`);
    } else expect(answer.status).toBeLessThan(500);
  });
});
