import { AuthorityError } from '../errors/index.ts';
import type { DirectoryHandle, ExchangeProbe, NativeBinding, PathGuard } from '../native/binding.ts';
import type { Confinement } from './confinement.ts';
import type { HeldRoot, OpenWriterCheck } from './held-root.ts';
import type { LiveIdentity } from './identity.ts';

export interface HeldRootOptions {
  readonly confinement: Confinement;
  readonly allowMounts: boolean;
}

/**
 * Opens a directory by its canonical absolute path, without any symbolic link on the way, and holds it. The caller owns one
 * reference.
 * @throws the errno error of openat2(2): `ENOENT`, `ENOTDIR`, `ELOOP` where the path is not canonical, `EACCES`, ...
 */
export async function openHeldRoot(
  native: NativeBinding,
  path: string,
  options: HeldRootOptions,
): Promise<HeldRoot> {
  const directory = await native.openRoot(path, { allowMounts: options.allowMounts });
  try {
    return holdRoot(native, path, directory, options);
  } catch (error) {
    directory.close();
    throw error;
  }
}

/** The same for a directory that was opened in that way, and with these mounts, already; it passes to the held root. */
export function holdRoot(
  native: NativeBinding,
  path: string,
  directory: DirectoryHandle,
  options: HeldRootOptions,
): HeldRoot {
  const guard = native.createGuard(directory, options.confinement);
  return new OpenedRoot(path, directory, guard, options);
}

class OpenedRoot implements HeldRoot {
  readonly path: string;
  readonly confinement: Confinement;
  readonly identity: LiveIdentity;
  readonly allowMounts: boolean;
  readonly #directory: DirectoryHandle;
  readonly #guard: PathGuard;
  #references = 1;
  #exchange: Promise<ExchangeProbe> | null = null;
  #openWriterCheck: OpenWriterCheck = 'unknown';

  constructor(path: string, directory: DirectoryHandle, guard: PathGuard, options: HeldRootOptions) {
    this.path = path;
    this.confinement = options.confinement;
    this.identity = directory.identity();
    this.allowMounts = options.allowMounts;
    this.#directory = directory;
    this.#guard = guard;
  }

  get directory(): DirectoryHandle {
    this.#assertHeld();
    return this.#directory;
  }

  get guard(): PathGuard {
    this.#assertHeld();
    return this.#guard;
  }

  get openWriterCheck(): OpenWriterCheck {
    return this.#openWriterCheck;
  }

  isInPlace(): boolean | Promise<boolean> {
    const directory = this.directory;
    return directory.leadsHereCached(this.path) ?? directory.leadsHere(this.path);
  }

  exchangeSupport(): Promise<ExchangeProbe> {
    this.#exchange ??= this.#probeExchange();
    return this.#exchange;
  }

  noteOpenWriterCheck(possible: boolean): void {
    this.#openWriterCheck = possible ? 'supported' : 'unsupported';
  }

  retain(): HeldRoot {
    this.#assertHeld();
    this.#references += 1;
    return this;
  }

  release(): void {
    this.#assertHeld();
    this.#references -= 1;
    if (this.#references > 0) return;
    this.#guard.close();
    this.#directory.close();
  }

  async #probeExchange(): Promise<ExchangeProbe> {
    try {
      const probe = await this.directory.probeExchange();
      // Anything but a refused exchange (no space, no permission) says nothing about the file system and may pass.
      if (!probe.supported && probe.syscall !== exchangeCall) this.#exchange = null;
      return probe;
    } catch (error) {
      this.#exchange = null;
      throw error;
    }
  }

  #assertHeld(): void {
    if (this.#references <= 0) {
      throw new AuthorityError('internal_error', { details: { reason: 'held root used after release' } });
    }
  }
}

/** The one call whose refusal means that a file system cannot exchange two names. */
export const exchangeCall = 'renameat2';
