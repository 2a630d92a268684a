import type { KernelReport, NativeBinding, RootOptions } from './binding.ts';
import { calling, callingNow } from './calling.ts';
import { loadBinding } from './load.ts';
import { NativeDirectory } from './native-directory.ts';

/** The primitives that all else in this package stands on, for services that want them without workspaces. */
export interface Native {
  /** What the kernel offers to this process. `openat2.available` is needed by everything else. */
  probe(): KernelReport;
  /** Opens an absolute path on which no symbolic link lies, to work beneath it. */
  openRoot(absolutePath: string, options?: RootOptions): Promise<NativeDirectory>;
}

/**
 * @param binding another implementation of the addon's contract, for tests
 * @throws `native_addon_missing`. On platforms other than Linux it is every method that throws, `platform_unsupported`.
 */
export function createNative(binding: NativeBinding = loadBinding()): Native {
  return {
    probe: () => callingNow(() => binding.probe()),
    openRoot: (absolutePath, options = {}) =>
      calling(async () => new NativeDirectory(binding, await binding.openRoot(absolutePath, options))),
  };
}
