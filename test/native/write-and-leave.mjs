// Starts commits and leaves without awaiting them.
// As a process or a worker: write-and-leave.mjs ADDON ROOT return|exit|exit-amid|terminate COUNT
// `exit-amid`: while the first commit has exchanged the names and not yet removed what it displaced.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';

const [addon, path, way, count] = process.argv.slice(2);
const binding = createRequire(import.meta.url)(addon);
const root = await binding.openRoot(path, {});
if (way === 'exit-amid')
  binding.setFault({ syscall: 'renameat2', occurrence: 1, when: 'after', action: 'linger' });
for (let index = 0; index < Number(count); index++) {
  const file = join(path, `f${index}`);
  writeFileSync(file, 'old');
  const { ino, dev } = statSync(file, { bigint: true });
  const base = { baseBytes: readFileSync(file), baseInode: ino, baseDevice: dev };
  const request = { bytes: Buffer.from('new'), ...base, temporaryName: `.wa-${index}.tmp` };
  root.replace(`f${index}`, request, null).catch(() => undefined);
}
root.close();
parentPort?.postMessage('started');
if (way === 'exit-amid') while (!existsSync(join(path, '.wa-0.tmp')));
if (way.startsWith('exit')) process.exit(0);
if (way === 'terminate') setInterval(() => undefined, 1000);
