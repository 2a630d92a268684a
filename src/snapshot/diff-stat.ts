import type { ConfigurationGate } from '../git/configuration-gate.ts';
import { type EmptyTree, readEmptyTree } from '../git/empty-tree.ts';
import { malformedOutput, runExpecting } from '../git/expect-success.ts';
import { findMergeBase } from '../git/merge-base.ts';
import { type DiffStat, sumNumstat } from '../git/numstat-records.ts';
import { readCommands } from '../git/read-commands.ts';
import type { CommitOid } from '../git/values.ts';
import type { Comparison } from './differences.ts';
import type { HeadFacts } from './head-facts.ts';

/**
 * Adds up the tracked files as they are now against where HEAD left its base; on the base itself, against where it left origin. Without
 * either it is what is not committed. `clean`: no tracked file differs from HEAD.
 * @throws `untrusted_repository_config` | `git_failed` | `aborted`
 */
export async function readDiffStat(
  comparison: Comparison,
  configuration: ConfigurationGate,
  head: HeadFacts,
  clean: boolean,
): Promise<DiffStat> {
  const { capability, git, signal } = comparison;
  const from = await findStart(comparison, head);
  if (clean && from === head.sha) return { additions: 0, deletions: 0, files: 0 };
  const place = await configuration.clear(capability, 'work-tree', signal);
  const command = readCommands.diffNumbers(place, from);
  const sum = sumNumstat(await runExpecting(git, command, signal));
  if (sum === null) throw malformedOutput(command);
  return sum;
}

async function findStart(
  { capability, git, signal }: Comparison,
  head: HeadFacts,
): Promise<CommitOid | EmptyTree> {
  const { sha, branch, baseName, base, origin } = head;
  if (sha === null) return readEmptyTree(capability, git, signal);
  const other = branch !== null && branch === baseName ? (origin ?? base) : base;
  if (other === null || other === sha) return sha;
  return (await findMergeBase(capability, git, other, sha, signal)) ?? sha;
}
