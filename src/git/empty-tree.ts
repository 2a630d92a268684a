import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { lineOf, malformedOutput, runExpecting } from './expect-success.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import type { ObjectOid } from './values.ts';

declare const emptyTreeBrand: unique symbol;

/** Name of the tree without entries, which every repository knows: what an unborn branch or a root commit is compared with. */
export type EmptyTree = string & { readonly [emptyTreeBrand]: true };

/** The empty tree by object format (SHA-1 and SHA-256 of `tree 0` and a NUL). */
export const emptyTrees: Readonly<Record<'sha1' | 'sha256', EmptyTree>> = {
  sha1: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as string as EmptyTree,
  sha256: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321' as string as EmptyTree,
};

/** The empty tree of the repository that has the object: the length of a name tells the format. */
export function emptyTreeOf(oid: ObjectOid): EmptyTree {
  return emptyTrees[oid.length === emptyTrees.sha1.length ? 'sha1' : 'sha256'];
}

/** The same where there is no object yet to tell. @throws `git_failed` | `aborted` | `shutting_down` */
export async function readEmptyTree(
  capability: RepositoryCapability,
  git: GitRunner,
  signal?: AbortSignal,
): Promise<EmptyTree> {
  const command = readCommands.objectFormat(pinnedPlace(capability));
  const format = lineOf(await runExpecting(git, command, signal));
  if (format !== 'sha1' && format !== 'sha256') throw malformedOutput(command);
  return emptyTrees[format];
}
