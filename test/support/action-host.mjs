// Runs one action through the compiled package and dies at one step of it: action-host <compiled> <state> <home> <cwd> <action> <step> <when>
// Ends with 3 when the action never came to that step.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [compiled, stateDirectory, home, cwd, action, step, when] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(compiled, file)).href);
const { createService } = await load('index.js');
const { createRepositoryActions } = await load('actions/create-actions.js');
const { createHookTrust } = await load('actions/trusted-hooks.js');
const { createConfigurationGate } = await load('git/configuration-gate.js');
const { createGitRunner } = await load('git/run-git.js');
const { readUserConfiguration } = await load('git/user-configuration.js');
const { createMutationGate } = await load('mutation/gate.js');
const { deathGuardPath } = await load('native/index.js');

const die = () => process.kill(process.pid, 'SIGKILL');
const runner = createGitRunner({ deathGuard: deathGuardPath() });
let reached = false;
const git = {
  ...runner,
  async run(command, signal) {
    const isStep = command.name === step;
    reached ||= isStep;
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
  network: { protocols: ['file'] },
  hooks: createHookTrust(runner),
});
// A merge that ends with conflicts is refused, in which case the timer may come late as well.
const requests = action === 'commit' ? [{ message: 'from the host' }] : [];
const outcome = await actions[action](cwd, ...requests).catch((error) => error);
if (!reached) {
  console.error(outcome);
  process.exit(3);
}
setTimeout(die, 1000);
