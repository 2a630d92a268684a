import type { RecoveredCreation, Service, WorktreeRecovery } from '../../index.ts';
import { describeFailure, type FailureReport } from '../failure.ts';

export type WorktreesOutcome =
  | { readonly creations: readonly RecoveredCreation[]; readonly archives: readonly WorktreeRecovery[] }
  | { readonly failure: FailureReport };

/** What killed processes left of creations, archives and restorations. What a live process works on is left, and told. */
export async function recoverWorktrees(service: Service, dryRun: boolean): Promise<WorktreesOutcome> {
  try {
    const creations = await service.worktrees.recover({ dryRun });
    return { creations, archives: await service.worktreeArchives.recover({ dryRun }) };
  } catch (error) {
    return { failure: describeFailure(error) };
  }
}

export function describeWorktrees(outcome: WorktreesOutcome, dryRun: boolean): readonly string[] {
  if ('failure' in outcome) return [`worktrees: ${outcome.failure.message} (${outcome.failure.code})`];
  const would = (action: string) => (dryRun && action !== 'left' ? `would be ${action}` : action);
  const because = (reason: string | null) => (reason === null ? '' : `. ${reason}`);
  return [
    ...outcome.creations.map(
      ({ txId, path, action, reason }) => `creation ${would(action)}: ${path ?? txId}${because(reason)}`,
    ),
    ...outcome.archives.map(
      ({ path, act, action, reason }) => `${act} ${would(action)}: ${path}${because(reason)}`,
    ),
  ];
}
