// Merges to the base through the compiled package and dies at one step of it: merge-host <compiled> <state> <home> <worktree> <step> <when>
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [compiled, stateDirectory, home, worktree, step, when] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(compiled, file)).href);
const { createService } = await load('index.js');
const { createRepositoryActions } = await load('actions/create-actions.js');
const { createConfigurationGate } = await load('git/configuration-gate.js');
const { createGitRunner } = await load('git/run-git.js');
const { readUserConfiguration } = await load('git/user-configuration.js');
const { createMutationGate } = await load('mutation/gate.js');
const { deathGuardPath } = await load('native/index.js');

const die = () => process.kill(process.pid, 'SIGKILL');
const runner = createGitRunner({ deathGuard: deathGuardPath() });
const git = {
  ...runner,
  async run(command, signal) {
    const isStep = command.name === step;
    if (isStep && when === 'before') die();
    // Somewhere between the start of the process and its end.
    if (isStep && when.startsWith('during')) setTimeout(die, Number(when.slice('during '.length)));
    const result = await runner.run(command, signal);
    if (isStep && when === 'after') die();
    return result;
  },
};
const service = await createService({ stateDirectory, prover: 'git', home });
const actions = createRepositoryActions({
  authority: service.authority,
  gate: createMutationGate({ leases: null }),
  git,
  configuration: createConfigurationGate(runner),
  user: (signal) => readUserConfiguration(runner, { home }, signal),
  network: {},
});
// A merge that ends with conflicts is refused, in which case the timer may come late as well.
await actions.mergeToBase(worktree).catch(() => undefined);
setTimeout(die, 1000);
