import type { DirectoryHandle, ExchangeProbe, PathGuard } from '../native/binding.ts';
import type { Confinement } from './confinement.ts';
import type { LiveIdentity } from './identity.ts';

/** Whether an open writer on a file is noticed before it is replaced; unknown until the first replacement. */
export type OpenWriterCheck = 'supported' | 'unsupported' | 'unknown';

/**
 * A root directory held open, with the guard over what is closed below it. Reference counted: it closes with its last user.
 * After that every use of the directory or the guard throws `internal_error`.
 */
export interface HeldRoot {
  /** Canonical absolute path under which it was opened, without any symbolic link on the way. */
  readonly path: string;
  readonly directory: DirectoryHandle;
  readonly guard: PathGuard;
  readonly confinement: Confinement;
  readonly identity: LiveIdentity;
  readonly allowMounts: boolean;
  /** What the last replacement below this root found out (fcntl(2), F_SETLEASE). */
  readonly openWriterCheck: OpenWriterCheck;
  /** Whether `path` still leads to the held inode. Synchronous when the kernel has the answer cached. */
  isInPlace(): boolean | Promise<boolean>;
  /** Whether this file system exchanges names atomically; probed once, before the first change (R16). */
  exchangeSupport(): Promise<ExchangeProbe>;
  noteOpenWriterCheck(possible: boolean): void;
  retain(): HeldRoot;
  release(): void;
}
