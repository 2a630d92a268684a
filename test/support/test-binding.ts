import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { TestBinding } from '../../src/native/binding.ts';

/** The test build of the addon: the one that the environment names, else the one that the set-up made. */
export const testAddonPath: string =
  process.env['WORKSPACE_AUTHORITY_ADDON'] ??
  join(import.meta.dirname, '../../build-test/Release/workspace_authority.node');

export const testBinding: TestBinding = createRequire(import.meta.url)(testAddonPath);

/** For a process that was bundled and no longer lies where the default is looked for. */
export const addonEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  WORKSPACE_AUTHORITY_ADDON: testAddonPath,
};
