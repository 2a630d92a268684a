import { expect } from 'vitest';
import type { RepositoryCapability } from '../../src/capability/repository-capability.ts';
import type { ClearedPlace } from '../../src/git/cleared-place.ts';
import { emptyTrees } from '../../src/git/empty-tree.ts';
import { type PinnedPlace, pinnedPlace } from '../../src/git/pinned-place.ts';
import { readCommands } from '../../src/git/read-commands.ts';
import type { GitCommand, GitRunner } from '../../src/git/run-git.ts';
import { type CommitOid, parseCommitOid, parseRefName, type RefName } from '../../src/git/values.ts';

/** What a command prints; it must succeed. */
export async function outputOf(git: GitRunner, command: GitCommand): Promise<Buffer> {
  const { exitCode, stdout, stderr } = await git.run(command);
  expect({ name: command.name, exitCode, complaint: stderr.toString() }).toMatchObject({ exitCode: 0 });
  return stdout;
}

export async function commitOf(
  git: GitRunner,
  place: PinnedPlace,
  revision: RefName | 'HEAD',
): Promise<CommitOid> {
  const text = (await outputOf(git, readCommands.resolveCommit(place, revision))).toString().trim();
  return parseCommitOid(text) as CommitOid;
}

/** One command of every row for facts, on a repository whose HEAD has a parent. */
export async function factCommands(
  git: GitRunner,
  capability: RepositoryCapability,
): Promise<readonly GitCommand[]> {
  const place = pinnedPlace(capability);
  const tip = await commitOf(git, place, 'HEAD');
  const parents = (await outputOf(git, readCommands.commits(place, { tip, excluded: [], limit: 1 })))
    .toString()
    .split('\0')[1];
  const parent = parseCommitOid(parents?.split(' ')[0] ?? '') as CommitOid;
  const main = parseRefName('refs/heads/main') as RefName;
  return [
    readCommands.branches(place),
    readCommands.tracking(place, [main]),
    readCommands.refTips(place, [main]),
    readCommands.resolveCommit(place, tip),
    readCommands.objectFormat(place),
    readCommands.mergeBase(place, tip, parent),
    readCommands.isAncestor(place, parent, tip),
    readCommands.divergence(place, parent, tip),
    readCommands.commitNames(place, { tip, excluded: [parent], limit: 100 }),
    readCommands.commits(place, { tip, excluded: [], limit: 100 }),
    readCommands.diffCommits(place, parent, tip),
    readCommands.diffCommits(place, emptyTrees.sha1, tip),
  ];
}

/** One command of every row that looks at the files. */
export async function workTreeCommands(
  git: GitRunner,
  place: ClearedPlace<'work-tree'>,
): Promise<readonly GitCommand[]> {
  return [
    readCommands.status(place, { ignored: true }),
    readCommands.status(place, { ignored: 'matching' }),
    readCommands.diffNumbers(place, await commitOf(git, place, 'HEAD')),
    readCommands.diffWorkTree(place, await commitOf(git, place, 'HEAD')),
    readCommands.untracked(place),
  ];
}
