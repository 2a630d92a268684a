import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toStoredIdentity } from '../../src/capability/identity.ts';
import { printOwnMetadata } from '../../src/proof/managed-metadata.ts';
import { authorityHash, pluginHash, printOwnerRecord } from '../../src/proof/managed-namespace.ts';
import { git } from './http-lab.ts';
import { testBinding } from './test-binding.ts';

/** Milliseconds since 1970 at which the managed worktrees of tests say they were made. */
const createdAtMs = 1_700_000_000_000;

/** Adds a linked worktree with a branch of that name, or detached, and answers with its path. */
export async function addWorktree(main: string, path: string, branch: string | null): Promise<string> {
  const what = branch === null ? ['--detach', path] : ['-b', branch, path];
  await git(main, 'worktree', 'add', '-q', ...what);
  return path;
}

/** Directory that Git keeps for a linked worktree. */
export async function administrationOf(worktree: string): Promise<string> {
  return (await git(worktree, 'rev-parse', '--absolute-git-dir')).trimEnd();
}

/** A managed worktree as the existing plugin leaves it, below `<root>/<hash>/`. */
export async function addPluginWorktree(
  main: string,
  root: string,
  branch: string,
  fields: object = {},
): Promise<string> {
  const path = join(root, pluginHash(main), branch);
  await addWorktree(main, path, branch);
  const directory = join(await administrationOf(path), 'dsh-worktree');
  await mkdir(directory);
  const metadata = {
    version: 1,
    intent: 'branch-off',
    branch,
    baseRef: (await git(main, 'rev-parse', 'main')).trimEnd(),
    baseRefName: 'main',
    mainRepoRoot: main,
    createdAt: createdAtMs,
    ...fields,
  };
  await writeFile(join(directory, 'worktree.json'), JSON.stringify(metadata));
  return path;
}

/** A managed worktree as this package keeps it, below `<root>/<hash>/`. */
export async function addOwnWorktree(
  main: string,
  root: string,
  branch: string,
  sourceTitle: string | null,
): Promise<string> {
  const hashDirectory = join(root, authorityHash(main));
  const path = join(hashDirectory, branch);
  await addWorktree(main, path, branch);
  const administration = await administrationOf(path);
  const [mainGit, top, gitDirectory] = await Promise.all(
    [join(main, '.git'), path, administration].map((place) => testBinding.openRoot(place, {})),
  );
  if (mainGit === undefined || top === undefined || gitDirectory === undefined) throw new Error('not opened');
  try {
    await writeFile(join(hashDirectory, 'owner.json'), printOwnerRecord(main, mainGit, createdAtMs));
    await mkdir(join(administration, 'workspace-authority'));
    const baseOid = (await git(main, 'rev-parse', 'main')).trimEnd();
    const facts = {
      intent: 'branch-off',
      branch,
      baseOid,
      baseName: 'main',
      sourceTitle,
      createdAtMs,
    } as const;
    const binding = {
      root: toStoredIdentity(top.identity()),
      gitDirectory: toStoredIdentity(gitDirectory.identity()),
    };
    const metadata = printOwnMetadata(facts, main, binding);
    await writeFile(join(administration, 'workspace-authority/worktree.json'), metadata);
  } finally {
    for (const handle of [mainGit, top, gitDirectory]) handle.close();
  }
  return path;
}
