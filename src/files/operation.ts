import { assertExchange } from '../capability/exchange-support.ts';
import type { FileCapability } from '../capability/file-capability.ts';
import type { HeldRoot } from '../capability/held-root.ts';
import { assertMinted } from '../capability/minted-capability.ts';
import { refusalOf } from '../capability/refusal.ts';
import type { Transactions } from '../capability/transaction-name.ts';
import { AuthorityError } from '../errors/index.ts';
import type { GateKey, MutationGate } from '../mutation/mutation-gate.ts';
import type { HashCache } from './hash-cache.ts';
import type { LastCommits } from './last-commits.ts';
import type { Sweeper } from './sweeper.ts';
import type { ChangeOptions } from './workspace-files.ts';

/** What all changes share. */
export interface ChangeContext {
  readonly gate: MutationGate;
  readonly transactions: Transactions;
  readonly sweeper: Sweeper;
  readonly hashes: HashCache;
  readonly lastCommits: LastCommits;
  /** Bytes of content that a file may have before and after a change. */
  readonly contentLimit: number;
  /** Of this process only, and taken before `gate`. */
  readonly largeRemovals: MutationGate;
}

/**
 * Runs an operation that waits, with a reference of its own, so that a caller who disposes the capability meanwhile does not pull the
 * root away. Whatever is thrown becomes an `AuthorityError`.
 */
export async function underCapability<Result>(
  capability: FileCapability,
  run: (capability: FileCapability) => Promise<Result>,
): Promise<Result> {
  assertMinted(capability);
  const retained = capability.retain();
  try {
    return await run(retained);
  } catch (error) {
    throw refusalOf(error);
  } finally {
    await retained[Symbol.asyncDispose]();
  }
}

/** After a wait of a read: what was read must not come from a root that has lost its name (R05, R06). @throws `identity_changed` */
export async function assertInPlace(held: HeldRoot): Promise<void> {
  if (!(await held.isInPlace())) throw new AuthorityError('identity_changed', { details: { what: 'root' } });
}

/**
 * Runs a change when its paths are free. The capability is proven again after the wait; the change itself proves it once more right
 * before its commit point, unless it has not waited since. `look`, which must not wait, comes before that proof: what it gives may be
 * used, as the proof that follows covers it.
 */
export async function underGate<Result, Sight>(
  context: ChangeContext,
  capability: FileCapability,
  keys: readonly GateKey[],
  parent: string,
  look: () => Sight,
  change: (sight: Sight) => Promise<Result>,
  options: ChangeOptions,
): Promise<Result> {
  const guarded = async () => {
    const sight = look();
    await assertExchange(capability.held, parent);
    await capability.assertCurrent(options.signal);
    return change(sight);
  };
  return context.gate.run(keys, guarded, options.signal === undefined ? {} : { signal: options.signal });
}

/** Paths given to changes hold no links, so root and path together are the canonical absolute path (R13). */
export function fileKey(held: HeldRoot, path: string): GateKey {
  return `file:${held.path}/${path}`;
}

export function rootKey(held: HeldRoot): GateKey {
  return `root:${held.path}`;
}

/** @throws `file_too_large` for content that could not be read again under the same limit */
export function assertContentFits({ contentLimit }: ChangeContext, bytes: Uint8Array): void {
  if (bytes.length <= contentLimit) return;
  throw new AuthorityError('file_too_large', { details: { size: bytes.length, limit: contentLimit } });
}
