import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import type { ConfigurationGate } from './configuration-gate.ts';
import { malformedOutput, unexpectedStatus } from './expect-success.ts';
import { findMergeBase } from './merge-base.ts';
import { isShallow } from './operation-state.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitCommand, GitResult, GitRunner } from './run-git.ts';
import { writingFailure } from './run-writing.ts';
import { type CommitOid, type ObjectOid, parseCommitOid } from './values.ts';
import { writeCommands } from './write-commands.ts';

/** What the merge of one commit into another comes to. Nothing but objects was written to find it out. */
export type MergePlan =
  /** Ours has all of theirs. */
  | { readonly kind: 'none' }
  /** Theirs has all of ours. */
  | { readonly kind: 'forward'; readonly next: CommitOid }
  | { readonly kind: 'merge'; readonly tree: ObjectOid }
  | {
      readonly kind: 'conflict';
      /** With the marks of conflicts in its files. */
      readonly tree: ObjectOid;
      /** In Latin-1, one character a byte; sorted by Git. */
      readonly paths: readonly string[];
    };

export interface MergedCommits {
  readonly ours: CommitOid;
  readonly theirs: CommitOid;
}

/** What `planMerge` works with. */
export interface MergeTools {
  readonly git: GitRunner;
  readonly configuration: ConfigurationGate;
}

/**
 * Works a merge out without a work tree. Attributes are those of the checkout that the capability holds (gitattributes(5)).
 * @throws `action_refused` (details.reason `unrelated-histories`, or `missing-history` in a shallow clone) | `untrusted_repository_config` |
 *   `no_space` | `git_failed` | `aborted` | `shutting_down`
 */
export async function planMerge(
  { git, configuration }: MergeTools,
  capability: RepositoryCapability,
  { ours, theirs }: MergedCommits,
  signal?: AbortSignal,
): Promise<MergePlan> {
  const place = pinnedPlace(capability);
  const answers = (command: GitCommand) => runYesOrNo(git, command, signal);
  if (await answers(readCommands.isAncestor(place, theirs, ours))) return { kind: 'none' };
  if (await answers(readCommands.isAncestor(place, ours, theirs))) return { kind: 'forward', next: theirs };
  if ((await findMergeBase(capability, git, ours, theirs, signal)) === null) {
    const reason = (await isShallow(capability)) ? 'missing-history' : 'unrelated-histories';
    throw new AuthorityError('action_refused', { details: { reason } });
  }
  const command = writeCommands.mergeTree(
    await configuration.clear(capability, 'merge', signal),
    ours,
    theirs,
  );
  const result = await git.run(command, signal);
  if (result.exitCode > 1) throw writingFailure(command, result);
  const plan = parseMergeTree(result);
  if (plan === null) throw malformedOutput(command);
  return plan;
}

/** Null when the output has another form than git-merge-tree(1) gives it with `-z --name-only --no-messages`. */
export function parseMergeTree({
  exitCode,
  stdout,
}: Pick<GitResult, 'exitCode' | 'stdout'>): MergePlan | null {
  const [first = '', ...paths] = stdout.toString('latin1').split('\0');
  const tree = parseCommitOid(first);
  if (tree === null || paths.pop() !== '' || paths.includes('')) return null;
  if (exitCode === 1) return { kind: 'conflict', tree, paths };
  return paths.length === 0 ? { kind: 'merge', tree } : null;
}

async function runYesOrNo(git: GitRunner, command: GitCommand, signal?: AbortSignal): Promise<boolean> {
  const { exitCode, stderr } = await git.run(command, signal);
  if (exitCode > 1) throw unexpectedStatus(command, exitCode, stderr);
  return exitCode === 0;
}
