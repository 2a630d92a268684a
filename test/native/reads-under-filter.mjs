// Probes and reads, then forbids openat2 in the running process when told to, and does both again. Prints JSON.
// usage: reads-under-filter.mjs ADDON ROOT [FILTER-ADDON ERRNO]
import { createRequire } from 'node:module';

const [addon, root, filter, errno] = process.argv.slice(2);
const load = createRequire(import.meta.url);
const binding = load(addon);
const facts = new BigInt64Array(9);

async function outcomeOf(call) {
  try {
    await call();
    return 'ok';
  } catch ({ code, syscall }) {
    return { code, syscall };
  }
}

let directory;
const opened = await outcomeOf(async () => {
  directory = await binding.openRoot(root, {});
});
const report = async () => ({
  probe: binding.probe(),
  calls: {
    openRoot: await outcomeOf(async () => (await binding.openRoot(root, {})).close()),
    read: directory && (await outcomeOf(() => directory.read('f', 10, facts, null))),
    readCached: directory && (await outcomeOf(() => directory.readCached('f', 10, facts, null))),
    list: directory && (await outcomeOf(() => directory.list('.', { rootPath: root, limit: 1 }, null))),
    leadsHere: directory && (await outcomeOf(() => directory.leadsHere(root))),
  },
});
const reports = [{ opened, ...(await report()) }];
if (filter !== undefined) {
  load(filter).forbid(Number(errno));
  reports.push({ opened, ...(await report()) });
}
process.stdout.write(JSON.stringify(reports));
