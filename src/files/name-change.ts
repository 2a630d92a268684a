import type { BeneathPath } from '../capability/beneath-path.ts';
import { assertOpenNames } from '../capability/closed-names.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { linkRefusal } from '../capability/follow-links.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { parentOf } from '../capability/native-path.ts';
import { codeOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';
import { changeRefusal } from './change-refusal.ts';
import { type ChangeContext, fileKey, rootKey, underCapability, underGate } from './operation.ts';
import type { ChangeOptions } from './workspace-files.ts';

export interface NameChange {
  /** All paths whose names change; the last is the one that comes or goes. */
  readonly paths: readonly [BeneathPath, ...BeneathPath[]];
  /** Whether whole trees may move, so that such changes of one root go one after the other. */
  readonly movesTrees: boolean;
  /** A directory that must hold nothing; what dead transactions left in it is settled first, as it cannot be seen from outside. */
  readonly emptied?: BeneathPath;
}

/** Changes names that are not tied to a version of content: creation, renaming, directories. */
export function changeNames<Result>(
  context: ChangeContext,
  capability: FileCapability,
  { paths, movesTrees, emptied }: NameChange,
  options: ChangeOptions,
  change: (capability: FileCapability) => Promise<Result>,
): Promise<Result> {
  return underCapability(capability, async (retained) => {
    const { held } = retained;
    const last = paths.at(-1) as BeneathPath;
    for (const path of paths) assertOpenNames(path, held.confinement);
    for (const path of paths) await context.sweeper.sweep(retained, parentOf(path));
    if (emptied !== undefined) {
      context.sweeper.forget(held, emptied);
      await context.sweeper.sweep(retained, emptied);
    }
    const keys = paths.map((path) => fileKey(held, path));
    if (movesTrees) keys.unshift(rootKey(held));
    const guarded = async () => {
      try {
        return await change(retained);
      } catch (error) {
        if (codeOf(error) === 'EEXIST') throw await takenRefusal(held, last);
        throw await changeRefusal(held, last, error);
      }
    };
    return underGate(context, retained, keys, parentOf(last), () => undefined, guarded, options);
  });
}

/** The refusal where a name is taken: a link there is not written through, wherever it leads (R11). */
export async function takenRefusal(held: HeldRoot, path: string): Promise<AuthorityError> {
  const standing = await held.directory.stat(path, held.guard).catch(() => null);
  return standing?.type === 'symlink' ? linkRefusal(held, path) : new AuthorityError('already_exists');
}
