import { dirname, join } from 'node:path';
import type { NativeBinding } from '../../src/native/binding.ts';
import { testAddonPath, testBinding } from './test-binding.ts';

/** The real addon, and the guard that is built beside it. */
export const native: NativeBinding = testBinding;
export const deathGuard: string = join(dirname(testAddonPath), 'death-guard');
