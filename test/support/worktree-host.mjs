// Archives or restores a worktree through the compiled package and dies at one of its changes:
// worktree-host <compiled> <state> <home> <archive|restore> <selector> <archive id or -> <count> <before|after>
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [compiled, stateDirectory, home, act, selector, archive, count, when] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(join(compiled, file)).href);
const { createService } = await load('index.js');
const { loadBinding } = await load('native/index.js');

const die = () => process.kill(process.pid, 'SIGKILL');
const changes = ['create', 'renameNoReplace', 'unlinkIfSame', 'removeDirectory', 'makeDirectory', 'replace'];
let counted = 0;
let counting = false;

const binding = loadBinding();
const root = await binding.openRoot('/', {});
const prototype = Object.getPrototypeOf(root);
root.close();
for (const name of changes) {
  const original = prototype[name];
  prototype[name] = async function change(...words) {
    if (!counting) return original.apply(this, words);
    counted += 1;
    const isStep = counted === Number(count);
    if (isStep && when === 'before') die();
    const result = await original.apply(this, words);
    if (isStep && when === 'after') die();
    return result;
  };
}

const service = await createService({ stateDirectory, prover: 'git', home, binding });
counting = true;
if (act === 'archive') {
  const { token } = await service.worktreeArchives.preflight(selector);
  await service.worktreeArchives.archive(selector, { token });
} else await service.worktreeArchives.restore(selector, archive);
counting = false;
await service.close();
process.stdout.write(String(counted));
