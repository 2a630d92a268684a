import type { DiscardCounts, DiscardPreview } from './discard-contract.ts';
import type { DiscardPlan } from './discard-plan.ts';

/** Paths that a preview names at most. */
const namedPaths = 200;

export function previewOf(plan: DiscardPlan): DiscardPreview {
  const paths = [...new Set([...plan.changes, ...plan.files].map(({ path }) => path))].sort();
  return {
    token: plan.token,
    counts: countsOf(plan),
    paths: paths.slice(0, namedPaths).map(shown),
    more: Math.max(0, paths.length - namedPaths),
    left: plan.left.slice(0, namedPaths).map(shown),
  };
}

function countsOf({ changes, files }: DiscardPlan): DiscardCounts {
  return {
    staged: changes.filter(({ staged }) => staged !== '.').length,
    unstaged: changes.filter(({ unstaged }) => unstaged !== '.').length,
    untracked: files.filter(({ kind }) => kind === 'untracked').length,
    ignored: files.filter(({ kind }) => kind === 'ignored').length,
    bytes: files.reduce((sum, { standing }) => sum + standing.size, 0),
  };
}

/** A path in Latin-1 for people. */
export function shown(path: string): string {
  return Buffer.from(path, 'latin1').toString('utf8');
}
