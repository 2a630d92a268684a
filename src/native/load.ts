import { createRequire } from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';
import { markAsUntransferable } from 'node:worker_threads';
import prebuilds from 'pkg-prebuilds';
import { AuthorityError } from '../errors/index.ts';
import type { NativeBinding } from './binding.ts';
import { createUnsupportedBinding } from './unsupported-binding.ts';

export interface AddonPlace {
  /** `process.platform`. */
  readonly platform?: string;
  /** Where `WORKSPACE_AUTHORITY_ADDON` may name an addon by its absolute path. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Root of this package: holds `build/Release` after a build, `prebuilds` when installed from the registry. */
  readonly packageRoot?: string;
}

/** What pkg-prebuilds exports beside its declared function: the search without the loading. */
interface PrebuildSearch {
  resolve(root: string, options: unknown, verifyPrebuild: boolean, throwOnMissing: boolean): string | null;
}

/** A binding that can be told where the memory of small results comes from. */
interface LoadedAddon extends NativeBinding {
  useBlocksFrom(source: () => Uint8Array): void;
}

// This file is dist/native/load.js or src/native/load.ts.
const ownPackageRoot = join(import.meta.dirname, '../..');
const blockSize = 128 * 1024;

const loadModule = createRequire(import.meta.url);
const loaded = new Map<string, NativeBinding>();

/**
 * The addon, loaded once: the one that `WORKSPACE_AUTHORITY_ADDON` names, else the one built here, else the prebuilt one. On
 * other platforms than Linux a binding whose every call throws `platform_unsupported`.
 * @throws `native_addon_missing` when there is none or it cannot be loaded; `cause` has the reason
 */
export function loadBinding(place: AddonPlace = {}): NativeBinding {
  const platform = place.platform ?? process.platform;
  if (platform !== 'linux') return createUnsupportedBinding(platform);
  const path = addonPath(place);
  let binding = loaded.get(path);
  if (binding === undefined) {
    binding = loadAddon(path);
    loaded.set(path, binding);
  }
  return binding;
}

/**
 * The program beside the addon that ends a child process when its host dies.
 * @throws `platform_unsupported` | `native_addon_missing`
 */
export function deathGuardPath(place: AddonPlace = {}): string {
  const platform = place.platform ?? process.platform;
  if (platform !== 'linux') throw new AuthorityError('platform_unsupported', { details: { platform } });
  return join(dirname(addonPath(place)), 'death-guard');
}

function addonPath({ environment = process.env, packageRoot = ownPackageRoot }: AddonPlace): string {
  const named = environment['WORKSPACE_AUTHORITY_ADDON'];
  if (named !== undefined && named !== '') {
    if (isAbsolute(named)) return named;
    throw missing({ reason: 'WORKSPACE_AUTHORITY_ADDON is not an absolute path' });
  }
  const options = loadModule('../../binding-options.cjs');
  const search = prebuilds as unknown as PrebuildSearch;
  const found = search.resolve(packageRoot, options, false, false);
  if (found === null) throw missing({ reason: 'neither built nor prebuilt' });
  return found;
}

function loadAddon(path: string): NativeBinding {
  let addon: LoadedAddon;
  try {
    addon = loadModule(path);
  } catch (error) {
    throw missing({ reason: 'not loadable' }, error);
  }
  addon.useBlocksFrom(createBlock);
  return addon;
}

/**
 * Many results lie in one block, so none of them may take it to another thread: a transfer list that names its memory copies it or
 * fails, as the version of Node has it.
 */
function createBlock(): Uint8Array {
  const block = Buffer.allocUnsafeSlow(blockSize);
  markAsUntransferable(block.buffer);
  return block;
}

function missing(details: Readonly<Record<string, string>>, cause?: unknown): AuthorityError {
  return new AuthorityError('native_addon_missing', cause === undefined ? { details } : { details, cause });
}
