import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGitRunner, type GitRunner } from '../../src/git/run-git.ts';
import { deathGuardPath } from '../../src/native/index.ts';
import { createService } from '../../src/service/create-service.ts';
import type { Service } from '../../src/service.ts';
import { git } from '../support/git.ts';
import { filesOf, headOf, outcomeOf, useActionLab } from './action-lab.ts';
import { actionsOver } from './raced-actions.ts';

const here = useActionLab();

const put = (name: string, text: string, cwd = here.repo) => writeFile(join(cwd, name), text);
const written = () => readFile(here.beside('log'), 'utf8').catch(() => '');

/** Writes down that it ran, then does what the lines say. */
async function hook(name: string, lines = '', directory = join(here.repo, '.git/hooks')): Promise<void> {
  const text = `#!/bin/sh\nprintf '%s\\n' "${name}" >> '${here.beside('log')}'\n${lines}\n`;
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, name), text, { mode: 0o755 });
}

/** A service whose operator trusts the hooks of the repository of this test. */
const trusting = (): Promise<Service> => here.lab.another({ trustedHooks: [here.repo] });

const commit = (service: Service, cwd = here.repo) => service.actions.commit(cwd, { message: 'said\n' });

/** Runs Git as the service does, but for hooks, which have seconds instead of minutes. */
function hooksInAHurry(): GitRunner & AsyncDisposable {
  const runner = createGitRunner({ deathGuard: deathGuardPath() });
  return {
    ...runner,
    run: (command, signal) =>
      runner.run(command.name.startsWith('hook-') ? { ...command, deadlineMs: 3000 } : command, signal),
    [Symbol.asyncDispose]: () => runner.close(),
  };
}

describe('a commit in a repository whose hooks are trusted', () => {
  it('R20: runs them where Git does, and takes what they change', async () => {
    await hook('pre-commit', 'echo formatted > f && git add f');
    await hook('prepare-commit-msg', 'test "$2" = message && echo prepared >> "$1"');
    await hook('commit-msg', 'echo signed >> "$1"');
    await hook('post-commit');
    for (const never of ['reference-transaction', 'post-checkout', 'pre-merge-commit']) await hook(never);
    const service = await trusting();
    await put('f', 'raw\n');
    const { oid, warnings } = await commit(service);
    expect(warnings).toEqual([]);
    expect(await filesOf(here.repo)).toEqual({ f: 'formatted\n' });
    expect(await git(here.repo, 'log', '-1', '--format=%H|%B')).toBe(`${oid}|said\nprepared\nsigned\n\n`);
    expect(await written()).toBe('pre-commit\nprepare-commit-msg\ncommit-msg\npost-commit\n');
  });

  it('R20: runs them in its linked worktrees as well', async () => {
    await hook('pre-commit');
    const tree = here.beside('tree');
    await git(here.repo, 'worktree', 'add', '-q', '-b', 'side', tree);
    const service = await trusting();
    await put('f', 'x\n', tree);
    await commit(service, tree);
    expect(await written()).toBe('pre-commit\n');
  });

  const refusals = [
    ['pre-commit', 'exit 3', 'hook_refused', { hook: 'pre-commit', exitCode: 3 }],
    ['commit-msg', 'exit 1', 'hook_refused', { hook: 'commit-msg', exitCode: 1 }],
    ['commit-msg', ': > "$1"', 'hook_refused', { hook: 'commit-msg', reason: 'message' }],
    ['commit-msg', 'printf "\\377" > "$1"', 'hook_refused', { reason: 'message-file' }],
    ['commit-msg', 'rm "$1"', 'hook_refused', { reason: 'message-file' }],
  ] as const;
  it.each(refusals)(
    'R41: is refused when %s does `%s`, and nothing is committed',
    async (name, lines, code, details) => {
      await hook(name, lines);
      const service = await trusting();
      const before = await headOf(here.repo);
      await put('f', 'x\n');
      await expect(commit(service)).rejects.toMatchObject({
        code,
        details: { ...details, partial: true, stage: 'commit', staged: true },
      });
      expect(await headOf(here.repo)).toBe(before);
      expect(await readFile(join(here.repo, 'f'), 'utf8')).toBe('x\n');
    },
  );

  it('R41: is refused at the deadline when a hook hangs, and nothing of the hook goes on', async () => {
    const numbers = here.beside('numbers');
    await hook('pre-commit', `sleep 600 &\nprintf '%s %s' $$ $! > '${numbers}'\nwait`);
    await using hurried = hooksInAHurry();
    const before = await headOf(here.repo);
    await put('f', 'x\n');
    const act = () => actionsOver(here.lab, hurried, [here.repo]).commit(here.repo, { message: 'm' });
    await expect(act()).rejects.toMatchObject({
      code: 'git_failed',
      details: {
        command: 'hook-pre-commit',
        reason: 'deadline',
        partial: true,
        stage: 'commit',
        staged: true,
      },
    });
    const processes = (await readFile(numbers, 'utf8')).split(' ');
    expect(processes).toHaveLength(2);
    await expect.poll(() => processes.filter((one) => existsSync(`/proc/${one}`))).toEqual([]);
    expect([await headOf(here.repo), await git(here.repo, 'status', '--porcelain')]).toEqual([
      before,
      'A  f\n',
    ]);
    await rm(join(here.repo, '.git/hooks/pre-commit'));
    await act();
    expect(await filesOf(here.repo)).toEqual({ f: 'x\n' });
  });

  it('R41: stands, with a warning, when post-commit fails', async () => {
    await hook('post-commit', 'exit 1');
    const service = await trusting();
    await put('f', 'x\n');
    const { oid, warnings } = await commit(service);
    expect(warnings).toEqual([{ stage: 'post-commit', code: 'hook_refused' }]);
    expect(await headOf(here.repo)).toBe(oid);
  });

  it('R22: does not lose a commit that a hook lets somebody else make', async () => {
    await hook(
      'pre-commit',
      'git update-ref refs/heads/main "$(git commit-tree -p HEAD -m theirs "HEAD^{tree}")"',
    );
    const service = await trusting();
    await put('f', 'x\n');
    expect(await outcomeOf(commit(service))).toBe('ref_moved: stale-target');
    expect(await git(here.repo, 'log', '-1', '--format=%s')).toBe('theirs\n');
  });
});

