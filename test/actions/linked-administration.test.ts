import { lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git } from '../support/git.ts';
import { outcomeOf, useActionLab } from './action-lab.ts';
import { commitFiles } from './merge-lab.ts';

const here = useActionLab();

/** All bytes below a directory, by name. */
async function contents(root: string): Promise<Record<string, string>> {
  const names = (await readdir(root, { recursive: true })).sort();
  const files = [];
  for (const name of names) if ((await lstat(join(root, name))).isFile()) files.push(name);
  return Object.fromEntries(
    await Promise.all(files.map(async (name) => [name, await readFile(join(root, name), 'latin1')])),
  );
}

/** A name in the Git dir becomes a link to a place outside, where what was there stands now. */
async function linkOut(name: string, outside: string): Promise<void> {
  const path = join(here.repo, '.git', name);
  await mkdir(dirname(path), { recursive: true });
  await rename(path, join(outside, 'there')).catch(() => undefined);
  await symlink(join(outside, 'there'), path);
}

describe('R20: a Git dir in which a name leads outside', () => {
  it.each([
    'index',
    'refs',
    'refs/heads',
    'logs',
    'logs/HEAD',
    'logs/refs/heads/main',
    'objects',
    'MERGE_MSG',
    'packed-refs',
  ])('%s: no action writes there, and it is named', async (name) => {
    const [tree, outside] = [here.beside('tree'), here.beside('outside')];
    await mkdir(outside);
    await commitFiles(here.repo, 'base', { f: 'one\n' });
    await git(here.repo, 'worktree', 'add', '-q', '-b', 'topic', tree);
    await commitFiles(tree, 'ours', { f: 'ours\n' });
    await linkOut(name, outside);
    const before = await contents(outside);
    await writeFile(join(here.repo, 'new'), 'x\n');
    await git(here.lab.place, 'init', '-q', '--bare', here.beside('remote'));
    await git(here.repo, 'remote', 'add', 'origin', here.beside('remote'));
    const { actions } = here.lab.service;
    for (const act of [
      () => actions.commit(here.repo, { message: 'm' }),
      () => actions.mergeToBase(tree),
      () => actions.fetch(here.repo),
      () => actions.push(here.repo),
      () => actions.pull(here.repo),
    ]) {
      expect(await outcomeOf(act())).toMatch(
        /^(?:repository_unsupported|workspace_not_authorized|action_refused|git_failed)/,
      );
    }
    expect(await outcomeOf(actions.commit(here.repo, { message: 'm' }))).toMatch(/^repository_unsupported/);
    expect(await contents(outside)).toEqual(before);
  });
});
