import { deviceOf, emptyFacts, inodeOf, ownerOf } from '../capability/file-facts.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf } from '../capability/refusal.ts';
import { contentDigest, Transactions } from '../capability/transaction-name.ts';
import { AuthorityError } from '../errors/index.ts';

/** One record as it was read. */
export interface StoredRecord {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly inode: bigint;
  readonly device: bigint;
}

const limitBytes = 64 * 1024;
const listedAtMost = 100_000;
const transactions = new Transactions();

/**
 * Small files, mode 0600, in the directory for the worktrees of one repository. Each is written whole under its name and synced, and is
 * replaced or removed only as the version that was read.
 */
export class RecordStore {
  readonly #directory: DirectoryHandle;

  constructor(directory: DirectoryHandle) {
    this.#directory = directory;
  }

  /** Null when there is none. @throws `state_unavailable` (details.file) for a link, a foreign file, one that is too large, ... */
  async read(name: string): Promise<StoredRecord | null> {
    const facts = emptyFacts();
    try {
      const bytes = await this.#directory.read(name, limitBytes, facts, null);
      if (ownerOf(facts) !== process.geteuid?.()) throw unavailable(name, 'belongs to another user');
      return { name, bytes, inode: inodeOf(facts), device: deviceOf(facts) };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw asUnavailable(name, error);
    }
  }

  /** False: the name was taken, and nothing was changed. */
  async create(name: string, bytes: Uint8Array): Promise<boolean> {
    const content = { base: null, next: contentDigest(bytes) };
    const { outcome } = await this.#attempt(name, () =>
      transactions.run(name, content, (temporaryName) =>
        this.#directory.create(name, { bytes, mode: 0o600, temporaryName }, null),
      ),
    );
    return outcome === 'created';
  }

  /** @throws `state_unavailable` as well when it is not the version that was read */
  async replace(base: StoredRecord, bytes: Uint8Array): Promise<void> {
    const { name } = base;
    const content = { base: contentDigest(base.bytes), next: contentDigest(bytes) };
    const { outcome } = await this.#attempt(name, () =>
      transactions.run(name, content, (temporaryName) =>
        this.#directory.replace(name, { ...baseOf(base), bytes, temporaryName }, null),
      ),
    );
    if (outcome !== 'committed') throw unavailable(name, 'was changed by another program');
  }

  async remove(base: StoredRecord): Promise<void> {
    const { name } = base;
    const content = { base: contentDigest(base.bytes), next: null };
    const { outcome } = await this.#attempt(name, () =>
      transactions.run(name, content, (temporaryName) =>
        this.#directory.remove(name, { ...baseOf(base), temporaryName }, null),
      ),
    );
    if (outcome !== 'removed') throw unavailable(name, 'was changed by another program');
  }

  async names(): Promise<readonly string[]> {
    const list = () => this.#directory.list('.', { rootPath: '/', limit: listedAtMost }, null);
    const { names } = await this.#attempt('.', list);
    return Buffer.from(names).toString('latin1').split('\0').slice(0, -1);
  }

  async #attempt<Result>(name: string, action: () => Promise<Result>): Promise<Result> {
    try {
      return await action();
    } catch (error) {
      throw asUnavailable(name, error);
    }
  }
}

function baseOf({ bytes, inode, device }: StoredRecord) {
  return { baseBytes: bytes, baseInode: inode, baseDevice: device };
}

function asUnavailable(file: string, error: unknown): unknown {
  const code = codeOf(error);
  if (error instanceof AuthorityError || code === null) return error;
  if (code === 'ENOSPC' || code === 'EDQUOT') return new AuthorityError('no_space', { cause: error });
  return unavailable(file, code, error);
}

function unavailable(file: string, reason: string, cause?: unknown): AuthorityError {
  return new AuthorityError('state_unavailable', { details: { file, reason }, cause });
}
