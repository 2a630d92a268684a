import type { BeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { changeNames } from './name-change.ts';
import type { ChangeContext } from './operation.ts';
import type { ChangeOptions } from './workspace-files.ts';

/** As mkdir(1): everything, less the process's umask. */
const newDirectoryMode = 0o777;

export function makeDirectory(
  context: ChangeContext,
  capability: FileCapability,
  path: BeneathPath,
  options: ChangeOptions,
): Promise<void> {
  return changeNames(context, capability, { paths: [path], movesTrees: false }, options, async (retained) => {
    const { held } = retained;
    await retained.assertCurrent(options.signal);
    await held.directory.makeDirectory(path, newDirectoryMode, held.guard);
  });
}
