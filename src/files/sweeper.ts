import type { FileCapability } from '../capability/file-capability.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { recoverDirectory } from './recover-directory.ts';
import type { RecoveryContext } from './recovery.ts';

/** Forgetting a directory only means that it is looked at once more. */
const capacity = 10_000;
/** A listing is not worth a longer wait; what is left is found by the next sweep or by `recover`. */
const longestWaitMs = 2000;

/**
 * Clears what dead processes left in a directory when this process first lists it or changes something in it (decisions 3). Best effort:
 * an operation never fails because of it.
 */
export class Sweeper {
  readonly #context: RecoveryContext;
  readonly #swept = new Map<string, Promise<void>>();

  constructor(context: RecoveryContext) {
    this.#context = context;
  }

  sweep(capability: FileCapability, directory: string): Promise<void> {
    const key = keyOf(capability.held, directory);
    const known = this.#swept.get(key);
    if (known !== undefined) return known;
    const oldest = this.#swept.keys().next().value;
    if (this.#swept.size >= capacity && oldest !== undefined) this.#swept.delete(oldest);
    const sweeping = this.#sweepNow(capability, directory);
    this.#swept.set(key, sweeping);
    return sweeping;
  }

  /** Something that looks like a leftover was seen there since. */
  forget(held: HeldRoot, directory: string): void {
    this.#swept.delete(keyOf(held, directory));
  }

  async #sweepNow(capability: FileCapability, directory: string): Promise<void> {
    try {
      await recoverDirectory(this.#context, capability, directory, { dryRun: false, waitMs: longestWaitMs });
    } catch {
      // The operation that follows meets the same obstacle, if it is one, and reports it.
      this.forget(capability.held, directory);
    }
  }
}

function keyOf({ identity }: HeldRoot, directory: string): string {
  return `${identity.device}:${identity.inode}:${directory}`;
}
