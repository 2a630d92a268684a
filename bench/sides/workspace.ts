import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createService, type FileCapability, type Service } from 'workspace-authority';
import type { Cleanup } from '../harness/cleanup.ts';
import { makeScratch } from './scratch.ts';

/** Our side: a service over one registered directory, set up as an embedding program would. */
export interface OpenWorkspace {
  readonly service: Service;
  readonly capability: FileCapability;
  /** Canonical path of the registered directory. */
  readonly root: string;
}

/** `fill` puts files below the root before it is registered. */
export async function openWorkspace(
  cleanup: Cleanup,
  fill: (root: string) => Promise<unknown>,
): Promise<OpenWorkspace> {
  const scratch = await makeScratch(cleanup);
  const root = join(scratch, 'workspace');
  await mkdir(root);
  await fill(root);
  const service = cleanup.use(await createService({ stateDirectory: join(scratch, 'state') }));
  if (service.workspaces === null) throw new Error('the embedded registry is missing');
  await service.workspaces.add(root);
  const capability = cleanup.use(await service.authority.authorize(root));
  return { service, capability, root };
}
