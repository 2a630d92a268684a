import type { BeneathPath } from '../capability/beneath-path.ts';
import { assertOpenNames } from '../capability/closed-names.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import { emptyFacts, sizeOf } from '../capability/file-facts.ts';
import { followLinksToFile } from '../capability/follow-links.ts';
import { assertMinted } from '../capability/minted-capability.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';
import { ContentReading, type HashSource } from './content-version.ts';
import type { HashCache } from './hash-cache.ts';
import { assertInPlace, underCapability } from './operation.ts';
import type { FileReading } from './workspace-files.ts';

/** Filled and read again within one synchronous step, so all reads of a thread can share it. */
const warmFacts = emptyFacts();

/**
 * Reads on this very thread when the kernel has everything in memory: most reads end here, at a tenth of the cost of a hop to the
 * pool. There is no wait between the caller's authorisation and the bytes, so none is proven again.
 */
export async function readFile(
  capability: FileCapability,
  path: BeneathPath,
  limit: number,
  hashes: HashCache,
): Promise<FileReading> {
  assertMinted(capability);
  const { directory, guard, confinement } = capability.held;
  assertOpenNames(path, confinement);
  const source = hashes.sourceFor(path);
  try {
    const bytes = directory.readCached(path, limit, warmFacts, guard);
    if (bytes !== undefined) return new ContentReading(bytes, warmFacts, source);
  } catch (error) {
    if (codeOf(error) !== 'ELOOP') throw readRefusal(error, warmFacts, limit);
  }
  return readWaiting(capability, path, limit, source);
}

function readWaiting(
  capability: FileCapability,
  path: BeneathPath,
  limit: number,
  source: HashSource,
): Promise<FileReading> {
  return underCapability(capability, async ({ held }) => {
    const facts = emptyFacts();
    try {
      const bytes = await followLinksToFile(held, path, (canonical) =>
        held.directory.read(canonical, limit, facts, held.guard),
      );
      await assertInPlace(held);
      return new ContentReading(bytes, facts, source);
    } catch (error) {
      throw readRefusal(error, facts, limit);
    }
  });
}

function readRefusal(error: unknown, facts: BigInt64Array, limit: number): AuthorityError {
  if (codeOf(error) !== 'EFBIG') return refusalOf(error);
  return new AuthorityError('file_too_large', { details: { size: sizeOf(facts), limit }, cause: error });
}
