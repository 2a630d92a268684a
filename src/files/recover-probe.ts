import type { NativePath } from '../capability/handles.ts';
import { displayPath, joinPath } from '../capability/native-path.ts';
import { codeOf } from '../capability/refusal.ts';
import { examine } from './leftover-content.ts';
import type {
  RecoverableRoot,
  RecoverDirectoryOptions,
  RecoveryContext,
  RecoveryResult,
} from './recovery.ts';

/** The two files in which the addon tries an exchange; their longest content. */
const sampleNames = ['first', 'second'];
const longestSample = 64;
/** A trial takes milliseconds, and its name tells no owner; a living one that loses its directory fails and may be repeated. */
const trialMs = 60_000;
const nanosecondsPerMillisecond = 1_000_000n;

/** Removes the directory of a trial of the exchange that was cut off, when it holds nothing but the trial's own small files. */
export async function recoverProbe(
  context: RecoveryContext,
  capability: RecoverableRoot,
  parent: NativePath,
  name: string,
  options: RecoverDirectoryOptions,
): Promise<RecoveryResult | null> {
  const { held } = capability;
  const path = joinPath(parent, name);
  const shown = displayPath(path);
  try {
    const { changedNs } = await held.directory.stat(path, null);
    if (context.now() - Number(changedNs / nanosecondsPerMillisecond) < trialMs) {
      const reason = 'A recent trial of the exchange; it may still be running.';
      return { file: { path: shown, action: 'owner-alive', reason }, settled: true };
    }
    if (!options.dryRun) {
      await capability.assertCurrent(options.signal);
      for (const sample of sampleNames) {
        const file = await examine(held, joinPath(path, sample));
        if (file.type !== 'file' || file.size > longestSample) continue;
        await held.directory.unlinkIfSame(joinPath(path, sample), file.inode, file.device);
      }
      await held.directory.removeDirectory(path, null);
    }
    return {
      file: { path: shown, action: 'removed', reason: 'A trial of the exchange that was cut off.' },
      settled: true,
    };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
    const reason = 'It holds more than a trial of the exchange leaves.';
    return { file: { path: shown, action: 'kept', reason }, settled: false };
  }
}
