import { chmod, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService } from '../../src/service/create-service.ts';
import { compileSources } from '../support/compiled.ts';
import { git, makeRepository } from '../support/git.ts';
import { type ServerProcess, startServerProcess } from '../support/repository-servers.ts';
import { testBinding } from '../support/test-binding.ts';
import { headOf } from './action-lab.ts';
import { commitFiles, stateOf } from './merge-lab.ts';

let place: string;
let main: string;
let tree: string;
let other: string;
/** What the variables of the server point at; nothing of it may be read or written. */
let victim: string;
let server: ServerProcess;
/** Programs that are started by mistake leave a file here; so does what Git traces. */
let marks: string;

beforeAll(async () => {
  const compiled = await compileSources();
  place = await realpath(await mkdtemp(join(tmpdir(), 'wa-environment-')));
  [main, tree, other, victim, marks] = ['main', 'tree', 'other', 'victim', 'marks'].map((name) =>
    join(place, name),
  ) as [string, string, string, string, string];
  for (const path of [main, victim]) await makeRepository(path);
  await commitFiles(victim, 'theirs', { secret: 'x\n' });
  await commitFiles(main, 'base', { f: 'one\n' });
  await git(main, 'worktree', 'add', '-q', '-b', 'topic', tree);
  await git(place, 'clone', '-q', '--bare', main, 'remote.git');
  await git(place, 'clone', '-q', 'remote.git', other);
  await git(main, 'remote', 'add', 'origin', join(place, 'remote.git'));
  await mkdir(marks);
  const [state, home] = [join(place, 'state'), join(place, 'home')];
  await makeHome(home);
  const first = await createService({ stateDirectory: state, prover: 'git', binding: testBinding, home });
  await first.workspaces?.add(main);
  await first.close();
  server = await startServerProcess(compiled, state, home, { ...process.env, ...(await hostile(home)) });
}, 180_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await rm(place, { recursive: true, force: true });
});

/** A program that leaves a mark of the name under which it was started. */
async function program(name: string): Promise<string> {
  const path = join(place, name);
  await writeFile(path, `#!/bin/sh\n: > '${join(marks, name)}'\nexit 1\n`);
  await chmod(path, 0o755);
  return path;
}

/** The home of the server's user: it names programs for all there is, and only its person counts. */
async function makeHome(home: string): Promise<void> {
  await mkdir(join(home, 'hooks'), { recursive: true });
  const hook = await program('hook-of-home');
  for (const name of [
    'pre-commit',
    'post-commit',
    'reference-transaction',
    'pre-push',
    'post-merge',
    'post-index-change',
  ]) {
    await writeFile(join(home, 'hooks', name), `#!/bin/sh\n${hook}\n`, { mode: 0o755 });
  }
  const run = await program('program-of-home');
  const lines = [
    '[user]\n\tname = A Person\n\temail = person@example.invalid\n\tsigningKey = x',
    `[core]\n\thooksPath = ${home}/hooks\n\tfsmonitor = ${run}\n\teditor = ${run}\n\tsshCommand = ${run}\n\tautocrlf = true`,
    `[gpg]\n\tprogram = ${run}`,
    '[commit]\n\tgpgSign = true',
    `[credential]\n\thelper = ${run}`,
    `[filter "x"]\n\tclean = ${run}\n\tsmudge = ${run}`,
    `[diff]\n\texternal = ${run}\n\tnoprefix = true`,
    `[alias]\n\tcommit-tree = !${run}\n\tread-tree = !${run}`,
    `[url "ext::${run} "]\n\tinsteadOf = ${place}/`,
    '[push]\n\tdefault = matching\n[pull]\n\trebase = true\n[merge]\n\tff = only\n[safe]\n\tdirectory = *',
  ];
  await writeFile(join(home, '.gitconfig'), `${lines.join('\n')}\n`);
  await mkdir(join(home, '.config/git'), { recursive: true });
  await writeFile(join(home, '.config/git/attributes'), '* filter=x\n');
}

