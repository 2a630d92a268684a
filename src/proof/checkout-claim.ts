import type { DirectoryHandle } from '../capability/handles.ts';
import type { AdminFile } from './admin-file.ts';
import type { ProvenCheckout } from './checkout.ts';

/** A root that looks like a checkout, with everything held open that its proof needs. All handles stay with the caller. */
export type CheckoutClaim = MainClaim | SeparateClaim | WorktreeClaim;

interface Claim {
  /** The held root. */
  readonly root: DirectoryHandle;
  /** Canonical path of the root. */
  readonly path: string;
  /** The held Git dir of this checkout. */
  readonly gitDirectory: DirectoryHandle;
  /** Who must own everything that is trusted: the effective user of this process. SUDO_UID and safe.directory do not count. */
  readonly owner: number;
}

/** A main checkout whose Git dir is the directory `.git` in it. */
export interface MainClaim extends Claim {
  readonly kind: 'main';
}

/** A main checkout whose `.git` is a file that names the Git dir (git-init(1), `--separate-git-dir`). */
export interface SeparateClaim extends Claim {
  readonly kind: 'separate-git-dir';
  /** Canonical path of the Git dir. */
  readonly gitPath: string;
  /** `/`, held open with mounts allowed. */
  readonly top: DirectoryHandle;
}

/** A linked worktree (git-worktree(1)) of a main checkout that is proven already. */
export interface WorktreeClaim extends Claim {
  readonly kind: 'worktree';
  /** Name of the administrative directory, which is `gitDirectory`. */
  readonly name: string;
  readonly main: HeldMain;
  /** What led to the Git dir, as it was read then; null makes the proof read it itself. */
  readonly pointers: WorktreePointers | null;
}

/** Both were found to name the other's place when they were read. */
export interface WorktreePointers {
  /** `.git` of the root. */
  readonly gitFile: AdminFile;
  /** `gitdir` of the administrative directory. */
  readonly backPointer: AdminFile;
}

export interface HeldMain {
  readonly root: DirectoryHandle;
  readonly path: string;
  readonly gitDirectory: DirectoryHandle;
  /** The proof as it is now; it is replaced when the main checkout was proven anew. */
  readonly checkout: ProvenCheckout;
}

/** Where the administrative directory of a worktree lies beneath the root of its main checkout. */
export function administrationPath(name: string): string {
  return `.git/worktrees/${name}`;
}

/** The pointer back from the administrative directory must lead to this file. */
export function gitFileOf(path: string): string {
  return `${path}/.git`;
}
