import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isAuthorityError } from '../../src/errors/index.ts';
import { git, makeRepository } from '../support/git.ts';
import { filesOf, headOf, outcomeOf, useActionLab } from './action-lab.ts';

const here = useActionLab();

const put = (name: string, text: string) => writeFile(join(here.repo, name), text);
const commit = (message = 'message', addAll?: boolean, cwd = here.repo) =>
  here.lab.service.actions.commit(cwd, { message, ...(addAll === undefined ? {} : { addAll }) });

describe('a commit', () => {
  it('R20: is what the work tree has, follows what HEAD was, and names the user of the server', async () => {
    await put('kept', 'one\n');
    await put('gone', 'one\n');
    await mkdir(join(here.repo, 'turns'));
    await put('turns/inner', 'one\n');
    const first = await commit();
    expect(await headOf(here.repo)).toBe(first.oid);
    await put('kept', 'two\n');
    await rm(join(here.repo, 'gone'));
    await rm(join(here.repo, 'turns'), { recursive: true });
    await put('turns', 'a file now\n');
    await put('-new name', 'new\n');
    await symlink('kept', join(here.repo, 'link'));
    const { oid, warnings } = await commit('  \n\nSubject  \n\n\n# not a comment\n\n');
    expect(warnings).toEqual([]);
    expect(await filesOf(here.repo)).toEqual({
      kept: 'two\n',
      turns: 'a file now\n',
      '-new name': 'new\n',
      link: 'kept',
    });
    const shown = await git(here.repo, 'log', '-1', '--format=%H|%P|%an <%ae>|%cn <%ce>|%B');
    const person = 'A Person <person@example.invalid>';
    expect(shown).toBe(`${oid}|${first.oid}|${person}|${person}|Subject\n\n# not a comment\n\n`);
    expect(await git(here.repo, 'status', '--porcelain')).toBe('');
    expect(await git(here.repo, 'reflog', '-1', '--format=%H %gs', 'HEAD')).toBe(`${oid} commit\n`);
    await git(here.repo, 'fsck', '--strict');
  });

  it('R20: takes only the index without addAll', async () => {
    await put('staged', 'index\n');
    await git(here.repo, 'add', 'staged');
    await put('staged', 'later\n');
    await put('other', 'x\n');
    await commit('m', false);
    expect(await filesOf(here.repo)).toEqual({ staged: 'index\n' });
    expect(await git(here.repo, 'status', '--porcelain')).toBe(' M staged\n?? other\n');
    expect(await outcomeOf(commit('m', false))).toBe('action_refused: actions.commit.clean');
  });

  it('W7: takes untracked files whatever status.showUntrackedFiles says', async () => {
    await git(here.repo, 'config', 'status.showUntrackedFiles', 'no');
    await put('untracked', 'x\n');
    await commit();
    expect(await filesOf(here.repo)).toEqual({ untracked: 'x\n' });
  });

  it('W31: leaves out what the ignore file of the user names, and repositories inside', async () => {
    await put('a.secret', 'x');
    await makeRepository(join(here.repo, 'nest'));
    expect(await outcomeOf(commit())).toBe('action_refused: actions.commit.clean');
    await put('b', 'x\n');
    await commit();
    expect(await filesOf(here.repo)).toEqual({ b: 'x\n' });
  });

  it('run-hooks-off, W14, W16: starts no program that the repository names', async () => {
    const marker = here.beside('marker');
    const program = here.beside('program');
    await writeFile(program, `#!/bin/sh\n: > '${marker}'\nexit 1\n`, { mode: 0o755 });
    for (const hook of [
      'pre-commit',
      'commit-msg',
      'post-commit',
      'reference-transaction',
      'post-index-change',
    ]) {
      await symlink(program, join(here.repo, '.git/hooks', hook));
    }
    for (const key of ['core.fsmonitor', 'gpg.program', 'core.editor', 'core.sshCommand', 'diff.external']) {
      await git(here.repo, 'config', key, program);
    }
    await git(here.repo, 'config', 'commit.gpgSign', 'true');
    await put('f', 'x\n');
    await commit();
    await expect(readFile(marker)).rejects.toThrow('ENOENT');
    await git(here.repo, 'config', 'filter.x.clean', program);
    await put('.gitattributes', '* filter=x\n');
    expect(await outcomeOf(commit())).toBe('untrusted_repository_config');
    await expect(readFile(marker)).rejects.toThrow('ENOENT');
    expect(await git(here.repo, '-c', 'filter.x.clean=cat', 'status', '--porcelain')).toContain(
      '?? .gitattributes',
    );
  });

  it('R20: does not look into a submodule, whose configuration nobody has read', async () => {
    const inner = here.beside('inner');
    await makeRepository(inner);
    await git(here.repo, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'sub');
    await commit('with a submodule');
    const marker = here.beside('marker');
    await git(join(here.repo, 'sub'), 'config', 'filter.x.clean', `sh -c ': > "${marker}"'`);
    await put('sub/.gitattributes', '* filter=x\n');
    await git(join(here.repo, 'sub'), 'commit', '-q', '--allow-empty', '-m', 'inner');
    await commit('moves the submodule');
    expect(await headOf(join(here.repo, 'sub'))).toBe((await git(here.repo, 'rev-parse', 'HEAD:sub')).trim());
    await expect(readFile(marker)).rejects.toThrow('ENOENT');
  });

  it('R22: is made on an unborn branch, on a detached HEAD and in a linked worktree', async () => {
    const unborn = here.beside('unborn');
    await git(here.lab.place, 'init', '-q', '-b', 'main', unborn);
    await here.lab.service.workspaces?.add(unborn);
    expect(await outcomeOf(commit('m', true, unborn))).toBe('action_refused: actions.commit.clean');
    await writeFile(join(unborn, 'f'), 'x\n');
    const first = await commit('m', true, unborn);
    expect(await git(unborn, 'log', '--format=%H %P', 'refs/heads/main')).toBe(`${first.oid} \n`);

    const before = await headOf(here.repo);
    await git(here.repo, 'checkout', '-q', '--detach');
    await put('f', 'x\n');
    const second = await commit();
    expect(await git(here.repo, 'log', '-1', '--format=%H %P')).toBe(`${second.oid} ${before}\n`);
    expect(await headOf(here.repo, 'refs/heads/main')).toBe(before);

    const tree = here.beside('tree');
    await git(here.repo, 'worktree', 'add', '-q', '-b', 'topic', tree, 'main');
    await git(here.repo, 'tag', 'topic', second.oid);
    await writeFile(join(tree, 'g'), 'x\n');
    const third = await commit('m', true, tree);
    expect(await headOf(here.repo, 'refs/heads/topic')).toBe(third.oid);
    expect(await headOf(here.repo, 'refs/tags/topic')).toBe(second.oid);
    expect(await git(tree, 'status', '--porcelain')).toBe('');
  });

  it('R22: concludes a merge that is resolved, and refuses one that is not without touching it', async () => {
    await put('f', 'base\n');
    await commit();
    await git(here.repo, 'checkout', '-q', '-b', 'side');
    await put('f', 'side\n');
    const side = await commit('side');
    await git(here.repo, 'checkout', '-q', 'main');
    await put('f', 'main\n');
    const main = await commit('main');
    await expect(git(here.repo, 'merge', '-q', 'side')).rejects.toThrow();
    const marked = await readFile(join(here.repo, 'f'), 'utf8');
    const refusal = await commit().catch((error: unknown) => error);
    expect(isAuthorityError(refusal) && [refusal.code, refusal.details['paths']]).toEqual([
      'unmerged_index',
      ['f'],
    ]);
    expect(await readFile(join(here.repo, 'f'), 'utf8')).toBe(marked);
    expect(await git(here.repo, 'status', '--porcelain')).toBe('UU f\n');
    await put('f', 'both\n');
    await git(here.repo, 'add', 'f');
    const merged = await commit('merged');
    expect(await git(here.repo, 'log', '-1', '--format=%H %P')).toBe(
      `${merged.oid} ${main.oid} ${side.oid}\n`,
    );
    await expect(readFile(join(here.repo, '.git/MERGE_HEAD'))).rejects.toThrow('ENOENT');
    expect(await git(here.repo, 'status', '--porcelain')).toBe('');
    // What a server that was killed after the commit leaves.
    await writeFile(join(here.repo, '.git/MERGE_HEAD'), `${side.oid}\n`);
    await put('f', 'after\n');
    const after = await commit('after');
    expect(await git(here.repo, 'log', '-1', '--format=%H %P')).toBe(`${after.oid} ${merged.oid}\n`);
    await expect(readFile(join(here.repo, '.git/MERGE_HEAD'))).rejects.toThrow('ENOENT');
  });

  it.each([
    ['rebase', 'rebase-merge/head-name'],
    ['rebase', 'rebase-apply/next'],
    ['cherry-pick', 'CHERRY_PICK_HEAD'],
    ['revert', 'REVERT_HEAD'],
    ['bisect', 'BISECT_LOG'],
  ])(
    'R22, wt-mid-operation: is refused in the middle of a %s (%s), and stages nothing',
    async (operation, trace) => {
      const path = join(here.repo, '.git', trace);
      await mkdir(join(path, '..'), { recursive: true });
      await writeFile(path, 'x\n');
      await put('f', 'x\n');
      const refusal = await commit().catch((error: unknown) => error);
      expect(isAuthorityError(refusal) && refusal.details).toEqual({
        reasonKey: 'actions.merge.inProgress',
        operation,
      });
      expect(await git(here.repo, 'ls-files')).toBe('');
    },
  );

  it('R22: wt-mid-operation: a rebase that stopped in a worktree is neither committed nor pushed, and only there', async () => {
    const { lab, repo } = here;
    const [tree, remote] = [`${repo} tree`, `${repo} remote`];
    await git(repo, 'init', '-q', '--bare', '-b', 'main', remote);
    await git(repo, 'remote', 'add', 'origin', remote);
    await put('f', 'one\n');
    await commit('base');
    await git(repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
    for (const round of [1, 2]) {
      await writeFile(join(tree, `t${round}`), 'x\n');
      await commit(`topic ${round}`, undefined, tree);
    }
    await put('t2', 'theirs\n');
    await commit('in the way of the second');
    await expect(git(tree, 'rebase', '-q', 'main')).rejects.toThrow('topic 2');
    const stopped = await git(tree, 'status', '--porcelain');
    const before = [await headOf(tree), await headOf(repo, 'refs/heads/topic')];
    const refusal = await commit('m', undefined, tree).catch((error: unknown) => error);
    expect(isAuthorityError(refusal) && [refusal.code, refusal.details]).toEqual([
      'action_refused',
      { reasonKey: 'actions.merge.inProgress', operation: 'rebase' },
    ]);
    expect(await outcomeOf(lab.service.actions.push(tree))).toMatch(/^action_refused/);
    expect(await git(tree, 'status', '--porcelain')).toBe(stopped);
    expect([await headOf(tree), await headOf(repo, 'refs/heads/topic')]).toEqual(before);
    expect(await git(remote, 'for-each-ref')).toBe('');
    await put('f', 'two\n');
    await commit('the main checkout goes on');
    await git(tree, 'rebase', '--skip');
    await writeFile(join(tree, 't3'), 'x\n');
    await commit('afterwards', undefined, tree);
  });

  it('R22: tells of an index lock that a dead Git left, and leaves it where it is', async () => {
    const before = await headOf(here.repo);
    await put('f', 'x\n');
    await writeFile(join(here.repo, '.git/index.lock'), '');
    expect(await outcomeOf(commit())).toBe('repository_locked: index');
    await rm(join(here.repo, '.git/index.lock'));
    expect(await headOf(here.repo)).toBe(before);
    expect(await git(here.repo, 'ls-files')).toBe('');
    await commit();
  });

  it('R22: names the half that is done when the commit itself fails', async () => {
    await put('f', 'x\n');
    await writeFile(join(here.repo, '.git/refs/heads/main.lock'), '');
    const before = await headOf(here.repo);
    const refusal = await commit().catch((error: unknown) => error);
    expect(isAuthorityError(refusal) && [refusal.code, refusal.details]).toEqual([
      'repository_locked',
      expect.objectContaining({
        what: 'ref',
        partial: true,
        stage: 'commit',
        staged: true,
        recovery: {
          remove: 'refs/heads/main.lock',
          below: 'git dir',
          once: 'no Git runs in the repository',
        },
      }),
    ]);
    await rm(join(here.repo, '.git/refs/heads/main.lock'));
    expect(await headOf(here.repo)).toBe(before);
    expect(await git(here.repo, 'status', '--porcelain')).toBe('A  f\n');
    await commit();
    expect(await filesOf(here.repo)).toEqual({ f: 'x\n' });
  });

  it('R20: says which part of the identity is missing, before anything is changed', async () => {
    const home = join(here.lab.place, 'nobody');
    await mkdir(home, { recursive: true });
    await writeFile(join(home, '.gitconfig'), '[user]\n\tname = A Person\n');
    const service = await here.lab.another({ home });
    await put('f', 'x\n');
    const act = () => service.actions.commit(here.repo, { message: 'm' });
    const refusal = await act().catch((error: unknown) => error);
    expect(isAuthorityError(refusal) && [refusal.code, refusal.details]).toEqual([
      'identity_missing',
      { missing: ['user.email'] },
    ]);
    expect(await git(here.repo, 'ls-files')).toBe('');
    await writeFile(
      join(home, '.gitconfig'),
      '[user]\n\tname = "A <> Person"\n\temail = p@example.invalid\n',
    );
    await act();
    expect(await git(here.repo, 'log', '-1', '--format=%an <%ae>')).toBe('A  Person <p@example.invalid>\n');
  });

  it.each([
    ['no message', undefined, 'commit_message_required: actions.commit.noMessage'],
    ['white space', ' \n\t', 'commit_message_required: actions.commit.noMessage'],
    ['a NUL', 'a\0b', 'invalid_request: invalid'],
    ['a lone surrogate', 'a\ud800', 'invalid_request: invalid'],
  ])('R20: %s is refused before the selector is looked at', async (_, message, outcome) => {
    expect(await outcomeOf(here.lab.service.actions.commit('/nowhere', { message }))).toBe(outcome);
  });

  it('R20: keeps a message that looks like options, and names that are no UTF-8', async () => {
    const name = Buffer.from([0x66, 0xff, 0x0a, 0x22]);
    await writeFile(Buffer.concat([Buffer.from(`${here.repo}/`), name]), 'x\n');
    await commit('--amend\r\n-m x');
    expect(await git(here.repo, 'log', '-1', '--format=%B')).toBe('--amend\n-m x\n\n');
    expect(await git(here.repo, 'ls-tree', '--name-only', 'HEAD')).toBe('"f\\377\\n\\""\n');
  });
});
