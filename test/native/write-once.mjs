// Replaces one file and prints what came of it as JSON. Arguments: addon, root, path, temporary name.
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const [addon, rootPath, path, temporaryName] = process.argv.slice(2);
const native = createRequire(import.meta.url)(addon);
const root = await native.openRoot(rootPath, {});
const { ino, dev } = statSync(join(rootPath, path), { bigint: true });
const base = { baseBytes: readFileSync(join(rootPath, path)), baseInode: ino, baseDevice: dev };
try {
  const { facts, ...rest } = await root.replace(
    path,
    { bytes: Buffer.from('new'), ...base, temporaryName },
    null,
  );
  console.log(JSON.stringify(rest));
} catch (error) {
  console.log(JSON.stringify({ ...error }));
}
root.close();
