import type { BeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { nameOf } from '../capability/native-path.ts';
import { ContentHashes, versionOfHashes } from './content-version.ts';
import { changeNames, takenRefusal } from './name-change.ts';
import { assertContentFits, type ChangeContext } from './operation.ts';
import type { ChangeOptions, FileVersion } from './workspace-files.ts';

/** As open(2) users expect: readable and writable for all, less the process's umask. */
const newFileMode = 0o666;

/** Writes the whole content under a temporary name, then takes the name if it is free (RENAME_NOREPLACE). */
export async function createFile(
  context: ChangeContext,
  capability: FileCapability,
  path: BeneathPath,
  bytes: Uint8Array,
  options: ChangeOptions,
): Promise<FileVersion> {
  assertContentFits(context, bytes);
  return changeNames(context, capability, { paths: [path], movesTrees: false }, options, async (retained) => {
    const { held } = retained;
    const hashes = new ContentHashes(bytes);
    const content = { base: null, next: hashes.contentDigest };
    return context.transactions.run(nameOf(path), content, async (temporaryName) => {
      await retained.assertCurrent(options.signal);
      const request = { bytes, mode: newFileMode, temporaryName };
      const { outcome } = await held.directory.create(path, request, held.guard);
      if (outcome === 'exists') throw await takenRefusal(held, path);
      return versionOfHashes(hashes);
    });
  });
}
