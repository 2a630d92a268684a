import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { protectStateDirectory } from '../../src/authority/ports.ts';
import { native } from '../support/addon.ts';
import { answerOf, refusalOf } from '../support/answers.ts';
import { type AuthorityLab, createLab, makePlace } from '../support/authority-lab.ts';
import { git, makeRepository } from '../support/git.ts';

const isRoot = process.geteuid?.() === 0;
const inside = 'repository_unsupported: git-directory';
let lab: AuthorityLab;

beforeEach(async () => {
  lab = await createLab({ mode: 'git' });
});

afterEach(async () => {
  await lab[Symbol.asyncDispose]();
});

async function answerAt(name: string): Promise<string> {
  await mkdir(join(lab.place, name), { recursive: true });
  return answerOf(lab.authority, await lab.register(name));
}

describe('a directory in a repository', () => {
  it('R03: is nested at every depth, whatever kind of thing .git above it is', async () => {
    await makeRepository(join(lab.place, 'directory'));
    await mkdir(join(lab.place, 'empty/.git'), { recursive: true });
    for (const name of ['file', 'link']) await mkdir(join(lab.place, name));
    await writeFile(join(lab.place, 'file/.git'), 'gitdir: /nowhere\n');
    await symlink('nowhere', join(lab.place, 'link/.git'));
    for (const name of ['directory', 'empty', 'file', 'link']) {
      expect([name, await answerAt(`${name}/a`), await answerAt(`${name}/a/b/c/d/e/f`)]).toEqual([
        name,
        'nested',
        'nested',
      ]);
    }
    expect(await answerAt('beside')).toBe('none');
  });

  it('R03: a repository in a repository is a root of its own', async () => {
    await makeRepository(join(lab.place, 'outer'));
    await makeRepository(join(lab.place, 'outer/inner'));
    expect(await answerAt('outer/inner')).toBe('root');
    expect(await answerAt('outer/inner/sub')).toBe('nested');
  });

  it.runIf(isRoot)('R03: a mount point ends the search, as it does for Git', async () => {
    await makeRepository(join(lab.place, 'outer'));
    const disk = join(lab.place, 'outer/disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
    try {
      expect(await answerAt('outer/disk')).toBe('none');
      expect(await answerAt('outer/disk/below')).toBe('none');
      await mkdir(join(disk, '.git'));
      expect(await answerAt('outer/disk/below')).toBe('nested');
    } finally {
      await lab.authority.close();
      execFileSync('umount', ['--lazy', disk]);
    }
  });
});

describe('a directory in a Git directory', () => {
  it('R12: is no workspace, whatever the Git directory is called', async () => {
    await makeRepository(join(lab.place, 'main'));
    await git(join(lab.place, 'main'), 'worktree', 'add', '-q', '--detach', join(lab.place, 'tree'));
    await git(lab.place, 'init', '-q', '--bare', 'bare');
    await git(lab.place, 'init', '-q', '--separate-git-dir', join(lab.place, 'real'), 'separate');
    const places = [
      'main/.git',
      'main/.git/hooks',
      'main/.git/worktrees',
      'main/.git/worktrees/tree',
      'bare/hooks',
      'real/info',
    ];
    for (const name of places) expect([name, await answerAt(name)]).toEqual([name, inside]);
    expect(await answerAt('bare/hooks/far/below')).toBe(inside);
    expect(await answerAt('real')).toBe('repository_unsupported: bare-repository');
  });

  it('R12: is no workspace where only its name says so', async () => {
    for (const name of ['.git/x', 'a/.GIT', 'a/.git ', 'a/git~1/b', 'a/.g\u200cit']) {
      expect([name, await answerAt(name)]).toEqual([name, inside]);
    }
  });

  it('R12: is no workspace in a forged administration of a worktree', async () => {
    await mkdir(join(lab.place, 'forged/sub'), { recursive: true });
    for (const name of ['HEAD', 'commondir', 'gitdir']) await writeFile(join(lab.place, 'forged', name), '');
    expect([await answerAt('forged'), await answerAt('forged/sub')]).toEqual([inside, inside]);
  });
});

describe('the state directory', () => {
  it('R12: is closed with all below it but the leaves of managed worktrees; a root around it may be registered', async () => {
    const place = await makePlace();
    const state = join(place, 'home/state');
    await mkdir(join(state, 'worktrees/hash/leaf/below'), { recursive: true });
    await mkdir(join(state, 'worktrees2/hash/leaf'), { recursive: true });
    const handle = await native.openRoot(state, {});
    const { device, inode } = handle.identity();
    handle.close();
    await using guarded = await createLab({
      place,
      protectedDirectories: [protectStateDirectory({ device, inode })],
    });
    const answers: [string, string][] = [];
    const names = [
      '',
      '/worktrees',
      '/worktrees/hash',
      '/worktrees/hash/leaf',
      '/worktrees/hash/leaf/below',
      '/worktrees2/hash/leaf',
    ];
    for (const name of names) {
      const root = await guarded.register(`home/state${name}`);
      answers.push([name, await answerOf(guarded.authority, root)]);
    }
    const refused = 'workspace_not_authorized';
    expect(answers).toEqual(
      names.map((name) => [name, name.startsWith('/worktrees/hash/leaf') ? 'none' : refused]),
    );
    await using around = await guarded.authority.authorize(await guarded.register('home'));
    await expect(around.held.guard.check('state/token')).rejects.toMatchObject({
      code: 'WA_CLOSED_DIRECTORY',
    });
    await rename(state, join(place, 'home/renamed'));
    await expect(around.held.guard.check('renamed/token')).rejects.toMatchObject({
      code: 'WA_CLOSED_DIRECTORY',
    });
    await rm(place, { recursive: true });
  });
});

describe('the survey of a directory that may be registered', () => {
  it('R02: gives the identity that a row has to hold, by the same steps as an authorisation', async () => {
    await makeRepository(join(lab.place, 'repository'));
    await mkdir(join(lab.place, 'repository/sub'));
    for (const [name, boundary] of [
      ['repository', 'root'],
      ['repository/sub', 'nested'],
      ['.', 'none'],
    ] as const) {
      const survey = await lab.authority.survey(join(lab.place, name));
      expect(survey).toMatchObject({
        path: join(lab.place, name),
        gitBoundary: boundary,
        gitDirIdentity: null,
      });
      lab.registry.register(survey.path, survey);
      expect(await answerOf(lab.authority, survey.path)).toBe(boundary);
    }
  });

  it.each([
    ['a link', 'link', 'workspace_not_registrable: not-a-usable-directory'],
    ['a file', 'file', 'workspace_not_registrable: not-a-usable-directory'],
    ['nothing', 'absent', 'workspace_not_registrable: not-a-usable-directory'],
    ['a path that is not canonical', 'plain/', 'workspace_not_registrable: not-canonical'],
    ['a path with ..', 'plain/../plain', 'workspace_not_registrable: not-a-usable-directory'],
    ['a Git directory', 'repository/.git', inside],
    ['a control character', 'a\nb', 'invalid_request: control character'],
  ])('R02, R12: refuses %s', async (_, name, answer) => {
    await mkdir(join(lab.place, 'plain'));
    await symlink('plain', join(lab.place, 'link'));
    await writeFile(join(lab.place, 'file'), '');
    await makeRepository(join(lab.place, 'repository'));
    expect(await lab.authority.survey(`${lab.place}/${name}`).then(() => 'registrable', refusalOf)).toBe(
      answer,
    );
  });

  it('R02: refuses what is not absolute', async () => {
    expect(await lab.authority.survey('plain').then(() => 'registrable', refusalOf)).toBe(
      'workspace_not_registrable: not-canonical',
    );
  });
});
