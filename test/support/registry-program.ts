import { openStateDirectory } from '../../src/capability/state-directory.ts';
import { isAuthorityError } from '../../src/errors/index.ts';
import { createMutationGate } from '../../src/mutation/gate.ts';
import { Leases } from '../../src/mutation/leases.ts';
import { openFileRegistry } from '../../src/registry/file-registry.ts';
import { testBinding } from './test-binding.ts';

/**
 * A process that uses the registry of a state directory: registry-program <state directory> list | add <prefix> <count>. It prints
 * one JSON line: the paths it lists, the number of rows it added, or the code and details it was refused with.
 */
const [path, verb, prefix, count] = process.argv.slice(2) as [string, string, string, string];
const identity = { inode: '1', fileSystemId: '1', handle: '1:00', birthTimeNs: null };

try {
  const state = await openStateDirectory(path, testBinding);
  const gate = createMutationGate({ leases: await Leases.open(state) });
  const registry = await openFileRegistry(state, gate);
  if (verb === 'list') {
    answer((await registry.list()).map((row) => row.path));
  } else {
    for (let index = 0; index < Number(count); index += 1) {
      const row = {
        path: `${prefix}/${index}`,
        title: null,
        identity,
        gitDirIdentity: null,
        allowMounts: false,
      };
      await registry.add(row);
      process.send?.(row.path);
    }
    answer(Number(count));
  }
  await gate.close();
  state.close();
} catch (error) {
  if (!isAuthorityError(error)) throw error;
  answer({ code: error.code, details: error.details });
}
// The parent's channel would keep the process alive.
process.disconnect?.();

function answer(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