async function hostile(home: string): Promise<NodeJS.ProcessEnv> {
  const bin = join(place, 'bin');
  await mkdir(bin);
  const git = await program('git-of-path');
  for (const name of ['git', 'ssh', 'sh'])
    await writeFile(join(bin, name), `#!/bin/sh\n${git}\n`, { mode: 0o755 });
  const run = await program('program-of-environment');
  const gitDirectory = join(victim, '.git');
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    PATH: `${bin}:${process.env['PATH']}`,
    GIT_DIR: gitDirectory,
    GIT_COMMON_DIR: gitDirectory,
    GIT_WORK_TREE: victim,
    GIT_INDEX_FILE: join(gitDirectory, 'index'),
    GIT_OBJECT_DIRECTORY: join(gitDirectory, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(gitDirectory, 'objects'),
    GIT_NAMESPACE: 'elsewhere',
    GIT_SHALLOW_FILE: join(marks, 'none'),
    GIT_REPLACE_REF_BASE: 'refs/heads/',
    GIT_CEILING_DIRECTORIES: place,
    GIT_EXEC_PATH: bin,
    GIT_TEMPLATE_DIR: home,
    GIT_CONFIG: join(home, '.gitconfig'),
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_CONFIG_SYSTEM: join(home, '.gitconfig'),
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'core.hooksPath',
    GIT_CONFIG_VALUE_0: join(home, 'hooks'),
    GIT_CONFIG_KEY_1: 'core.fsmonitor',
    GIT_CONFIG_VALUE_1: run,
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor=${run}'`,
    GIT_AUTHOR_NAME: 'Somebody Else',
    GIT_AUTHOR_DATE: '2001-01-01T00:00:00Z',
    GIT_COMMITTER_NAME: 'Somebody Else',
    GIT_COMMITTER_DATE: '2001-01-01T00:00:00Z',
    GIT_TRACE: join(marks, 'trace'),
    GIT_TRACE2_EVENT: join(marks, 'trace2'),
    GIT_TRACE_SETUP: join(marks, 'trace-setup'),
    GIT_SSH: run,
    GIT_SSH_COMMAND: run,
    GIT_PROXY_COMMAND: run,
    GIT_ASKPASS: run,
    SSH_ASKPASS: run,
    GIT_EDITOR: run,
    GIT_PAGER: run,
    PAGER: run,
    GIT_EXTERNAL_DIFF: run,
    GIT_DIFF_OPTS: '--unified=0',
    GIT_LITERAL_PATHSPECS: '0',
    GIT_ICASE_PATHSPECS: '1',
    GIT_ALLOW_PROTOCOL: 'ext',
    GIT_ATTR_SOURCE: 'HEAD',
    GIT_MERGE_AUTOEDIT: 'yes',
    GIT_QUARANTINE_PATH: gitDirectory,
    GIT_DEFAULT_HASH: 'sha256',
  };
}

describe('W17, run-ambient-common: a server whose environment, home and PATH speak of another repository and other programs', () => {
  it('acts on the repository that was asked for, as its own person, and starts nothing', async () => {
    const before = await stateOf(victim);
    const act = async (cwd: string, name: string, params = {}) => {
      const { status, body } = await server.act(cwd, name, params);
      expect([name, status, body]).toEqual([name, 200, expect.objectContaining({ ok: true })]);
      return body;
    };
    await writeFile(join(tree, 'made here'), 'x\n');
    const { oid } = await act(tree, 'commit', { message: 'from the server' });
    expect(await headOf(tree)).toBe(oid);
    const told = await git(tree, 'log', '-1', '--format=%an %ae %cn %G? %s');
    expect(told).toBe('A Person person@example.invalid A Person N from the server\n');
    expect(Number(await git(tree, 'log', '-1', '--format=%at'))).toBeGreaterThan(1_700_000_000);
    await act(tree, 'push');
    expect(await git(join(place, 'remote.git'), 'for-each-ref', '--format=%(refname)')).toBe(
      'refs/heads/main\nrefs/heads/topic\n',
    );
    await commitFiles(other, 'elsewhere', { g: 'y\n' });
    await git(other, 'push', '-q', 'origin', 'main');
    await act(main, 'fetch');
    await act(main, 'pull');
    expect(await headOf(main)).toBe(await headOf(other));
    await act(tree, 'updateFromBase');
    await act(tree, 'mergeToBase');
    expect(await headOf(main)).toBe(await headOf(tree));
    expect(await git(main, 'status', '--porcelain')).toBe('');
    expect(await git(main, 'cat-file', 'blob', 'HEAD:made here')).toBe('x\n');
    await git(main, 'fsck', '--strict');

    await writeFile(join(main, 'f'), 'two\n');
    const diff = await server.get('/diff', { cwd: main });
    expect(diff.body['files']).toMatchObject([{ path: 'f', additions: 1, deletions: 1 }]);
    for (const route of ['/snapshot', '/branches', '/commits', '/actions', '/worktrees']) {
      expect([route, (await server.get(route, { cwd: main })).status]).toEqual([route, 200]);
    }
    expect(await readdir(marks)).toEqual([]);
    expect(await stateOf(victim)).toEqual(before);
  });
});
