import type { BeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { isAuthorityError } from '../errors/index.ts';
import { type BasedChange, changeBased } from './based-change.ts';
import type { ChangeContext } from './operation.ts';
import type { BaseVersion, ChangeOptions } from './workspace-files.ts';

/** A removal compares content, so it reads and hashes the file whole, on this thread; larger ones are refused rather than deleted unseen. */
const removalLimit = 64 * 1024 * 1024;

/**
 * Removes exactly the version that the caller has seen; see `DirectoryHandle.remove`. Files above the limit of content are removed one
 * after the other, so that many requests at once cannot take the memory of as many large files.
 */
export async function removeFile(
  context: ChangeContext,
  capability: FileCapability,
  path: BeneathPath,
  base: BaseVersion,
  options: ChangeOptions,
): Promise<void> {
  try {
    await removeUpTo(context.contentLimit, context, capability, path, base, options);
  } catch (error) {
    if (!isAuthorityError(error) || error.code !== 'file_too_large') throw error;
    const wait = options.signal === undefined ? {} : { signal: options.signal };
    const remove = () => removeUpTo(removalLimit, context, capability, path, base, options);
    await context.largeRemovals.run(['root:'], remove, wait);
  }
}

function removeUpTo(
  limit: number,
  context: ChangeContext,
  capability: FileCapability,
  path: BeneathPath,
  base: BaseVersion,
  options: ChangeOptions,
): Promise<void> {
  const change: BasedChange<void> = {
    base,
    next: null,
    limit,
    hashes: context.hashes.sourceFor(path),
    commit: async (held, { content, inode, device }, temporaryName) => {
      const request = { baseBytes: content.bytes, baseInode: inode, baseDevice: device, temporaryName };
      const outcome = await held.directory.remove(path, request, held.guard);
      if (outcome.outcome === 'conflict') return { committed: false, kept: outcome.kept };
      return { committed: true, result: undefined };
    },
  };
  return changeBased(context, capability, path, change, options);
}
