import type { ArchiveMember } from '../archive/archives.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import type { ManagedWorktreeCapability } from '../capability/managed-worktree-capability.ts';
import { refusalOf } from '../capability/refusal.ts';
import { runExpecting } from '../git/expect-success.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { preserveCommands } from '../git/preserve-commands.ts';
import { readCommands } from '../git/read-commands.ts';
import type { GitRunner } from '../git/run-git.ts';
import { parseCommitOid } from '../git/values.ts';
import { bytesOf, type WorktreeSurvey } from './preflight-survey.ts';

/**
 * The parts of an archive of a worktree.
 *
 * - `files`: what is in no commit as it stands
 * - `git-directory`: its administrative directory: HEAD, index, logs, an operation in the middle
 * - `objects`: `pack`, what only they lead to: staged contents, commits of a detached HEAD and of its log
 * - `facts`: `not-in-index`, the tracked paths whose file is not what the index has
 */
export const areas = {
  files: 'files',
  gitDirectory: 'git-directory',
  objects: 'objects',
  facts: 'facts',
} as const;

/** They say where a worktree stands, so that they are made anew. Locks hold no state. */
export const administration: ReadonlySet<string> = new Set(['gitdir', 'commondir', 'locked', 'HEAD']);
export const ownMetadata = 'workspace-authority';

const listedAtMost = 100_000;
const directoryType = 1;
const fileType = 0;

export async function* membersOf(
  git: GitRunner,
  capability: ManagedWorktreeCapability,
  survey: WorktreeSurvey,
  signal?: AbortSignal,
): AsyncGenerator<ArchiveMember> {
  const { held, repository } = capability;
  const paths = await filesBelow(repository.gitDirectory, '');
  const pack = await packOf(git, capability, survey, paths, signal);
  if (pack !== null) yield { area: areas.objects, path: 'pack', bytes: pack };
  for (const path of paths) yield { area: areas.gitDirectory, path, from: repository.gitDirectory };
  const elsewhere = [...pathsNotInIndex(survey)].map((path) => `${path}\0`).join('');
  yield { area: areas.facts, path: 'not-in-index', bytes: bytesOf(elsewhere) };
  for (const path of survey.files.keys()) yield { area: areas.files, path, from: held.directory };
}

/** Tracked paths that are not brought back from the index. */
function pathsNotInIndex({ records, entries }: WorktreeSurvey): ReadonlySet<string> {
  const changed = records.filter(
    ({ kind, unstaged }) => kind === 'unmerged' || (kind === 'changed' && unstaged !== '.'),
  );
  const unusual = entries.filter(
    ({ isHidden, isSubmodule, isUnmerged }) => isHidden || isSubmodule || isUnmerged,
  );
  return new Set([...changed, ...unusual].map(({ path }) => path));
}

/** Regular files of an administrative directory, parents first. */
async function filesBelow(directory: DirectoryHandle, prefix: string): Promise<readonly string[]> {
  const found: string[] = [];
  const listing = await directory
    .list(prefix === '' ? '.' : bytesOf(prefix.slice(0, -1)), { rootPath: '/', limit: listedAtMost }, null)
    .catch((error: unknown) => {
      throw refusalOf(error);
    });
  const names = Buffer.from(listing.names).toString('latin1').split('\0').slice(0, -1);
  for (const [at, name] of names.entries()) {
    const path = prefix + name;
    if (listing.types[at] === directoryType) found.push(...(await filesBelow(directory, `${path}/`)));
    else if (
      listing.types[at] === fileType &&
      !path.endsWith('.lock') &&
      (path === 'HEAD' || !administration.has(path))
    )
      found.push(path);
  }
  return found;
}

const nameShape = /(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])/g;
const chunkBytes = 1024 * 1024;

/**
 * Objects that go with the worktree: whatever any file of its administrative directory, or its index, names and no branch, tag or remote branch
 * reaches. Null when there are none.
 */
async function packOf(
  git: GitRunner,
  capability: ManagedWorktreeCapability,
  { head, entries, commits }: WorktreeSurvey,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<Buffer | null> {
  const names = new Set<string>(head.commit === null ? [] : [head.commit]);
  for (const { oid, isSubmodule } of entries) if (!isSubmodule) names.add(oid);
  for (const path of paths) {
    if (path === 'index' || path.startsWith('sharedindex.')) continue;
    for (const [name] of (await textOf(capability.repository.gitDirectory, path)).matchAll(nameShape))
      names.add(name);
  }
  const place = pinnedPlace(capability);
  // The tree of a commit that stays needs not be named to be left out.
  const stays = head.commit !== null && commits.unreachable.count === 0;
  const tree =
    head.commit !== null && stays
      ? (await runExpecting(git, readCommands.treeOf(place, head.commit), signal))
          .toString('latin1')
          .trimEnd()
      : '';
  const command = preserveCommands.looseObjects(place, [...names], parseCommitOid(tree));
  const objects = await runExpecting(git, command, signal);
  if (objects.length === 0) return null;
  return runExpecting(git, preserveCommands.packObjects(place, objects), signal);
}

async function textOf(directory: DirectoryHandle, path: string): Promise<string> {
  try {
    const file = await directory.openFile(bytesOf(path), null);
    try {
      const chunks: Uint8Array[] = [];
      for (let position = 0; ; ) {
        const chunk = await file.readAt(position, chunkBytes);
        if (chunk.length === 0) return Buffer.concat(chunks).toString('latin1');
        chunks.push(chunk);
        position += chunk.length;
      }
    } finally {
      file.close();
    }
  } catch (error) {
    throw refusalOf(error);
  }
}
