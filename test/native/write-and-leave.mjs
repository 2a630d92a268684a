// Starts commits and leaves without awaiting them.
// As a process or a worker: write-and-leave.mjs ADDON ROOT return|exit|terminate COUNT
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parentPort } from 'node:worker_threads';

const [addon, path, way, count] = process.argv.slice(2);
const root = await createRequire(import.meta.url)(addon).openRoot(path, {});
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
if (way === 'exit') process.exit(0);
if (way === 'terminate') setInterval(() => undefined, 1000);
