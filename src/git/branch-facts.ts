import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { type Head, shortNameBelow } from './head.ts';
import { pinnedPlace } from './pinned-place.ts';
import { proofCommands } from './proof-commands.ts';
import type { GitRunner } from './run-git.ts';
import { readSymbolicFile } from './symbolic-file.ts';

/** What /detect tells of a repository (wire contract, route 1). */
export interface BranchFacts {
  /** Short name of the branch that is checked out, born or not; null when HEAD is detached or points outside refs/heads. */
  readonly branch: string | null;
  /** Short name; `origin/<name>` when there is no local branch of that name; null when nothing tells. */
  readonly defaultBranch: string | null;
}

const heads = 'refs/heads/';
const originRefs = 'refs/remotes/origin/';
/** Names tried when the remote does not say which branch is its default. */
const customaryNames = ['main', 'master'];

/**
 * Reads the branch from full ref names, so that a tag of the same name cannot change it (`symbolic-ref --short` would print
 * `heads/x` then).
 * @throws `git_failed` | `identity_changed` when HEAD is gone or malformed | `aborted`
 */
export async function readBranchFacts(
  capability: RepositoryCapability,
  git: GitRunner,
  signal?: AbortSignal,
): Promise<BranchFacts> {
  const { gitDirectory, commonDirectory } = capability.repository;
  const head = await readSymbolicFile(gitDirectory, 'HEAD');
  if (head === null) throw new AuthorityError('identity_changed', { details: { what: 'git dir' } });
  const originHead = await readSymbolicFile(commonDirectory, `${originRefs}HEAD`);
  const branch = targetBelow(heads, head);
  const announced = targetBelow(originRefs, originHead);
  const candidates = announced === null ? customaryNames : [announced, ...customaryNames];
  const existing = await findExisting(capability, git, candidates, signal);
  return { branch, defaultBranch: firstExisting(candidates, existing) ?? branch };
}

function firstExisting(names: readonly string[], existing: ReadonlySet<string>): string | null {
  for (const name of names) {
    if (existing.has(heads + name)) return name;
    if (existing.has(originRefs + name)) return `origin/${name}`;
  }
  return null;
}

async function findExisting(
  capability: RepositoryCapability,
  git: GitRunner,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlySet<string>> {
  const command = proofCommands.existingRefs(
    pinnedPlace(capability),
    names.flatMap((name) => [heads + name, originRefs + name]),
  );
  const result = await git.run(command, signal);
  if (result.exitCode !== 0) {
    throw new AuthorityError('git_failed', {
      details: { command: command.name, reason: 'exit-status', exitCode: result.exitCode },
      cause: result.stderr.toString('utf8'),
    });
  }
  return new Set(result.stdout.toString('utf8').split('\n'));
}

function targetBelow(prefix: string, head: Head | null): string | null {
  return head?.kind === 'symbolic' ? shortNameBelow(prefix, head.ref) : null;
}
