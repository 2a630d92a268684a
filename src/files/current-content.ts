import { deviceOf, emptyFacts, inodeOf, sizeOf } from '../capability/file-facts.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { codeOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';
import { nothingStanding, type StandingVersion } from './base-version.ts';
import { changeRefusal } from './change-refusal.ts';
import type { ContentHashes, HashSource } from './content-version.ts';

/** The regular file that a change starts from: one content of one inode. */
export interface CurrentContent {
  readonly content: ContentHashes;
  readonly inode: bigint;
  readonly device: bigint;
}

export interface ReadingOptions {
  /** Bytes. */
  readonly limit: number;
  readonly hashes: HashSource;
}

/**
 * The content when it can be had without waiting; undefined otherwise. It may be torn by a save in progress: whoever uses it compares it
 * with what was expected, and what is expected is whole.
 */
export function readUnsettled(
  held: HeldRoot,
  path: string,
  { limit, hashes }: ReadingOptions,
): CurrentContent | undefined {
  const facts = emptyFacts();
  try {
    const bytes = held.directory.readCached(path, limit, facts, held.guard, true);
    return bytes === undefined ? undefined : currentContent(hashes(bytes), facts);
  } catch {
    // Whoever reads it in full meets the same failure, and reports it.
    return undefined;
  }
}

/**
 * Reads a file without following any link.
 * @throws `symlink_not_writable` | `path_outside_workspace` | `administrative_path` | `not_found` | `not_regular_file` | `file_too_large` | ...
 */
export async function readCurrent(
  held: HeldRoot,
  path: string,
  { limit, hashes }: ReadingOptions,
): Promise<CurrentContent> {
  const { directory, guard } = held;
  const facts = emptyFacts();
  try {
    const bytes =
      directory.readCached(path, limit, facts, guard) ?? (await directory.read(path, limit, facts, guard));
    return currentContent(hashes(bytes), facts);
  } catch (error) {
    if (codeOf(error) === 'EFBIG') {
      throw new AuthorityError('file_too_large', { details: { size: sizeOf(facts), limit }, cause: error });
    }
    throw await changeRefusal(held, path, error);
  }
}

function currentContent(content: ContentHashes, facts: BigInt64Array): CurrentContent {
  return { content, inode: inodeOf(facts), device: deviceOf(facts) };
}

/** What to tell a caller whose base is stale. Never throws: the conflict is the answer, also where nothing readable stands. */
export async function readStanding(
  held: HeldRoot,
  path: string,
  options: ReadingOptions,
): Promise<StandingVersion> {
  try {
    return (await readCurrent(held, path, options)).content;
  } catch (error) {
    const size = error instanceof AuthorityError ? error.details['size'] : undefined;
    return typeof size === 'number' ? { ...nothingStanding, size } : nothingStanding;
  }
}
