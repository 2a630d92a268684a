import type { RecoveryReport, Service, WorkspaceRow } from '../../index.ts';
import { type Command, exitRefused } from '../command.ts';
import { describeFailure, type FailureReport } from '../failure.ts';
import { withService } from './with-service.ts';

type RootOutcome = { readonly root: string } & (
  | { readonly report: RecoveryReport }
  | { readonly failure: FailureReport }
);

export const recover: Command = {
  name: 'recover',
  usage: '[--dry-run]',
  summary: 'Finish or undo what a killed process left below the registered directories.',
  help: ['  --dry-run       only say what would be done'],
  options: { 'dry-run': { type: 'boolean' } },
  positionals: [0, 0],
  run: async (invocation) => {
    const dryRun = invocation.values['dry-run'] === true;
    const outcomes = await withService(invocation, async (service) => {
      const found: RootOutcome[] = [];
      for (const row of (await service.workspaces?.list()) ?? [])
        found.push(await recoverRoot(service, row, dryRun));
      return found;
    });
    const complete = outcomes.every((outcome) => 'report' in outcome && outcome.report.complete);
    const { terminal, json } = invocation;
    if (json) terminal.print(JSON.stringify({ ok: complete, dryRun, roots: outcomes }));
    else for (const line of outcomes.flatMap((outcome) => describe(outcome, dryRun))) terminal.print(line);
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
