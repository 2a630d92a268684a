import { emptyFacts } from '../capability/file-facts.ts';
import { type DirectoryHandle, fileFacts, type NativeEntry } from '../capability/handles.ts';

/**
 * The facts of an entry that change when it does. Any change of content, owner or mode moves `changedNs` (inode(7)), except a store through
 * a shared mapping of a page that was dirty already (mmap(2)).
 */
export interface Stamp {
  readonly device: bigint;
  readonly inode: bigint;
  readonly size: bigint;
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
  readonly mode: bigint;
  /**
   * Whether the last change was old enough when the entry was looked at that a later one cannot carry the same time. Until then
   * an equal stamp proves nothing.
   */
  readonly settled: boolean;
}

/** Coarsest clock of a file system in use: FAT keeps times in steps of two seconds; kernels before 6.13 tick every 1 to 10 ms. */
const coarsestTickNs = 2_000_000_000n;

/**
 * The stamp of what stands under a path, as the kernel has it in memory; null where nothing does, undefined where it would have to wait.
 * @throws errno
 */
export function recallStamp(
  directory: DirectoryHandle,
  path: string,
  lookedAtMs: number,
): Stamp | null | undefined {
  const found = directory.factsCached(path, scratch, true);
  if (found === null) return null;
  return found ? stampOfFacts(scratch, lookedAtMs) : undefined;
}

/** The same, waiting where it must; that nothing stands there is an ENOENT then. @throws errno */
export function lookAtStamp(
  directory: DirectoryHandle,
  path: string,
  lookedAtMs: number,
): Stamp | null | Promise<Stamp> {
  const known = recallStamp(directory, path, lookedAtMs);
  if (known !== undefined) return known;
  return directory.stat(path, null).then((entry) => stampOfEntry(entry, lookedAtMs));
}

/** Reused: nothing waits between filling and reading it. */
const scratch = emptyFacts();

/** `lookedAtMs` is the wall clock before the facts were asked for. */
export function stampOfFacts(facts: BigInt64Array, lookedAtMs: number): Stamp {
  return settle(
    {
      device: facts[fileFacts.device] as bigint,
      inode: facts[fileFacts.inode] as bigint,
      size: facts[fileFacts.size] as bigint,
      modifiedNs: facts[fileFacts.modifiedNs] as bigint,
      changedNs: facts[fileFacts.changedNs] as bigint,
      mode: facts[fileFacts.mode] as bigint,
    },
    lookedAtMs,
  );
}

export function stampOfEntry(entry: NativeEntry, lookedAtMs: number): Stamp {
  const { device, inode, modifiedNs, changedNs } = entry;
  const numbers = { size: BigInt(entry.size), mode: BigInt(entry.mode) };
  return settle({ device, inode, modifiedNs, changedNs, ...numbers }, lookedAtMs);
}

export function hasStamp(facts: BigInt64Array, stamp: Stamp): boolean {
  return (
    facts[fileFacts.changedNs] === stamp.changedNs &&
    facts[fileFacts.modifiedNs] === stamp.modifiedNs &&
    facts[fileFacts.size] === stamp.size &&
    isSameObject(facts, stamp)
  );
}

/** Whether it is the same inode with the same type and permissions, whatever its content. */
export function isSameObject(facts: BigInt64Array, stamp: Stamp): boolean {
  return (
    facts[fileFacts.inode] === stamp.inode &&
    facts[fileFacts.device] === stamp.device &&
    facts[fileFacts.mode] === stamp.mode
  );
}

function settle(stamp: Omit<Stamp, 'settled'>, lookedAtMs: number): Stamp {
  return { ...stamp, settled: BigInt(lookedAtMs) * 1_000_000n - stamp.changedNs > coarsestTickNs };
}
