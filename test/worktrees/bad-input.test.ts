import { copyFile, cp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { outcomeOf } from '../actions/action-lab.ts';
import { git, makeRepository } from '../support/git.ts';
import { administrationOf } from '../support/http-worktrees.ts';
import { mayMount, mountTmpfs, unmount } from '../support/mounts.ts';
import { commitAll, fill, useRemovalLab } from './removal-lab.ts';
import { stateOf } from './worktree-state.ts';

const here = useRemovalLab();
const archives = () => here.service.worktreeArchives;

/** As a client does that was shown what would be lost: with the token, and with force. */
async function archiveSeen(path = here.worktree): Promise<string> {
  return outcomeOf(
    (async () => {
      const { token } = await archives().preflight(path);
      return archives().archive(path, { token, force: true });
    })(),
  );
}

const metadataOf = async () =>
  join(await administrationOf(here.worktree), 'workspace-authority/worktree.json');
const recordOf = async () => join(dirname(here.worktree), 'owner.json');
const notManaged = 'worktree_not_managed: not-managed';

/** Makes the bad thing, and answers with how a person puts it right. */
type Spoil = () => Promise<() => Promise<unknown>>;

function rewriting(place: () => Promise<string>, change: (text: string) => string | Promise<string>): Spoil {
  return async () => {
    const path = await place();
    const text = await readFile(path, 'utf8');
    await writeFile(path, await change(text));
    return () => writeFile(path, text);
  };
}

function changingField(change: (body: Record<string, unknown>) => object): (text: string) => string {
  return (text) => JSON.stringify(change(JSON.parse(text)));
}

const other = async () => {
  const path = await here.lab.repository(`other of ${basename(here.main)}`);
  return path;
};

const rows: Readonly<Record<string, readonly [Spoil, string]>> = {
  'metadata that is forged by hand, without the identities': [
    rewriting(
      metadataOf,
      changingField(({ root: _, gitDirectory: __, ...rest }) => rest),
    ),
    notManaged,
  ],
  'metadata of another worktree, copied': [
    async () => {
      const [mine, theirs] = [await metadataOf(), await administrationOf(await here.add('other'))];
      const text = await readFile(mine, 'utf8');
      await copyFile(join(theirs, 'workspace-authority/worktree.json'), mine);
      return () => writeFile(mine, text);
    },
    notManaged,
  ],
  'metadata that is cut off': [rewriting(metadataOf, (text) => text.slice(0, -20)), notManaged],
  'metadata that is empty': [rewriting(metadataOf, () => ''), notManaged],
  'metadata of a later version': [
    rewriting(
      metadataOf,
      changingField((body) => ({ ...body, version: 3 })),
    ),
    notManaged,
  ],
  'metadata with a field that nobody knows': [
    rewriting(
      metadataOf,
      changingField((body) => ({ ...body, extra: true })),
    ),
    notManaged,
  ],
  'metadata of another main checkout': [
    async () => rewriting(metadataOf, async (text) => text.replaceAll(here.main, await other()))(),
    notManaged,
  ],
  'metadata behind a link': [
    async () => {
      const path = await metadataOf();
      await rename(path, `${here.main}.json`);
      await symlink(`${here.main}.json`, path);
      return async () => {
        await rm(path);
        await rename(`${here.main}.json`, path);
      };
    },
    notManaged,
  ],
  'the owner record of another repository': [
    async () => rewriting(recordOf, async (text) => text.replaceAll(here.main, await other()))(),
    notManaged,
  ],
  'an owner record that is cut off': [rewriting(recordOf, (text) => text.slice(0, 30)), notManaged],
  'no owner record': [
    async () => {
      const path = await recordOf();
      await rename(path, `${here.main}.record`);
      return () => rename(`${here.main}.record`, path);
    },
    notManaged,
  ],
  'a directory of the worktrees that is a link': [
    async () => {
      const home = dirname(here.worktree);
      await rename(home, `${here.main}.home`);
      await symlink(`${here.main}.home`, home);
      return async () => {
        await rm(home);
        await rename(`${here.main}.home`, home);
      };
    },
    'workspace_not_authorized',
  ],
  'a directory of the worktrees that was replaced by a copy': [
    async () => {
      const home = dirname(here.worktree);
      await rename(home, `${here.main}.home`);
      await cp(`${here.main}.home`, home, { recursive: true });
      return async () => {
        await rename(home, `${here.main}.copy`);
        await rename(`${here.main}.home`, home);
      };
    },
    notManaged,
  ],
  'another repository in the place of the worktree (wt-occupant)': [
    async () => {
      await rename(here.worktree, `${here.main}.aside`);
      await makeRepository(here.worktree);
      await fill(here.worktree, { f: 'of somebody else\n' });
      return async () => {
        await rename(here.worktree, `${here.main}.occupant`);
        await rename(`${here.main}.aside`, here.worktree);
      };
    },
    'workspace_not_authorized',
  ],
  'a submodule with files': [
    async () => {
      const inner = `${here.main} inner`;
      await makeRepository(inner);
      const add = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'inner'];
      await git(here.worktree, ...add);
      await commitAll(here.worktree, 'with a submodule');
      return () => git(here.worktree, 'submodule', '--quiet', 'deinit', 'inner');
    },
    'worktree_blocked: repositories-inside',
  ],
  'a repository inside that Git takes for none, being damaged': [
    async () => {
      const nested = join(here.worktree, 'nested');
      await makeRepository(nested);
      await fill(nested, { work: 'of a person' });
      await commitAll(nested, 'work');
      await rename(join(nested, '.git/HEAD'), join(nested, '.git/HEAD.lost'));
      return () => rename(nested, `${here.main}.nested`);
    },
    'worktree_blocked: repositories-inside',
  ],
  'a repository inside an ignored directory, damaged': [
    async () => {
      const nested = join(here.worktree, 'deep/nested');
      await fill(here.worktree, { '.gitignore': 'deep/\n' });
      await makeRepository(nested);
      await rm(join(nested, '.git/HEAD'));
      return () => rename(nested, `${here.main}.nested`);
    },
    'worktree_blocked: repositories-inside',
  ],
  'an empty file system mounted inside': [
    async () => {
      await mountTmpfs(join(here.worktree, 'mounted'));
      return () => unmount(join(here.worktree, 'mounted'));
    },
    'worktree_blocked: mounts-inside',
  ],
  'a mounted file system inside that holds a file': [
    async () => {
      await mountTmpfs(join(here.worktree, 'mounted'));
      await fill(join(here.worktree, 'mounted'), { file: 'of somebody' });
      return () => unmount(join(here.worktree, 'mounted'));
    },
    'worktree_blocked: mounts-inside',
  ],
};

it.each(Object.entries(rows).filter(([title]) => mayMount || !title.includes('mounted')))(
  'R27, R04: %s: nothing is archived, nothing is gone, and once it is put right the archive goes on',
  async (title, [spoil, refusal]) => {
    await fill(here.worktree, { mine: 'in no commit\n' });
    const repair = await spoil();
    const seen = () => stateOf(here.worktree);
    const before = title.startsWith('a directory of the worktrees') ? {} : await seen();
    expect(await archiveSeen()).toBe(refusal);
    if (!title.startsWith('a directory of the worktrees')) expect(await seen()).toEqual(before);
    expect(await git(here.main, 'worktree', 'list', '--porcelain')).toContain(`worktree ${here.worktree}\n`);
    await repair();
    expect(await readFile(join(here.worktree, 'mine'), 'utf8')).toBe('in no commit\n');
    expect(await archiveSeen()).toBe('ok');
    const [kept] = await archives().archived(here.main);
    const restored = await archives().restore(here.main, kept?.archive ?? '');
    expect([await readFile(join(restored.path, 'mine'), 'utf8'), restored.missing]).toEqual([
      'in no commit\n',
      [],
    ]);
  },
);
