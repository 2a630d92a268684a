import { type FileHandle, fileFacts, type NativeIdentity } from './binding.ts';
import { calling, callingNow } from './calling.ts';

/** Facts of a regular file at one moment. Times are nanoseconds since 1970. */
export interface FileVersion {
  readonly size: number;
  readonly modifiedNs: bigint;
  readonly changedNs: bigint;
  readonly inode: bigint;
  readonly device: bigint;
  readonly mode: number;
  readonly linkCount: number;
  /** 0n where the file system keeps no birth time. */
  readonly birthNs: bigint;
}

/** Names the slots of a `facts` array of the binding. */
export function versionOf(facts: BigInt64Array): FileVersion {
  const at = (index: number): bigint => facts[index] ?? 0n;
  return {
    size: Number(at(fileFacts.size)),
    modifiedNs: at(fileFacts.modifiedNs),
    changedNs: at(fileFacts.changedNs),
    inode: BigInt.asUintN(64, at(fileFacts.inode)),
    device: BigInt.asUintN(64, at(fileFacts.device)),
    mode: Number(at(fileFacts.mode)),
    linkCount: Number(at(fileFacts.linkCount)),
    birthNs: at(fileFacts.birthNs),
  };
}

/**
 * A regular file held open for reading: whatever happens to its names, this is the object that was opened. What is written to it
 * meanwhile is seen.
 */
export class NativeFile {
  readonly #handle: FileHandle;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Refuses new calls at once; the descriptor closes when running ones have ended. Harmless when repeated. */
  close(): void {
    this.#handle.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  identity(): NativeIdentity {
    return callingNow(() => this.#handle.identity());
  }

  version(): FileVersion {
    return callingNow(() => versionOf(this.#handle.facts()));
  }

  /** At most `length` bytes from `position`; fewer only where the file ended when the call began. */
  read(position: number, length: number): Promise<Uint8Array> {
    return calling(() => this.#handle.readAt(position, length));
  }
}
