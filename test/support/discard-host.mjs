// Discards through the compiled package and dies at one step of it: discard-host <compiled> <state> <home> <repository> <step> <when>
// A step is the name of a Git command, `archive`, `finish`, or `call <n>`: the nth system call of its changes in the file system. `trace` dies
// of nothing and prints those calls.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [compiled, stateDirectory, home, repository, step, when] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(compiled, file)).href);
const { createService } = await load('index.js');
const { createRepositoryActions } = await load('actions/create-actions.js');
const { Confirmations } = await load('actions/discard-confirmations.js');
const { createHookTrust } = await load('actions/trusted-hooks.js');
const { createArchives } = await load('archive/create-archives.js');
const { openStateDirectory } = await load('capability/state-directory.js');
const { createConfigurationGate } = await load('git/configuration-gate.js');
const { createGitRunner } = await load('git/run-git.js');
const { readUserConfiguration } = await load('git/user-configuration.js');
const { createMutationGate } = await load('mutation/gate.js');
const { deathGuardPath } = await load('native/index.js');
const native = createRequire(import.meta.url)(process.env.WORKSPACE_AUTHORITY_ADDON);

const die = () => process.kill(process.pid, 'SIGKILL');
const runner = createGitRunner({ deathGuard: deathGuardPath() });
const gate = createMutationGate({ leases: null });
const dying =
  (name, task) =>
  async (...given) => {
    if (step === name && when === 'before') die();
    // Somewhere between its start and its end.
    if (step === name && when.startsWith('during')) setTimeout(die, Number(when.slice('during '.length)));
    const result = await task(...given);
    if (step === name && when === 'after') die();
    return result;
  };
let armed = false;
const git = {
  ...runner,
  run: (command, signal) => {
    const run = () => runner.run(command, signal);
    return armed ? dying(command.name, run)() : run();
  },
};
const service = await createService({ stateDirectory, prover: 'git', home });
const stored = createArchives(await openStateDirectory(stateDirectory, native), gate);
const actions = createRepositoryActions({
  authority: service.authority,
  gate,
  git,
  configuration: createConfigurationGate(runner),
  user: (signal) => readUserConfiguration(runner, { home }, signal),
  network: {},
  hooks: createHookTrust(runner),
  confirmations: new Confirmations(),
  archives: {
    write: dying('archive', (...given) => stored.write(...given)),
    finish: dying('finish', (id) => stored.finish(id)),
    drop: (id) => stored.drop(id),
  },
});
const token = await actions.discard(repository).catch((error) => error.details.token);
armed = true;
const call = /^call (\d+)$/.exec(step)?.[1];
native.setFault(call === undefined ? null : { syscall: '*', occurrence: Number(call), when, action: 'kill' });
await actions.discard(repository, { token });
if (step === 'trace') {
  process.stdout.write(native.faultTrace().join('\n'));
  die();
}
// The timer may come late.
setTimeout(die, 1000);
