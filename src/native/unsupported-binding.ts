import { AuthorityError } from '../errors/index.ts';
import type { NativeBinding } from './binding.ts';

/** The binding of a platform without confined file access: nothing works, and every call says so (R16). */
export function createUnsupportedBinding(platform: string): NativeBinding {
  const refuse = (): never => {
    throw new AuthorityError('platform_unsupported', { details: { platform } });
  };
  return {
    probe: refuse,
    openRoot: async () => refuse(),
    createGuard: refuse,
    openHandles: () => 0,
  };
}
