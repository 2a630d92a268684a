import type { BeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { type BasedChange, changeBased } from './based-change.ts';
import type { ChangeContext } from './operation.ts';
import type { BaseVersion, ChangeOptions } from './workspace-files.ts';

/** A removal compares content, so it reads the file whole; larger ones are refused rather than deleted unseen. */
const removalLimit = 256 * 1024 * 1024;

/** Removes exactly the version that the caller has seen; see `DirectoryHandle.remove`. */
export function removeFile(
  context: ChangeContext,
  capability: FileCapability,
  path: BeneathPath,
  base: BaseVersion,
  options: ChangeOptions,
): Promise<void> {
  const change: BasedChange<void> = {
    base,
    next: null,
    limit: removalLimit,
    commit: async (held, { reading, inode, device }, temporaryName) => {
      const request = { baseBytes: reading.bytes, baseInode: inode, baseDevice: device, temporaryName };
      const outcome = await held.directory.remove(path, request, held.guard);
      if (outcome.outcome === 'conflict') return { committed: false, kept: outcome.kept };
      return { committed: true, result: undefined };
    },
  };
  return changeBased(context, capability, path, change, options);
}
