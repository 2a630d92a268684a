// Makes a worktree through the compiled package and dies at one step of it, before or after:
// create-host <compiled> <addon> <state> <home> <repository> <number of the step> <when> <transaction> <session>
// A step is a change of a file or directory beneath a held handle, or a Git process that changes something.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [compiled, addon, stateDirectory, home, repository, number, when, txId, sourceSessionId] =
  process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(compiled, file)).href);
const { createService } = await load('index.js');
const { createConfigurationGate } = await load('git/configuration-gate.js');
const { createGitRunner } = await load('git/run-git.js');
const { createMutationGate } = await load('mutation/gate.js');
const { deathGuardPath } = await load('native/index.js');
const { createWorktreeCreation } = await load('worktrees/worktrees.js');

const die = () => process.kill(process.pid, 'SIGKILL');
let armed = false;
let steps = 0;
/** Runs a step, and dies where it was told to. */
async function step(run) {
  if (!armed) return run();
  steps += 1;
  const isHere = steps === Number(number);
  if (isHere && when === 'before') die();
  // Somewhere between its start and its end.
  if (isHere && when.startsWith('during')) setTimeout(die, Number(when.slice('during '.length)));
  try {
    return await run();
  } finally {
    if (isHere) die();
  }
}

const changes = ['create', 'replace', 'remove', 'makeDirectory', 'removeDirectory', 'renameNoReplace'];
/** Counts the changes beneath a handle and beneath those that it opens. */
function counted(handle) {
  for (const name of changes) {
    const original = handle[name].bind(handle);
    handle[name] = (...words) => step(() => original(...words));
  }
  const open = handle.openDirectory.bind(handle);
  handle.openDirectory = async (path) => counted(await open(path));
  return handle;
}

const native = createRequire(import.meta.url)(addon);
const binding = {
  probe: () => native.probe(),
  createGuard: (root, rules) => native.createGuard(root, rules),
  openHandles: () => native.openHandles(),
  openRoot: async (path, options) => counted(await native.openRoot(path, options)),
};
const runner = createGitRunner({ deathGuard: deathGuardPath() });
const reads = [
  'configuration',
  'branches',
  'ref-tips',
  'worktree-list',
  'existing-refs',
  'resolve-commit',
  'merge-base',
];
const git = {
  ...runner,
  run: (command, signal) =>
    reads.includes(command.name) ? runner.run(command, signal) : step(() => runner.run(command, signal)),
  runTelling: (command, onProgress, signal) => step(() => runner.runTelling(command, onProgress, signal)),
};
const service = await createService({ stateDirectory, prover: 'git', home, binding });
const creation = createWorktreeCreation({
  native: binding,
  authority: service.authority,
  gate: createMutationGate({ leases: null }),
  git,
  configuration: createConfigurationGate(runner),
  registry: {
    find: async (path) => (await service.workspaces.list()).find((row) => row.path === path) ?? null,
    list: () => service.workspaces.list(),
  },
  registrar: { register: async (path, title) => (await service.workspaces.add(path, { title })).id },
  managedRoots: [{ path: join(stateDirectory, 'worktrees'), scheme: 'authority' }],
  pulls: null,
  network: {},
  tellProgress: () => undefined,
  assertSource: async () => undefined,
  fetch: async () => undefined,
});
armed = true;
await creation.create(repository, { intent: 'branch-off', branchName: 'task', txId, sourceSessionId });
process.send?.(steps);
await service.close();
process.exit(0);
