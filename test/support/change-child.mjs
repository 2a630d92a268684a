// Changes files through the built package, for a test that kills or stops it. Argument: path of the addon's test build.
// Each message names a root, an operation and a fault; each is answered by the outcome and the system calls made.
import { createRequire } from 'node:module';
import { parseBeneathPath } from '../../dist/capability/beneath-path.js';
import { mintFileCapability } from '../../dist/capability/mint.js';
import { openHeldRoot } from '../../dist/capability/open-held-root.js';
import { createWorkspaceFiles } from '../../dist/files/create-workspace-files.js';
import { isAdministrativeName } from '../../dist/git/administrative-name.js';
import { gitDirectoryShape } from '../../dist/git/git-directory-shape.js';
import { createMutationGate } from '../../dist/mutation/gate.js';

const native = createRequire(import.meta.url)(process.argv[2]);
const gate = createMutationGate({ leases: null });
const files = createWorkspaceFiles({ gate });

process.on('message', async ({ root, operation, path, content, base, fault }) => {
  const held = await openHeldRoot(native, root, {
    allowMounts: false,
    confinement: { isClosedName: isAdministrativeName, closedShape: gitDirectoryShape, closedIdentities: [] },
  });
  const assertCurrent = async () => {
    if (!(await held.isInPlace())) throw new Error('the root moved');
  };
  const capability = mintFileCapability({ kind: 'workspace', gitBoundary: 'none', held, assertCurrent });
  // What happens once in the life of a process happens before the fault is armed.
  await held.exchangeSupport();
  await files.list(capability, null);
  const target = parseBeneathPath(path);
  const run = {
    replace: () => files.replace(capability, target, Buffer.from(content), base),
    create: () => files.create(capability, target, Buffer.from(content)),
    remove: () => files.remove(capability, target, base),
  }[operation];
  native.setFault(fault);
  let answer;
  try {
    answer = { code: 'ok', kept: (await run())?.kept ?? [] };
  } catch (error) {
    answer = { code: error.code, kept: error.details?.kept ?? [], details: error.details };
  }
  answer.trace = native.faultTrace();
  native.setFault(null);
  await capability[Symbol.asyncDispose]();
  process.send(answer);
});
process.send('ready');
