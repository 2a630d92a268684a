import type { DirectoryHandle } from '../capability/handles.ts';
import { isAuthorityError } from '../errors/index.ts';
import { headLimitBytes, parseHead } from '../git/head.ts';
import { type AdminFile, readAdminFile } from './admin-file.ts';
import { FileWatch } from './file-watch.ts';
import type { NameWatch } from './name-watch.ts';
import type { RepositoryFormat } from './repository-format.ts';

export interface CheckoutParts {
  readonly format: RepositoryFormat;
  /** Changes when the configuration does. */
  readonly configurationStamp: string;
  readonly names: readonly NameWatch[];
  readonly files: readonly FileWatch[];
  readonly head: HeadPlace;
}

/** Where HEAD is looked at: by its whole way beneath a held root, so that one look proves that way, too. */
export interface HeadPlace {
  readonly directory: DirectoryHandle;
  readonly path: string;
  readonly file: AdminFile;
  readonly owner: number;
}

/**
 * A checkout that was proven, and what tells cheaply that the proof still stands: the same directories under the same names, the
 * same owners, pointers and configuration. HEAD changes at each switch of a branch; then only HEAD is judged again.
 */
export class ProvenCheckout {
  readonly format: RepositoryFormat;
  readonly configurationStamp: string;
  readonly #parts: CheckoutParts;
  #head: FileWatch;

  constructor(parts: CheckoutParts) {
    this.format = parts.format;
    this.configurationStamp = parts.configurationStamp;
    this.#parts = parts;
    const { directory, path, file } = parts.head;
    this.#head = new FileWatch(directory, path, file);
  }

  /** Never blocks; undefined where the kernel, or a new HEAD, has to be waited for. */
  isUnchanged(): boolean | undefined {
    const { names, files } = this.#parts;
    for (const watch of [...names, ...files]) {
      const unchanged = watch.isUnchanged();
      if (unchanged !== true) return unchanged;
    }
    return this.#head.isUnchanged() || undefined;
  }

  /** @throws `storage_failed` | `too_many_open_files` | `busy` when HEAD cannot be read for reasons of the system */
  async isUnchangedWaiting(): Promise<boolean> {
    const { names, files } = this.#parts;
    for (const watch of [...names, ...files]) {
      if (!(watch.isUnchanged() ?? (await watch.isUnchangedWaiting()))) return false;
    }
    return this.#head.isUnchanged() === true || (await this.#judgeHead());
  }

  async #judgeHead(): Promise<boolean> {
    const { directory, path, owner } = this.#parts.head;
    try {
      const head = await readAdminFile(directory, path, headLimitBytes, owner);
      if (head === null || parseHead(head.bytes) === null) return false;
      this.#head = new FileWatch(directory, path, head);
      return true;
    } catch (error) {
      if (isAuthorityError(error) && error.code === 'repository_unsupported') return false;
      throw error;
    }
  }
}
