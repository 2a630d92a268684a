// Makes one raw openat2 and prints its outcome: run as another user by the rows that ask for one.
// usage: path-request.mjs ADDON ROOT BASE64-PATH FLAGS MODE RESOLVE
import { createRequire } from 'node:module';

const [addon, root, path, flags, mode, resolve] = process.argv.slice(2);
const binding = createRequire(import.meta.url)(addon);
const directory = await binding.openRoot(root, {});
try {
  const bytes = Buffer.from(path, 'base64');
  const { mode: seen } = binding.rawOpenat2(directory, bytes, Number(flags), Number(mode), Number(resolve));
  process.stdout.write(JSON.stringify({ code: 'ok', mode: seen }));
} catch (error) {
  process.stdout.write(JSON.stringify({ code: error.code }));
}
