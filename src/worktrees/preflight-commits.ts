import type { ManagedWorktreeCapability } from '../capability/managed-worktree-capability.ts';
import type { CapturedHead } from '../git/captured-head.ts';
import { runExpecting } from '../git/expect-success.ts';
import { findCommit } from '../git/find-commit.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { preserveCommands } from '../git/preserve-commands.ts';
import { proofCommands } from '../git/proof-commands.ts';
import { readCommands } from '../git/read-commands.ts';
import { readRefTips } from '../git/ref-tips.ts';
import type { GitCommand, GitRunner } from '../git/run-git.ts';
import { type CommitOid, parseCommitOid, parseRefName } from '../git/values.ts';

/** Some commits, and how many there are; `count` stops at 1,000. */
export interface CommitNames {
  readonly count: number;
  /** The newest, at most 20. */
  readonly newest: readonly CommitOid[];
}

/** Commits of a worktree that are nowhere else. */
export interface UnsentCommits {
  readonly unpushed: CommitNames & {
    /** What they were compared with: a ref, the commit that the worktree was made from, or nothing that is known. */
    readonly against: string | null;
  };
  /** Those that no branch, tag or remote branch reaches: on a detached HEAD. They are kept with the archive. */
  readonly unreachable: CommitNames;
}

const countedAtMost = 1000;
const namedAtMost = 20;
const none: CommitNames = { count: 0, newest: [] };

/**
 * Unpushed is what the branch of the same name at `origin` does not have; without one, what no branch of `origin` has; without any, what came
 * after the commit that the worktree was made from (wire contract 6). Where nothing tells, all commits are.
 * @throws `git_failed` | `aborted`
 */
export async function findUnsent(
  git: GitRunner,
  capability: ManagedWorktreeCapability,
  { branch, commit }: CapturedHead,
  signal?: AbortSignal,
): Promise<UnsentCommits> {
  if (commit === null) return { unpushed: { ...none, against: null }, unreachable: none };
  const place = pinnedPlace(capability);
  const names = (command: GitCommand) => readNames(git, command, signal);
  const beyond = (remaining: 'refs' | 'origin') =>
    names(preserveCommands.commitsBeyond(place, commit, remaining, countedAtMost));
  const since = (excluded: readonly CommitOid[]) =>
    names(readCommands.commitNames(place, { tip: commit, excluded, limit: countedAtMost }));
  const unreachable = await beyond('refs');
  const remote = branch && parseRefName(branch.replace('refs/heads/', 'refs/remotes/origin/'));
  const tips = remote === null ? null : await readRefTips(capability, git, [remote], signal);
  const tip = remote === null ? null : (tips?.get(remote)?.commit ?? null);
  if (tip !== null) return { unpushed: { ...(await since([tip])), against: remote }, unreachable };
  const all = await beyond('origin');
  if (await hasOrigin(git, capability, signal))
    return { unpushed: { ...all, against: 'refs/remotes/origin' }, unreachable };
  const base = parseCommitOid(capability.managed.baseOid ?? '');
  const known = base === null ? null : await findCommit(capability, git, base, signal);
  if (known === null) return { unpushed: { ...all, against: null }, unreachable };
  return { unpushed: { ...(await since([known])), against: known }, unreachable };
}

/** Whether anything was ever fetched from `origin`. */
async function hasOrigin(
  git: GitRunner,
  capability: ManagedWorktreeCapability,
  signal?: AbortSignal,
): Promise<boolean> {
  const command = proofCommands.existingRefs(pinnedPlace(capability), ['refs/remotes/origin']);
  return (await runExpecting(git, command, signal)).length > 0;
}

async function readNames(git: GitRunner, command: GitCommand, signal?: AbortSignal): Promise<CommitNames> {
  const output = (await runExpecting(git, command, signal)).toString('latin1');
  const oids = output.split('\n').flatMap((line) => parseCommitOid(line) ?? []);
  return { count: oids.length, newest: oids.slice(0, namedAtMost) };
}
