import type { FileCapability } from '../capability/file-capability.ts';
import type { NativePath } from '../capability/handles.ts';
import { joinPath, rootPath } from '../capability/native-path.ts';
import { codeOf } from '../capability/refusal.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { underCapability } from './operation.ts';
import { type DirectoryRecovery, recoverDirectory } from './recover-directory.ts';
import type { RecoverDirectoryOptions, RecoveryContext } from './recovery.ts';
import type { RecoveredFile, RecoverOptions, RecoveryReport } from './workspace-files.ts';

const defaultDirectoryLimit = 50_000;
/** Gone or swapped since its parent was listed, a mount, or closed: no place of ours. */
const notOurs: ReadonlySet<string | null> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EXDEV',
  'WA_CLOSED_DIRECTORY',
]);

/** Walks the root breadth first. Closed directories, links and mounts are not entered: no transaction ever worked there. */
export function recoverRoot(
  context: RecoveryContext,
  capability: FileCapability,
  options: RecoverOptions,
): Promise<RecoveryReport> {
  return underCapability(capability, async (retained) => {
    const { dryRun = false, directoryLimit = defaultDirectoryLimit, signal } = options;
    const inDirectory = { dryRun, ...(signal === undefined ? {} : { signal }) };
    await retained.assertCurrent(signal);
    const actions: RecoveredFile[] = [];
    const directories: NativePath[] = [rootPath];
    let examined = 0;
    let complete = true;
    for (const directory of directories) {
      if (signal?.aborted) throw new AuthorityError('aborted');
      if (examined >= directoryLimit) return { actions, directoriesExamined: examined, complete: false };
      examined += 1;
      const found = await recoverIn(context, retained, directory, inDirectory);
      complete &&= found.settled;
      actions.push(...found.actions);
      for (const name of found.subdirectories) directories.push(joinPath(directory, name));
    }
    return { actions, directoriesExamined: examined, complete };
  });
}

/** A directory that cannot be read is not known to be clean. */
async function recoverIn(
  context: RecoveryContext,
  capability: FileCapability,
  directory: NativePath,
  options: RecoverDirectoryOptions,
): Promise<DirectoryRecovery> {
  try {
    return await recoverDirectory(context, capability, directory, options);
  } catch (error) {
    if (isAuthorityError(error)) throw error;
    return { actions: [], settled: notOurs.has(codeOf(error)), subdirectories: [] };
  }
}
