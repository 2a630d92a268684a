import type { NativePath } from '../capability/handles.ts';
import { findLeftovers } from './leftover.ts';
import { recoverProbe } from './recover-probe.ts';
import { recoverTemporary } from './recover-temporary.ts';
import type {
  RecoverableRoot,
  RecoverDirectoryOptions,
  RecoveryContext,
  RecoveryResult,
} from './recovery.ts';
import type { RecoveredFile } from './workspace-files.ts';

export interface DirectoryRecovery {
  readonly actions: readonly RecoveredFile[];
  /** False when something is left that nobody owns and that could be neither finished nor undone. */
  readonly settled: boolean;
  /** Raw names. */
  readonly subdirectories: readonly NativePath[];
}

/**
 * Finishes or undoes what dead processes left in one directory.
 * @throws errno of the listing | what `FileCapability.assertCurrent` throws | `aborted`
 */
export async function recoverDirectory(
  context: RecoveryContext,
  capability: RecoverableRoot,
  directory: NativePath,
  options: RecoverDirectoryOptions,
): Promise<DirectoryRecovery> {
  const { leftovers, probes, subdirectories } = await findLeftovers(capability.held, directory);
  const results: (RecoveryResult | null)[] = [];
  for (const leftover of leftovers) {
    results.push(await recoverTemporary(context, capability, leftover, options));
  }
  for (const probe of probes) {
    results.push(await recoverProbe(context, capability, directory, probe, options));
  }
  const found = results.filter((result) => result !== null);
  return {
    actions: found.map(({ file }) => file),
    settled: found.every(({ settled }) => settled),
    subdirectories,
  };
}
