import { createRepositoryActions } from '../../src/actions/create-actions.ts';
import { Confirmations } from '../../src/actions/discard-confirmations.ts';
import type { RepositoryActions } from '../../src/actions/repository-actions.ts';
import { createHookTrust } from '../../src/actions/trusted-hooks.ts';
import { createConfigurationGate } from '../../src/git/configuration-gate.ts';
import type { GitCommand, GitRunner } from '../../src/git/run-git.ts';
import { readUserConfiguration } from '../../src/git/user-configuration.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import { unusedArchives } from '../support/unused-archives.ts';
import type { ActionLab } from './action-lab.ts';

export type Moment = 'before' | 'after';

/** What somebody does right before or after the first command of that name. */
export interface Meanwhile {
  readonly step: string;
  readonly moment: Moment;
  happen(): Promise<unknown>;
}

/** The actions of a lab, while something happens in their midst. */
export function actionsWith(
  lab: ActionLab,
  runner: GitRunner,
  { step, moment, happen }: Meanwhile,
): RepositoryActions {
  let happened = false;
  const meanwhile = async (command: GitCommand, now: Moment) => {
    if (happened || command.name !== step || now !== moment) return;
    happened = true;
    await happen();
  };
  const watched: GitRunner = {
    ...runner,
    async run(command, signal) {
      await meanwhile(command, 'before');
      const result = await runner.run(command, signal);
      await meanwhile(command, 'after');
      return result;
    },
  };
  return actionsOver(lab, watched);
}

/** The actions of a lab by another way to run Git; `trustedHooks` as the service takes them. */
export function actionsOver(
  lab: ActionLab,
  runner: GitRunner,
  trustedHooks: readonly string[] = [],
): RepositoryActions {
  return createRepositoryActions({
    authority: lab.service.authority,
    gate: createMutationGate({ leases: null }),
    git: runner,
    configuration: createConfigurationGate(runner),
    user: (signal) => readUserConfiguration(runner, { home: lab.home }, signal),
    network: { protocols: ['file'] },
    hooks: createHookTrust(runner, trustedHooks),
    archives: unusedArchives,
    confirmations: new Confirmations(),
  });
}
