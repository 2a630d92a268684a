import type { RecoveryReport, Service, WorkspaceRow } from '../../index.ts';
import { type Command, exitRefused } from '../command.ts';
import { describeFailure, type FailureReport } from '../failure.ts';
import { describeWorktrees, recoverWorktrees } from './recovered-worktrees.ts';
import { withService } from './with-service.ts';

type RootOutcome = { readonly root: string } & (
  | { readonly report: RecoveryReport }
  | { readonly failure: FailureReport }
);

export const recover: Command = {
  name: 'recover',
  usage: '[--dry-run]',
  summary: 'Finish or undo what a killed process left below the registered directories and of worktrees.',
  help: ['  --dry-run       only say what would be done'],
  options: { 'dry-run': { type: 'boolean' } },
  positionals: [0, 0],
  run: async (invocation) => {
    const dryRun = invocation.values['dry-run'] === true;
    const recoverAll = async (service: Service) => {
      const roots: RootOutcome[] = [];
      for (const row of (await service.workspaces?.list()) ?? [])
        roots.push(await recoverRoot(service, row, dryRun));
      return { roots, worktrees: await recoverWorktrees(service, dryRun) };
    };
    // A start that recovers would leave nothing to tell, and nothing for a dry run to leave alone.
    const { roots, worktrees } = await withService(invocation, recoverAll, {
      recoverWorktreesAtStart: false,
    });
    const complete =
      roots.every((outcome) => 'report' in outcome && outcome.report.complete) && !('failure' in worktrees);
    const { terminal, json } = invocation;
    if (json) terminal.print(JSON.stringify({ ok: complete, dryRun, roots, worktrees }));
    else {
      const lines = roots.flatMap((outcome) => describe(outcome, dryRun));
      for (const line of [...lines, ...describeWorktrees(worktrees, dryRun)]) terminal.print(line);
    }
    return complete ? 0 : exitRefused;
  },
};

async function recoverRoot(service: Service, { path }: WorkspaceRow, dryRun: boolean): Promise<RootOutcome> {
  try {
    await using capability = await service.authority.authorize(path);
    return { root: path, report: await service.files.recover(capability, { dryRun }) };
  } catch (error) {
    return { root: path, failure: describeFailure(error) };
  }
}

function describe(outcome: RootOutcome, dryRun: boolean): readonly string[] {
  if ('failure' in outcome) return [`${outcome.root}: ${outcome.failure.message} (${outcome.failure.code})`];
  const { root, report } = outcome;
  const extent = report.complete ? '' : ', and there is more';
  return [
    `${root}: ${report.directoriesExamined} directories examined${extent}`,
    ...report.actions.map(({ path, action, reason }) => {
      return `  ${dryRun && action !== 'owner-alive' ? 'would be ' : ''}${action}: ${path}. ${reason}`;
    }),
  ];
}
