import type { BeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { type BasedChange, changeBased } from './based-change.ts';
import { versionOfHashes } from './content-version.ts';
import { assertContentFits, type ChangeContext, fileKey } from './operation.ts';
import type { BaseVersion, ChangeOptions, Committed } from './workspace-files.ts';

/** Replaces by atomic exchange (R14); see `DirectoryHandle.replace` for what happens at the commit point. */
export async function replaceFile(
  context: ChangeContext,
  capability: FileCapability,
  path: BeneathPath,
  bytes: Uint8Array,
  base: BaseVersion,
  options: ChangeOptions,
): Promise<Committed> {
  assertContentFits(context, bytes);
  const hashes = context.hashes.sourceFor(path);
  const change = {
    base,
    next: bytes,
    limit: context.contentLimit,
    hashes,
    commit: async (held, { content, inode, device }, temporaryName) => {
      const request = {
        bytes,
        baseBytes: content.bytes,
        baseInode: inode,
        baseDevice: device,
        temporaryName,
      };
      const replacing = held.directory.replace(path, request, held.guard);
      // While the writer thread works.
      const next = hashes(bytes);
      const version = versionOfHashes(next);
      const outcome = await replacing;
      if (outcome.outcome === 'conflict') return { committed: false, kept: outcome.kept };
      context.lastCommits.remember(fileKey(held, path), next, outcome.facts);
      held.noteOpenWriterCheck(outcome.leaseChecked);
      return { committed: true, result: { ...version, kept: outcome.kept } };
    },
  } satisfies BasedChange<Committed>;
  return changeBased(context, capability, path, change, options);
}
