import { managedFactsOf } from '../authority/managed-facts.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { type BaseRevision, parseBaseRevision } from '../git/base-revision.ts';
import { readBranchFacts } from '../git/branch-facts.ts';
import { parseRefName, type RefName } from '../git/values.ts';
import type { ActionContext } from './action-context.ts';

const heads = 'refs/heads/';
const originRefs = 'refs/remotes/origin/';

/**
 * What the work of a checkout is measured against, as snapshots name it: what a managed worktree was made from, else the default branch.
 * Null when nothing tells, and when what is told is not a name that a caller could have given (R20).
 * @throws `git_failed` | `identity_changed` | `aborted`
 */
export async function findBase(
  { git }: ActionContext,
  capability: RepositoryCapability,
  signal?: AbortSignal,
): Promise<BaseRevision | null> {
  const recorded = managedFactsOf(capability)?.baseName ?? null;
  const name = recorded ?? (await readBranchFacts(capability, git, signal)).defaultBranch;
  return name === null ? null : parseBaseRevision(name);
}

/** The local branch of a base, also of one that is named by its copy on `origin` (W40); null for a commit. It need not exist. */
export function localBranchOf(base: BaseRevision): RefName | null {
  const first = base.kind === 'refs' ? (base.candidates[0] ?? '') : '';
  if (first.startsWith(originRefs)) return parseRefName(heads + first.slice(originRefs.length));
  return first.startsWith(heads) ? parseRefName(first) : null;
}
