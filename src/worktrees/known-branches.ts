import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { runExpecting } from '../git/expect-success.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import type { GitRunner } from '../git/run-git.ts';
import { type BranchName, parseBranchName } from '../git/values.ts';
import { alternativesOf } from './names.ts';

/** Short names of the branches that there are. */
export interface KnownBranches {
  readonly local: ReadonlySet<string>;
  /** Of `origin`, as it was last fetched. */
  readonly remote: ReadonlySet<string>;
}

export async function readKnownBranches(
  capability: RepositoryCapability,
  git: GitRunner,
  signal?: AbortSignal,
): Promise<KnownBranches> {
  const output = await runExpecting(git, readCommands.branches(pinnedPlace(capability)), signal);
  const refs = output
    .toString('utf8')
    .split('\n')
    .map((line) => line.slice(0, line.indexOf('\0')));
  const below = (prefix: string) =>
    new Set(refs.flatMap((ref) => (ref.startsWith(prefix) ? [ref.slice(prefix.length)] : [])));
  return { local: below('refs/heads/'), remote: below('refs/remotes/origin/') };
}

/**
 * The name, or the first with a number behind it, that no branch has. Names that differ in case only count as the same, since some file
 * systems keep them in one file.
 * @throws `branch_conflict` (details.branch, details.existing): Git cannot keep a branch below the name of another | `creation_names_used_up`
 */
export function freeBranch({ local }: KnownBranches, wanted: BranchName): BranchName {
  const taken = new Set([...local].map(fold));
  for (const name of alternativesOf(wanted)) {
    const branch = parseBranchName(name);
    if (branch === null) throw new AuthorityError('invalid_branch_name');
    if (taken.has(fold(branch))) continue;
    const existing = [...local].find((other) => isBelow(branch, other) || isBelow(other, branch));
    if (existing === undefined) return branch;
    throw new AuthorityError('branch_conflict', { details: { branch, existing } });
  }
  throw new AuthorityError('creation_names_used_up', { details: { what: 'branch' } });
}

function isBelow(name: string, other: string): boolean {
  return fold(name).startsWith(`${fold(other)}/`);
}

function fold(name: string): string {
  return name.toLowerCase();
}
