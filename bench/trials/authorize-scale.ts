import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createService } from 'workspace-authority';
import type { Cleanup } from '../harness/cleanup.ts';
import { withCleanup } from '../harness/cleanup.ts';
import { oneAtATime } from '../harness/timing.ts';
import type { Contest, Side } from '../harness/trial.ts';
import { makeScratch } from '../sides/scratch.ts';
import { settle } from '../sides/settle.ts';

/** Our side has the large registry, the other side is the same code with a small one. */
export async function prepare(cleanup: Cleanup): Promise<Contest> {
  const contest = { ours: await registryOf(cleanup, 10_000), theirs: await registryOf(cleanup, 10) };
  await settle();
  return contest;
}

async function registryOf(cleanup: Cleanup, rows: number): Promise<Side> {
  const scratch = await makeScratch(cleanup);
  const [root, state] = [join(scratch, 'workspace'), join(scratch, 'state')];
  await mkdir(root);
  await register(root, state);
  await multiplyRows(join(state, 'registry.json'), rows);
  const service = cleanup.use(await createService({ stateDirectory: state }));

  async function authorize(): Promise<string> {
    await using capability = await service.authority.authorize(root);
    return capability.root;
  }
  return {
    sample: oneAtATime(authorize),
    async verify() {
      assert.equal(await authorize(), root);
      assert.equal((await service.workspaces?.list())?.length, rows);
    },
  };
}

function register(root: string, state: string): Promise<unknown> {
  return withCleanup(async (cleanup) => {
    const service = cleanup.use(await createService({ stateDirectory: state }));
    return service.workspaces?.add(root);
  });
}

/** Ten thousand proofs would take long; rows of directories that are gone since cost the lookup just as much. */
async function multiplyRows(registryPath: string, rows: number): Promise<void> {
  const registry = JSON.parse(await readFile(registryPath, 'utf8'));
  const [row] = registry.workspaces;
  for (let index = 1; index < rows; index += 1) {
    registry.workspaces.push({ ...row, id: `${row.id.slice(0, 50)}-${index}`, path: `${row.path}-${index}` });
  }
  await writeFile(registryPath, JSON.stringify(registry));
}
