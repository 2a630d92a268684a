// Opens handles, starts calls and leaves without closing or awaiting anything.
// usage, as a process or a worker: leave-open.mjs ADDON ROOT return|exit|throw|terminate
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';

const [addon, root, way] = process.argv.slice(2);
const binding = createRequire(import.meta.url)(addon);

const directory = await binding.openRoot(root, {});
const guard = binding.createGuard(directory, {
  closedShape: ['HEAD', 'objects', 'refs'],
  closedIdentities: [],
});
const file = await directory.openFile('d/file-1', guard);
const facts = new BigInt64Array(9);
await directory.read('d/file-2', 1 << 20, facts, guard);
directory.readCached('d/file-2', 1 << 20, facts, guard);
for (let index = 0; index < 50; index += 1) {
  directory.read(`d/file-${index}`, 1 << 20, new BigInt64Array(9), guard).catch(() => undefined);
  directory.list('d', { rootPath: root, limit: 1000 }, guard).catch(() => undefined);
  file.readAt(0, 100_000).catch(() => undefined);
}
parentPort?.postMessage(binding.openHandles());

if (way === 'exit') process.exit(0);
if (way === 'throw') throw new Error('on purpose');
if (way === 'terminate') setInterval(() => undefined, 1000);
