import type { ArchiveContext } from './archive-context.ts';
import type { WorktreeArchives } from './archive-contract.ts';
import { preflight } from './preflight.ts';

export function createWorktreeArchives(context: ArchiveContext): WorktreeArchives {
  return {
    preflight: (selector, signal) => preflight(context, selector, signal),
  };
}
