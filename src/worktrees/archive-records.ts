import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { parseJsonObject } from '../capability/state-json.ts';
import { AuthorityError } from '../errors/index.ts';

const suffix = '.json';
const limitBytes = 256 * 1024;
const listedAtMost = 10_000;
const idShape = /^[0-9a-f]{32}$/;

/** Small records that are written once, each a file of a directory of the state directory, named by 32 hex digits. */
export class Records<Entry extends { readonly id: string }> {
  readonly #directory: DirectoryHandle;
  readonly #name: string;
  readonly #parse: (body: Record<string, unknown>) => Entry;

  /** @param parse throws an Error that quotes nothing */
  constructor(directory: DirectoryHandle, name: string, parse: (body: Record<string, unknown>) => Entry) {
    this.#directory = directory;
    this.#name = name;
    this.#parse = parse;
  }

  /** Does nothing when there is one of this id. */
  async write(entry: Entry): Promise<void> {
    const bytes = Buffer.from(`${JSON.stringify({ version: 1, ...entry })}\n`);
    const change = { bytes, mode: 0o600, temporaryName: `.${entry.id}.tmp` };
    await this.#directory.create(entry.id + suffix, change, null).catch(refuse);
  }

  async remove(id: string): Promise<void> {
    try {
      const { inode, device } = await this.#directory.stat(id + suffix, null);
      await this.#directory.unlinkIfSame(id + suffix, inode, device);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw refusalOf(error);
    }
  }

  /** Ids; what else lies there is not ours. */
  async ids(): Promise<readonly string[]> {
    const { names } = await this.#directory
      .list('.', { rootPath: '/', limit: listedAtMost }, null)
      .catch(refuse);
    const all = Buffer.from(names).toString('latin1').split('\0').slice(0, -1);
    return all.flatMap((name) => {
      const id = name.slice(0, -suffix.length);
      return name.endsWith(suffix) && idShape.test(id) ? [id] : [];
    });
  }

  /** Null when there is none. @throws `state_unavailable` when it is damaged, or belongs to a later version */
  async read(id: string): Promise<Entry | null> {
    if (!idShape.test(id)) return null;
    try {
      const file = await this.#directory.openFile(id + suffix, null);
      try {
        const { version, ...body } = parseJsonObject(await file.readAt(0, limitBytes));
        if (version !== 1 || body['id'] !== id) throw new Error('is not this record');
        return this.#parse(body);
      } finally {
        file.close();
      }
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return null;
      const details = { file: `${this.#name}/${id}${suffix}`, reason: 'is damaged' };
      throw new AuthorityError('state_unavailable', { details, cause });
    }
  }

  close(): void {
    this.#directory.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

export function isId(value: unknown): value is string {
  return typeof value === 'string' && idShape.test(value);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function refuse(error: unknown): never {
  throw refusalOf(error);
}
