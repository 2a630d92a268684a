import type { BeneathPath } from '../capability/beneath-path.ts';
import { isClosed } from '../capability/closed-names.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { followLinks } from '../capability/follow-links.ts';
import type { NativeListing } from '../capability/handles.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { rootPath } from '../capability/native-path.ts';
import { codeOf } from '../capability/refusal.ts';
import { parseTransactionName } from '../capability/transaction-name.ts';
import { AuthorityError } from '../errors/index.ts';
import { cursorAfter, parseCursor } from './list-cursor.ts';
import { type ListedNames, readNames } from './listed-names.ts';
import { assertInPlace, underCapability } from './operation.ts';
import type { Sweeper } from './sweeper.ts';
import type { ListedEntry, Listing } from './workspace-files.ts';

export interface ListRequest {
  readonly cursor?: string;
  readonly limit?: number;
}

const defaultLimit = 1000;
/** What one answer can carry without holding the thread for more than some milliseconds. */
const highestLimit = 10_000;
const entryTypes = ['file', 'directory', 'symlink', 'other'] as const;
const linkTargets = [null, 'inside', 'outside', 'broken'] as const;
const nanosecondsPerMillisecond = 1e6;
const executeBits = 0o111;

/**
 * Leaves out what is closed, by name or by the guard, and what transactions own; so a page may hold fewer entries than asked for, but
 * an empty one is the end.
 */
export function listDirectory(
  capability: FileCapability,
  path: BeneathPath | null,
  request: ListRequest,
  sweeper: Sweeper,
): Promise<Listing> {
  return underCapability(capability, async (retained) => {
    const { held } = retained;
    const limit = parseLimit(request.limit);
    const directory = path ?? rootPath;
    let after = request.cursor === undefined ? undefined : parseCursor(request.cursor);
    await sweeper.sweep(retained, directory);
    for (;;) {
      const listing = await listPage(held, directory, limit, after);
      await assertInPlace(held);
      const names = readNames(listing.names);
      const entries = readEntries(listing, names, held);
      if (names.decoded.some(isLeftover)) sweeper.forget(held, directory);
      const more = listing.more && names.last !== null;
      if (entries.length > 0 || !more) {
        return { entries, cursor: more ? cursorAfter(names.last as Uint8Array) : null };
      }
      after = names.last as Uint8Array;
    }
  });
}

function parseLimit(limit: number = defaultLimit): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > highestLimit) {
    throw new AuthorityError('invalid_request', { details: { field: 'limit', highest: highestLimit } });
  }
  return limit;
}

function listPage(
  held: HeldRoot,
  path: BeneathPath | typeof rootPath,
  limit: number,
  after: Uint8Array | undefined,
): Promise<NativeListing> {
  const options = { rootPath: held.path, limit, ...(after === undefined ? {} : { after }) };
  return followLinks(held, path, async (canonical) => {
    try {
      return await held.directory.list(canonical, options, held.guard);
    } catch (error) {
      if (codeOf(error) !== 'ENOTDIR') throw error;
      // Says only that some component is no directory. Where the path exists, it was the last one; else this throws.
      await held.directory.stat(canonical, held.guard);
      throw new AuthorityError('not_directory', { cause: error });
    }
  });
}

function readEntries(listing: NativeListing, names: ListedNames, held: HeldRoot): ListedEntry[] {
  const { types, links, closed, sizes, modifiedNs, modes } = listing;
  const entries: ListedEntry[] = [];
  for (let index = 0; index < names.decoded.length; index += 1) {
    const name = names.decoded[index] as string;
    if (closed[index] === 1 || isClosed(name, held.confinement)) continue;
    const undecodable = names.isUndecodable(index);
    const type = entryTypes[types[index] as number] ?? 'other';
    entries.push({
      name: undecodable ? null : name,
      undecodable,
      type,
      size: sizes[index] as number,
      modifiedMs: Number(modifiedNs[index]) / nanosecondsPerMillisecond,
      executable: type === 'file' && ((modes[index] as number) & executeBits) !== 0,
      linkTarget: linkTargets[links[index] as number] ?? null,
    });
  }
  return entries;
}

function isLeftover(name: string): boolean {
  return name.startsWith('.wa-') && parseTransactionName(name) !== null;
}
