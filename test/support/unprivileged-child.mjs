// Runs file operations of the built package one after the other and prints their outcomes as JSON.
// Arguments: path of the addon's test build, the root, the steps as JSON.
import { createRequire } from 'node:module';
import { parseBeneathPath } from '../../dist/capability/beneath-path.js';
import { mintFileCapability } from '../../dist/capability/mint.js';
import { openHeldRoot } from '../../dist/capability/open-held-root.js';
import { createWorkspaceFiles } from '../../dist/files/create-workspace-files.js';
import { createMutationGate } from '../../dist/mutation/gate.js';

const [addon, root, steps] = process.argv.slice(2);
const native = createRequire(import.meta.url)(addon);
const held = await openHeldRoot(native, root, {
  allowMounts: false,
  confinement: { isClosedName: (name) => name === '.git', closedShape: [], closedIdentities: [] },
});
const capability = mintFileCapability({
  kind: 'workspace',
  gitBoundary: 'none',
  held,
  assertCurrent: async () => {},
});
const files = createWorkspaceFiles({ gate: createMutationGate({ leases: null }) });

const operations = {
  read: (path) => files.read(capability, path),
  list: (path) => files.list(capability, path),
  create: (path) => files.create(capability, path, Buffer.from('new')),
  async replace(path) {
    const { etag } = await files.read(capability, path);
    return files.replace(capability, path, Buffer.from('new'), { etag });
  },
  async remove(path) {
    const { etag } = await files.read(capability, path);
    return files.remove(capability, path, { etag });
  },
  makeDirectory: (path) => files.makeDirectory(capability, path),
  removeDirectory: (path) => files.removeDirectory(capability, path),
  rename: (path) => files.rename(capability, path, parseBeneathPath('moved')),
  recover: () => files.recover(capability),
  /** Opens the file until no descriptor is left, and says how the last attempt ended. */
  async exhaust(path) {
    const open = [];
    try {
      for (;;) open.push(await files.open(capability, path));
    } finally {
      for (const file of open) file[Symbol.dispose]();
    }
  },
};

const outcomes = [];
for (const [operation, path] of JSON.parse(steps)) {
  try {
    const result = await operations[operation](path === undefined ? undefined : parseBeneathPath(path));
    outcomes.push(operation === 'recover' ? `complete ${result.complete}` : 'ok');
  } catch (error) {
    outcomes.push(error.code);
  }
}
await capability[Symbol.asyncDispose]();
console.log(JSON.stringify(outcomes));
