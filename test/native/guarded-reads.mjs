// Reads one path through a guard: once at the start, then once for every line of standard input; prints a JSON line for each.
// usage: guarded-reads.mjs ADDON ROOT PATH
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [addon, root, path] = process.argv.slice(2);
const binding = createRequire(import.meta.url)(addon);
const directory = await binding.openRoot(root, {});
const guard = binding.createGuard(directory, {
  closedShape: ['HEAD', 'objects', 'refs'],
  closedIdentities: [],
});
const facts = new BigInt64Array(8);

/** `warm`: whether the last read was made without the pool. */
async function read() {
  let outcome;
  // More than once: what is read again unchanged is kept open.
  for (let time = 0; time < 4; time += 1) {
    try {
      const cached = directory.readCached(path, 1 << 20, facts, guard);
      const bytes = cached ?? (await directory.read(path, 1 << 20, facts, guard));
      outcome = { content: Buffer.from(bytes).toString(), warm: cached !== undefined };
    } catch (error) {
      outcome = { code: error.code, syscall: error.syscall };
    }
  }
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

await read();
for await (const _ of createInterface({ input: process.stdin })) await read();
