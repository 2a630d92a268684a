import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { runExpecting } from './expect-success.ts';
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

/** What the symbolic refs of a repository say. */
export interface BranchPointers {
  /** As in `BranchFacts`. */
  readonly branch: string | null;
  /** Object name of a detached HEAD. */
  readonly detachedOid: string | null;
  /** Short name of the branch that `origin` announced as its default when it was cloned; it need not exist. */
  readonly announced: string | null;
}

/** Which branches there are. */
export interface ExistingBranches {
  local(name: string): boolean;
  /** On `origin`, as it was last fetched. */
  remote(name: string): boolean;
}

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
  const pointers = await readBranchPointers(capability);
  const existing = await findExisting(capability, git, defaultCandidates(pointers), signal);
  const defaultBranch = chooseDefaultBranch(pointers, {
    local: (name) => existing.has(heads + name),
    remote: (name) => existing.has(originRefs + name),
  });
  return { branch: pointers.branch, defaultBranch };
}

/** Reads them beneath the held directories; starts no process. @throws `identity_changed` when HEAD is gone or malformed */
export async function readBranchPointers({ repository }: RepositoryCapability): Promise<BranchPointers> {
  const head = await readSymbolicFile(repository.gitDirectory, 'HEAD');
  if (head === null) throw new AuthorityError('identity_changed', { details: { what: 'git dir' } });
  const originHead = await readSymbolicFile(repository.commonDirectory, `${originRefs}HEAD`);
  return {
    branch: targetBelow(heads, head),
    detachedOid: head.kind === 'detached' ? head.oid : null,
    announced: targetBelow(originRefs, originHead),
  };
}

/** The first candidate that exists, local or else on `origin`; else the branch that is checked out. */
export function chooseDefaultBranch(pointers: BranchPointers, existing: ExistingBranches): string | null {
  for (const name of defaultCandidates(pointers)) {
    if (existing.local(name)) return name;
    if (existing.remote(name)) return `origin/${name}`;
  }
  return pointers.branch;
}

/** Short names of the branches that may be the default one. */
export function defaultCandidates({ announced }: BranchPointers): readonly string[] {
  return announced === null ? customaryNames : [announced, ...customaryNames];
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
  const output = await runExpecting(git, command, signal);
  return new Set(output.toString('utf8').split('\n'));
}

function targetBelow(prefix: string, head: Head | null): string | null {
  return head?.kind === 'symbolic' ? shortNameBelow(prefix, head.ref) : null;
}
