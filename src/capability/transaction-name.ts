import { hash, randomBytes, randomUUID } from 'node:crypto';
import { currentProcess, type ProcessOwner } from './process-owner.ts';

/**
 * What the name of a temporary file says about its transaction, so that a later process can decide what to do with a leftover
 * (decisions 3):
 *
 * `.wa-<transaction>.<base>.<next>.<pid>-<start>-<namespace>-<boot>.<target>.tmp`
 *
 * `base` and `next` are the first 8 bytes of the SHA-256 of the content before and after, in hex, or `-`: creation has no base, removal
 * no next. `target` is `=` and the target's own name, or `~` and 16 digits of the name's SHA-256 where the name is too long.
 * The transaction's first 8 digits stand for the instance that began it.
 */
export interface TransactionName {
  readonly transaction: string;
  readonly base: string | null;
  readonly next: string | null;
  readonly owner: ProcessOwner;
  readonly target: TargetName;
}

export type TargetName = { readonly name: string } | { readonly nameDigest: string };

/** What `contentDigest` or `digestOfHash` give of the content before and after a change; null where there is none. */
export interface TransactionContent {
  readonly base: string | null;
  readonly next: string | null;
}

/** Digits of a content digest: 8 bytes in hex. */
export const digestDigits = 16;
const instanceDigits = 8;
const transactionDigits = 32 - instanceDigits;
/** A name of 255 bytes (NAME_MAX) less what `.kept-63` needs more than `.tmp`. */
const longestName = 255 - 5;

const shape =
  /^\.wa-([0-9a-f]{32})\.([0-9a-f]{16}|-)\.([0-9a-f]{16}|-)\.(\d+)-(\d+)-(\d+)-([0-9a-f]{8})\.(?:=(.+)|~([0-9a-f]{16}))\.tmp$/s;
/** Any case: on a file system that folds case, another spelling reaches the same file. */
const reservedShape = /^\.wa-(?:[0-9a-f]{32}\..*\.tmp|probe-[0-9a-f]{32})$/is;
const probeShape = /^\.wa-probe-[0-9a-f]{32}$/;
const temporarySuffix = '.tmp';
const keptShape = /^\.wa-[0-9a-f]{32}\..*\.kept(?:-\d+)?$/s;

/** First 8 bytes of the SHA-256, in hex. */
export function contentDigest(bytes: Uint8Array): string {
  return digestOfHash(hash('sha256', bytes, 'hex'));
}

/** The same for whoever has the SHA-256 in hex. */
export function digestOfHash(sha256: string): string {
  return sha256.slice(0, digestDigits);
}

/** Whether a name belongs to running transactions. Such names are neither listed nor addressable. */
export function isReservedName(name: string): boolean {
  return name.startsWith('.') && reservedShape.test(name);
}

/** Whether a name is that of the directory in which the addon tries an exchange. */
export function isProbeName(name: string): boolean {
  return probeShape.test(name);
}

/** Whether a name is that of a recovery file, which is listed and addressable like any file. */
export function isKeptName(name: string): boolean {
  return keptShape.test(name);
}

/** The name under which a leftover is kept for people; `attempt` tells apart repetitions. The addon names its own alike. */
export function keptName(temporaryName: string, attempt: number): string {
  const stem = temporaryName.slice(0, -temporarySuffix.length);
  return attempt === 0 ? `${stem}.kept` : `${stem}.kept-${attempt}`;
}

/** Null for anything that this version did not make. */
export function parseTransactionName(name: string): TransactionName | null {
  const match = shape.exec(name);
  if (match === null) return null;
  const [, transaction, base, next, pid, startTime, pidNamespace, boot, target, nameDigest] = match;
  return {
    transaction: transaction as string,
    base: base === '-' ? null : (base as string),
    next: next === '-' ? null : (next as string),
    owner: {
      pid: pid as string,
      startTime: startTime as string,
      pidNamespace: pidNamespace as string,
      boot: boot as string,
    },
    target: target === undefined ? { nameDigest: nameDigest as string } : { name: target },
  };
}

/** Whether a directory entry is the one that the transaction was about. */
export function isTarget(target: TargetName, entry: string): boolean {
  return 'name' in target ? target.name === entry : target.nameDigest === digestOfName(entry);
}

/** The transactions that one instance of this package has begun and not ended. */
export class Transactions {
  readonly #instance = randomBytes(instanceDigits / 2).toString('hex');
  readonly #active = new Set<string>();

  /** Runs a change with a temporary name of its own. @throws `state_unavailable` without /proc, or what the change throws */
  async run<Result>(
    target: string,
    content: TransactionContent,
    change: (temporaryName: string) => Promise<Result>,
  ): Promise<Result> {
    // Node keeps random bytes in store for these, while `randomBytes` asks the kernel each time.
    const transaction = `${this.#instance}${randomUUID().replaceAll('-', '').slice(0, transactionDigits)}`;
    const name = transactionName(transaction, target, content);
    this.#active.add(transaction);
    try {
      return await change(name);
    } finally {
      this.#active.delete(transaction);
    }
  }

  /** True or false for a transaction of this instance, undefined for any other. */
  isActive(name: TransactionName): boolean | undefined {
    return name.transaction.startsWith(this.#instance) ? this.#active.has(name.transaction) : undefined;
  }
}

function transactionName(transaction: string, target: string, content: TransactionContent): string {
  const { pid, startTime, pidNamespace, boot } = currentProcess();
  const stem = `.wa-${transaction}.${content.base ?? '-'}.${content.next ?? '-'}.${pid}-${startTime}-${pidNamespace}-${boot}.`;
  const named = `${stem}=${target}${temporarySuffix}`;
  if (Buffer.byteLength(named) <= longestName) return named;
  return `${stem}~${digestOfName(target)}${temporarySuffix}`;
}

function digestOfName(name: string): string {
  return hash('sha256', name, 'hex').slice(0, digestDigits);
}
