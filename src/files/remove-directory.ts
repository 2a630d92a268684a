import type { BeneathPath } from '../capability/beneath-path.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { linkRefusal } from '../capability/follow-links.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { codeOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';
import { changeNames } from './name-change.ts';
import type { ChangeContext } from './operation.ts';
import type { ChangeOptions } from './workspace-files.ts';

/** Removes a directory that is empty but for what dead transactions left in it. */
export function removeDirectory(
  context: ChangeContext,
  capability: FileCapability,
  path: BeneathPath,
  options: ChangeOptions,
): Promise<void> {
  return changeNames(
    context,
    capability,
    { paths: [path], movesTrees: true, emptied: path } as const,
    options,
    async (retained) => {
      const { held } = retained;
      await assertDirectory(held, path);
      await retained.assertCurrent(options.signal);
      try {
        await held.directory.removeDirectory(path, held.guard);
      } catch (error) {
        if (codeOf(error) === 'ENOTEMPTY' || codeOf(error) === 'EEXIST') {
          throw new AuthorityError('directory_not_empty', { cause: error });
        }
        throw error;
      }
    },
  );
}

/** @throws `not_directory`, or the refusal of a link */
async function assertDirectory(held: HeldRoot, path: BeneathPath): Promise<void> {
  const { type } = await held.directory.stat(path, held.guard);
  if (type === 'symlink') throw await linkRefusal(held, path);
  if (type !== 'directory') throw new AuthorityError('not_directory');
}