describe('hooks that are not trusted', () => {
  it('R20: of another repository, below core.hooksPath or behind a link do not run', async () => {
    const elsewhere = join(here.repo, 'hooks-of-a-commit');
    await hook('pre-commit', 'exit 1', elsewhere);
    await git(here.repo, 'config', 'core.hooksPath', elsewhere);
    await put('f', 'x\n');
    await commit(here.lab.service);
    const service = await trusting();
    await rm(join(here.repo, '.git/hooks'), { recursive: true });
    await put('f', 'y\n');
    await commit(service);
    expect(await written()).toBe('');

    const other = await here.lab.repository(`other-${Date.now()}`);
    await hook('pre-commit', 'exit 1', join(other, '.git/hooks'));
    await put('f', 'x\n', other);
    await commit(service, other);
    expect(await written()).toBe('');

    await symlink(elsewhere, join(here.repo, '.git/hooks'));
    await put('f', 'z\n');
    await expect(commit(service)).rejects.toMatchObject({
      code: 'hook_refused',
      details: { reason: 'hooks-directory' },
    });
    expect(await written()).toBe('');
  });

  it('R05: a repository that took the place of the trusted one after it was registered is refused as such', async () => {
    const service = await trusting();
    await put('f', 'x\n');
    await rename(here.repo, here.beside('moved'));
    await git(here.lab.place, 'init', '-q', '-b', 'main', here.repo);
    await hook('pre-commit');
    await put('f', 'x\n');
    expect(await outcomeOf(commit(service))).not.toBe('ok');
    expect(await written()).toBe('');
  });

  it.each(['relative', '/a/../b', '/a/', '/a//b'])(
    'R01: %s is no way to name a trusted repository',
    async (path) => {
      const options = { stateDirectory: here.beside('state'), trustedHooks: [path] };
      await expect(createService(options)).rejects.toThrow(TypeError);
    },
  );
});

describe('merges and pushes where hooks are trusted', () => {
  it('R22: a merge asks before its commit and tells after it; a fast-forward only tells', async () => {
    await git(here.repo, 'branch', 'task');
    const tree = here.beside('tree');
    await git(here.repo, 'worktree', 'add', '-q', tree, 'task');
    const service = await trusting();
    await put('a', 'x\n', tree);
    await commit(service, tree);
    for (const name of ['pre-merge-commit', 'commit-msg', 'post-merge']) await hook(name);
    await git(here.repo, 'branch', '-q', '--set-upstream-to=main', 'task').catch(() => {});
    await service.actions.mergeToBase(tree);
    expect(await written()).toBe('post-merge\n');
    await rm(join(here.repo, '.git/hooks/commit-msg'));
    await put('b', 'x\n');
    await commit(service);
    await put('c', 'x\n', tree);
    await commit(service, tree);
    await hook('commit-msg', 'echo checked >> "$1"');
    await rm(here.beside('log'));
    await service.actions.mergeToBase(tree);
    expect(await written()).toBe('commit-msg\npre-merge-commit\npost-merge\n');
    expect(await git(here.repo, 'log', '-1', '--format=%B')).toContain('checked');
  });

  it('R22: a merge that pre-merge-commit refuses leaves the branch, says so, and goes on when it is asked again', async () => {
    await git(here.repo, 'branch', 'task');
    const tree = here.beside('tree');
    await git(here.repo, 'worktree', 'add', '-q', tree, 'task');
    const service = await trusting();
    await put('a', 'x\n', tree);
    await commit(service, tree);
    await put('b', 'x\n');
    await commit(service);
    const before = await headOf(here.repo);
    await hook('pre-merge-commit', 'exit 1');
    await expect(service.actions.mergeToBase(tree)).rejects.toMatchObject({
      code: 'hook_refused',
      details: { hook: 'pre-merge-commit', partial: true, stage: 'merge' },
    });
    expect(await headOf(here.repo)).toBe(before);
    await hook('pre-merge-commit');
    expect(await service.actions.mergeToBase(tree)).toMatchObject({ kind: 'merge' });
    expect(await git(here.repo, 'status', '--porcelain')).toBe('');
  });

  it('W12: a push asks pre-push, which sees the one ref that is sent', async () => {
    const remote = here.beside('remote.git');
    await git(here.lab.place, 'init', '-q', '--bare', remote);
    await git(here.repo, 'remote', 'add', 'origin', remote);
    const service = await trusting();
    await hook('pre-push', 'exit 1');
    await expect(service.actions.push(here.repo)).rejects.toMatchObject({
      code: 'hook_refused',
      details: { hook: 'pre-push' },
    });
    expect(await git(remote, 'for-each-ref')).toBe('');
    await hook('pre-push', `cat >> '${here.beside('log')}'`);
    await rm(here.beside('log'));
    await service.actions.push(here.repo);
    const head = await headOf(here.repo);
    expect(await written()).toBe(`pre-push\nrefs/heads/main ${head} refs/heads/main ${'0'.repeat(40)}\n`);
    await rm(here.beside('log'));
    await here.lab.service.actions.push(here.repo);
    expect(await written()).toBe('');
  });
});
