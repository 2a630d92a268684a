// Reads one path through a guard: until that is warm at the start, when it can be, then for every line of standard input; prints a
// JSON line for each.
// usage: guarded-reads.mjs ADDON ROOT PATH warm|cold
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const [addon, root, path, warmable] = process.argv.slice(2);
const binding = createRequire(import.meta.url)(addon);
const directory = await binding.openRoot(root, {});
const guard = binding.createGuard(directory, {
  closedShape: ['HEAD', 'objects', 'refs'],
  closedIdentities: [],
});
const facts = new BigInt64Array(9);

/** `warm`: whether it was read without the pool. */
async function outcomeOf() {
  try {
    const cached = directory.readCached(path, 1 << 20, facts, guard);
    const bytes = cached ?? (await directory.read(path, 1 << 20, facts, guard));
    return { content: Buffer.from(bytes).toString(), warm: cached !== undefined };
  } catch (error) {
    return { code: error.code, syscall: error.syscall };
  }
}

async function read() {
  process.stdout.write(`${JSON.stringify(await outcomeOf())}\n`);
}

// A file that changed a moment ago is left to the pool.
const deadline = Date.now() + (warmable === 'warm' ? 10_000 : 0);
while (!(await outcomeOf()).warm && Date.now() < deadline);
await read();
for await (const _ of createInterface({ input: process.stdin })) await read();
