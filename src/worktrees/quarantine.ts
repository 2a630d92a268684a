import { basename, dirname } from 'node:path/posix';
import type { DirectoryHandle } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import { AuthorityError } from '../errors/index.ts';
import { lookAt } from './preflight-survey.ts';

/**
 * Names beside a worktree, in the directory of the worktrees of one repository. Renames say how far an archive has come: what is `aside` goes
 * back as it is; of what is `leaving`, files may be gone already.
 */
export type Stage = 'aside' | 'leaving' | 'arriving';

export function stageName(stage: Stage, transaction: string): string {
  return `.wa-${stage}-${transaction}`;
}

interface Place {
  readonly inode: bigint;
  readonly device: bigint;
}

/** The directory that a worktree lies in, held. Its owner closes it. */
export class WorktreeParent {
  readonly directory: DirectoryHandle;
  readonly path: string;
  readonly leaf: string;

  constructor(directory: DirectoryHandle, worktree: string) {
    this.directory = directory;
    this.path = dirname(worktree);
    this.leaf = basename(worktree);
  }

  /** Whether this very directory stands under a name in it. */
  async has(name: string, { inode, device }: Place): Promise<boolean> {
    const entry = await lookAt(this.directory, Buffer.from(name).toString('latin1'));
    return entry?.inode === inode && entry.device === device;
  }

  async isFree(name: string): Promise<boolean> {
    return (await lookAt(this.directory, Buffer.from(name).toString('latin1'))) === null;
  }

  /** False when the name it goes to is taken. @throws `identity_changed` when something else was moved; it is put back */
  async move(from: string, to: string, what: Place): Promise<boolean> {
    try {
      await this.directory.renameNoReplace(from, to, null);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw refusalOf(error);
    }
    if (await this.has(to, what)) return true;
    await this.directory.renameNoReplace(to, from, null).catch(() => undefined);
    throw new AuthorityError('identity_changed', { details: { what: 'root' } });
  }

  close(): void {
    this.directory.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
