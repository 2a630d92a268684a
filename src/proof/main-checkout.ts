import type { DirectoryHandle } from '../capability/handles.ts';
import { isAuthorityError } from '../errors/index.ts';
import { headLimitBytes, parseHead } from '../git/head.ts';
import { type AdminFile, readAdminFile } from './admin-file.ts';
import { FileWatch } from './file-watch.ts';
import type { NameWatch } from './name-watch.ts';
import type { RepositoryFormat } from './repository-format.ts';

export interface MainCheckoutParts {
  readonly root: DirectoryHandle;
  readonly gitDirectory: DirectoryHandle;
  readonly owner: number;
  readonly format: RepositoryFormat;
  readonly directories: readonly NameWatch[];
  readonly configuration: readonly FileWatch[];
  readonly config: AdminFile;
  readonly head: AdminFile;
}

/**
 * A proven main checkout, and what tells cheaply that the proof still stands: the same Git directory under `.git`, the same
 * owners and configuration. HEAD changes at each switch of a branch; then only HEAD is judged again.
 */
export class MainCheckout {
  readonly format: RepositoryFormat;
  readonly configurationStamp: string;
  readonly #parts: MainCheckoutParts;
  #head: FileWatch;

  constructor(parts: MainCheckoutParts) {
    this.format = parts.format;
    const { inode, size, modifiedNs } = parts.config.stamp;
    this.configurationStamp = `${inode}:${size}:${modifiedNs}`;
    this.#parts = parts;
    this.#head = new FileWatch(parts.root, '.git/HEAD', parts.head);
  }

  /** Never blocks; undefined where the kernel, or a new HEAD, has to be waited for. */
  isUnchanged(): boolean | undefined {
    const { directories, configuration } = this.#parts;
    for (const watch of [...directories, ...configuration]) {
      const unchanged = watch.isUnchanged();
      if (unchanged !== true) return unchanged;
    }
    return this.#head.isUnchanged() || undefined;
  }

  /** @throws `storage_failed` | `too_many_open_files` | `busy` when HEAD cannot be read for reasons of the system */
  async isUnchangedWaiting(): Promise<boolean> {
    const { directories, configuration } = this.#parts;
    for (const watch of [...directories, ...configuration]) {
      if (!(watch.isUnchanged() ?? (await watch.isUnchangedWaiting()))) return false;
    }
    return this.#head.isUnchanged() === true || (await this.#judgeHead());
  }

  async #judgeHead(): Promise<boolean> {
    const { root, gitDirectory, owner } = this.#parts;
    try {
      const head = await readAdminFile(gitDirectory, 'HEAD', headLimitBytes, owner);
      if (head === null || parseHead(head.bytes) === null) return false;
      this.#head = new FileWatch(root, '.git/HEAD', head);
      return true;
    } catch (error) {
      if (isAuthorityError(error) && error.code === 'repository_unsupported') return false;
      throw error;
    }
  }
}
