import type { BeneathPath } from '../capability/beneath-path.ts';
import { assertOpenNames } from '../capability/closed-names.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { nameOf, parentOf } from '../capability/native-path.ts';
import { codeOf } from '../capability/refusal.ts';
import { assertCurrentBase, assertNamesVersion, isCurrentBase, staleBase } from './base-version.ts';
import { changeRefusal } from './change-refusal.ts';
import type { HashSource } from './content-version.ts';
import { type CurrentContent, readCurrent, readStanding, readUnsettled } from './current-content.ts';
import { type ChangeContext, fileKey, underCapability, underGate } from './operation.ts';
import type { BaseVersion, ChangeOptions } from './workspace-files.ts';

export interface BasedChange<Result> {
  readonly base: BaseVersion;
  /** New content; null for a removal. */
  readonly next: Uint8Array | null;
  /** Bytes of the current content at most. */
  readonly limit: number;
  readonly hashes: HashSource;
  /** The native transaction, which compares what it meets with `current`. */
  readonly commit: (
    held: HeldRoot,
    current: CurrentContent,
    temporaryName: string,
  ) => Promise<CommitOutcome<Result>>;
}

/** Not committed: it met another version and changed nothing. */
type CommitOutcome<Result> =
  | { readonly committed: true; readonly result: Result }
  | { readonly committed: false; readonly kept: readonly string[] };

/**
 * Changes a file that the caller has seen (R13): when it is its turn, reads what stands there, compares it with the base, and commits.
 * The capability is proven after each wait and immediately before the commit. The path is judged before the base is.
 */
export function changeBased<Result>(
  context: ChangeContext,
  capability: FileCapability,
  path: BeneathPath,
  change: BasedChange<Result>,
  options: ChangeOptions,
): Promise<Result> {
  return underCapability(capability, async (retained) => {
    const { held } = retained;
    assertOpenNames(path, held.confinement);
    const parent = parentOf(path);
    const key = fileKey(held, path);
    await context.sweeper.sweep(retained, parent);

    const asExpected = (current: CurrentContent | undefined) =>
      current !== undefined && isCurrentBase(change.base, current.content) ? current : undefined;
    const expect = () =>
      asExpected(context.lastCommits.find(key)) ?? asExpected(readUnsettled(held, path, change));

    const transact = (current: CurrentContent, isProven: boolean) => {
      // In this order: the new content takes the place of the base among the remembered hashes.
      const base = current.content.contentDigest;
      const next = change.next === null ? null : change.hashes(change.next).contentDigest;
      return context.transactions.run(nameOf(path), { base, next }, async (temporaryName) => {
        if (!isProven) await retained.assertCurrent(options.signal);
        return commitTo(held, path, change, current, temporaryName);
      });
    };

    const commit = async (expected: CurrentContent | undefined): Promise<Result> => {
      const current = expected ?? (await readCurrent(held, path, change));
      assertNamesVersion(change.base);
      assertCurrentBase(change.base, current.content);
      const outcome = await transact(current, expected !== undefined);
      if (outcome.committed) return outcome.result;
      // The same content may stand there in another file, or the path may lead elsewhere by now.
      if (expected !== undefined && outcome.kept.length === 0) return commit(undefined);
      throw staleBase(change.base, await readStanding(held, path, change), outcome.kept);
    };
    return underGate(context, retained, [key], parent, expect, commit, options);
  });
}

async function commitTo<Result>(
  held: HeldRoot,
  path: string,
  change: BasedChange<Result>,
  current: CurrentContent,
  temporaryName: string,
): Promise<CommitOutcome<Result>> {
  try {
    return await change.commit(held, current, temporaryName);
  } catch (error) {
    // The file was there a moment ago: its parent went away.
    if (codeOf(error) === 'ENOENT') return { committed: false, kept: [] };
    throw await changeRefusal(held, path, error);
  }
}
