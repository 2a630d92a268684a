import { matchesStoredIdentity, type StoredIdentity } from '../capability/identity.ts';
import { RecordReader } from '../capability/record-reader.ts';
import { codeOf } from '../capability/refusal.ts';
import { parseJsonObject } from '../capability/state-json.ts';
import { AuthorityError } from '../errors/index.ts';
import type { ManagedHome } from './managed-home.ts';

/** What a creation came to, as its caller is told, each time it asks. */
export interface CreationResult {
  readonly path: string;
  readonly branch: string;
  /** The commit that it began at; null where no base is known. */
  readonly baseRef: string | null;
  readonly baseRefName: string | null;
  readonly copiedFrom: string | null;
  /** Branch of `origin` that the new branch follows. */
  readonly upstream: string | null;
  /** Both are null for anything but a pull request. */
  readonly pullNumber: number | null;
  readonly prHeadSha: string | null;
  /** Null where the registry takes no rows from us. */
  readonly workspaceId: string | null;
}

/** That a creation was committed. It outlives the worktree, so that the same transaction never makes another one. */
export interface Receipt {
  readonly txId: string;
  /** SHA-256 of what was asked for, in hex. */
  readonly fingerprint: string;
  /** Milliseconds since 1970. */
  readonly committedAtMs: number;
  readonly root: StoredIdentity;
  readonly result: CreationResult;
}

const version = 1;

/** The receipts of one repository. Callers hold the turn of its family. */
export class ReceiptStore {
  readonly #home: ManagedHome;

  constructor(home: ManagedHome) {
    this.#home = home;
  }

  /** @throws `transaction_conflict` (details.reason): the receipt cannot be read, or is damaged */
  async find(txId: string): Promise<Receipt | null> {
    const record = await this.#home.records.read(receiptName(txId)).catch((cause: unknown) => {
      throw conflict('transaction-receipt-unreadable', cause);
    });
    if (record === null) return null;
    try {
      const receipt = parseReceipt(record.bytes);
      if (receipt.txId === txId) return receipt;
    } catch (cause) {
      throw conflict('transaction-receipt-invalid', cause);
    }
    throw conflict('transaction-receipt-mismatch');
  }

  /** Writes a new receipt, or the same one with another row. */
  async write(receipt: Receipt): Promise<void> {
    const { records } = this.#home;
    const name = receiptName(receipt.txId);
    if (await records.create(name, printReceipt(receipt))) return;
    const known = await records.read(name);
    if (known !== null) await records.replace(known, printReceipt(receipt));
  }

  /** What stands where the worktree was made: it, nothing, or something else. */
  async stateOf({ result, root }: Receipt): Promise<'there' | 'gone' | 'replaced'> {
    const { path, directory } = this.#home;
    const leaf = result.path.slice(path.length + 1);
    if (result.path !== `${path}/${leaf}` || leaf.includes('/')) return 'gone';
    try {
      const held = await directory.openDirectory(leaf);
      const same = matchesStoredIdentity(held.identity(), root);
      held.close();
      return same ? 'there' : 'replaced';
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return 'gone';
      if (codeOf(error) === 'ENOTDIR' || codeOf(error) === 'ELOOP') return 'replaced';
      throw conflict('transaction-target-unreadable', error);
    }
  }
}

export function conflict(reason: string, cause?: unknown): AuthorityError {
  return new AuthorityError('transaction_conflict', { details: { reason }, cause });
}

function receiptName(txId: string): string {
  return `.receipt-${txId}.json`;
}

function printReceipt(receipt: Receipt): Uint8Array {
  return Buffer.from(`${JSON.stringify({ version, ...receipt }, null, 1)}\n`);
}

function parseReceipt(bytes: Uint8Array): Receipt {
  const reader = new RecordReader(parseJsonObject(bytes), 'receipt');
  reader.take('version', `${version}`, (value): value is number => value === version);
  const receipt = {
    txId: reader.take('txId', 'a text', isText),
    fingerprint: reader.take('fingerprint', 'a hash', isText),
    committedAtMs: reader.take('committedAtMs', 'a time', (value): value is number =>
      Number.isSafeInteger(value),
    ),
    root: reader.identity('root'),
    result: readResult(reader.take('result', 'an object', (value): value is object => value !== null)),
  };
  reader.end();
  return receipt;
}

function readResult(value: object): CreationResult {
  const reader = new RecordReader(value, 'receipt.result');
  const result = {
    path: reader.path('path'),
    branch: reader.take('branch', 'a text', isText),
    baseRef: reader.take('baseRef', 'a text or null', isTextOrNull),
    baseRefName: reader.take('baseRefName', 'a text or null', isTextOrNull),
    copiedFrom: reader.take('copiedFrom', 'a text or null', isTextOrNull),
    upstream: reader.take('upstream', 'a text or null', isTextOrNull),
    pullNumber: reader.take('pullNumber', 'a number or null', isNumberOrNull),
    prHeadSha: reader.take('prHeadSha', 'a text or null', isTextOrNull),
    workspaceId: reader.take('workspaceId', 'a text or null', isTextOrNull),
  };
  reader.end();
  return result;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

function isNumberOrNull(value: unknown): value is number | null {
  return value === null || Number.isSafeInteger(value);
}
