import type { BeneathPath } from '../capability/beneath-path.ts';
import { assertOpenNames } from '../capability/closed-names.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { nameOf, parentOf } from '../capability/native-path.ts';
import { codeOf } from '../capability/refusal.ts';
import {
  assertCurrentBase,
  assertNamesVersion,
  isCurrentBase,
  nothingStanding,
  staleBase,
} from './base-version.ts';
import { changeRefusal } from './change-refusal.ts';
import type { HashSource } from './content-version.ts';
import { type CurrentContent, readCurrent, readExpected, readStanding } from './current-content.ts';
import { type ChangeContext, fileKey, underCapability, underGate } from './operation.ts';
import type { BaseVersion, ChangeOptions, FileReading } from './workspace-files.ts';

export interface BasedChange<Result> {
  readonly base: BaseVersion;
  /** New content; null for a removal. */
  readonly next: Uint8Array | null;
  /** Bytes of the current content at most. */
  readonly limit: number;
  readonly hashes: HashSource;
  /** The native transaction; null means that it met another version and changed nothing. */
  readonly commit: (
    held: HeldRoot,
    current: CurrentContent,
    temporaryName: string,
  ) => Promise<CommitOutcome<Result>>;
}

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
    await context.sweeper.sweep(retained, parent);
    const isBase = (reading: FileReading) => isCurrentBase(change.base, reading);
    const look = () => readExpected(held, path, change, isBase);
    const commit = async (expected: CurrentContent | undefined) => {
      const current = expected ?? (await readCurrent(held, path, change));
      assertNamesVersion(change.base);
      assertCurrentBase(change.base, current.reading);
      // In this order: the new content takes the place of the base among the remembered hashes.
      const base = current.reading.hashes.contentDigest;
      const next = change.next === null ? null : change.hashes(change.next).contentDigest;
      return context.transactions.run(nameOf(path), { base, next }, async (temporaryName) => {
        if (expected === undefined) await retained.assertCurrent(options.signal);
        return commitOrConflict(held, path, change, current, temporaryName);
      });
    };
    return underGate(context, retained, [fileKey(held, path)], parent, look, commit, options);
  });
}

async function commitOrConflict<Result>(
  held: HeldRoot,
  path: string,
  change: BasedChange<Result>,
  current: CurrentContent,
  temporaryName: string,
): Promise<Result> {
  let outcome: CommitOutcome<Result>;
  try {
    outcome = await change.commit(held, current, temporaryName);
  } catch (error) {
    // The file was there a moment ago: its parent went away.
    if (codeOf(error) === 'ENOENT') throw staleBase(change.base, nothingStanding, []);
    throw await changeRefusal(held, path, error);
  }
  if (outcome.committed) return outcome.result;
  throw staleBase(change.base, await readStanding(held, path, change), outcome.kept);
}
