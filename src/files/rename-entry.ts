import type { BeneathPath } from '../capability/beneath-path.ts';
import { isClosed } from '../capability/closed-names.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { linkRefusal } from '../capability/follow-links.ts';
import type { NativeEntry, NativePath } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { displayPath, joinPath, parentOf } from '../capability/native-path.ts';
import { codeOf } from '../capability/refusal.ts';
import { isReservedName } from '../capability/transaction-name.ts';
import { AuthorityError } from '../errors/index.ts';
import { entriesOf } from './directory-entries.ts';
import { changeNames } from './name-change.ts';
import type { ChangeContext } from './operation.ts';
import type { ChangeOptions } from './workspace-files.ts';

/** A larger tree is not proven free of closed directories, so it is not moved. */
const directoryLimit = 50_000;

/** Moves one entry, never over another. A directory that is or contains anything closed stays where it is (R12). */
export async function renameEntry(
  context: ChangeContext,
  capability: FileCapability,
  from: BeneathPath,
  to: BeneathPath,
  options: ChangeOptions,
): Promise<void> {
  if (to.startsWith(`${from}/`)) {
    throw new AuthorityError('invalid_path', { details: { reason: 'a directory cannot move into itself' } });
  }
  return changeNames(
    context,
    capability,
    { paths: [from, to], movesTrees: true },
    options,
    async (retained) => {
      const { held } = retained;
      const entry = await statSource(held, from);
      if (entry.type === 'directory') await assertHoldsNothingClosed(held, from);
      await retained.assertCurrent(options.signal);
      await held.directory.renameNoReplace(from, to, held.guard);
    },
  );
}

async function statSource(held: HeldRoot, from: BeneathPath): Promise<NativeEntry> {
  try {
    return await held.directory.stat(from, held.guard);
  } catch (error) {
    // A link as the last component is moved itself, so this one is on the way.
    if (codeOf(error) === 'ELOOP') throw await linkRefusal(held, parentOf(from));
    throw error;
  }
}

/** @throws `administrative_path` */
async function assertHoldsNothingClosed(held: HeldRoot, top: BeneathPath): Promise<void> {
  const directories: NativePath[] = [top];
  for (const directory of directories) {
    for await (const { raw, isDirectory, closed } of entriesOf(held, directory)) {
      const name = displayPath(raw);
      if (closed || (isClosed(name, held.confinement) && !isReservedName(name))) {
        throw new AuthorityError('administrative_path');
      }
      if (isDirectory) directories.push(joinPath(directory, raw));
    }
    if (directories.length > directoryLimit) {
      throw new AuthorityError('administrative_path', {
        details: { reason: 'too many directories to examine' },
      });
    }
  }
}
