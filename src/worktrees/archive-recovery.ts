import { dirname } from 'node:path/posix';
import { familyKey } from '../actions/in-family.ts';
import type { DirectoryHandle } from '../capability/handles.ts';
import { matchesStoredIdentity, type StoredIdentity } from '../capability/identity.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { isAuthorityError } from '../errors/index.ts';
import type { ArchiveContext } from './archive-context.ts';
import type { WorktreeRecovery } from './archive-contract.ts';
import { openJournals, type WorktreeJournal } from './archive-journal.ts';
import type { Records } from './archive-records.ts';
import { endWorkspace } from './archive-workspace.ts';
import { stageName, WorktreeParent } from './quarantine.ts';
import { removeRow, rowLock, rowNames } from './quarantine-row.ts';
import { removeContents } from './quarantine-tree.ts';
import { discardArrival, hasArrived } from './restore-arrival.ts';

/** Whoever has the turn of a family lives: the kernel drops the turn of a dead process. */
const longestWaitMs = 2_000;

type Finding = Pick<WorktreeRecovery, 'action' | 'reason'>;

/** See `WorktreeArchives.recover`. */
export async function recoverWorktrees(
  context: ArchiveContext,
  { dryRun }: { readonly dryRun: boolean },
): Promise<readonly WorktreeRecovery[]> {
  using journals = await openJournals(context);
  const found: WorktreeRecovery[] = [];
  for (const id of await journals.ids()) {
    try {
      const journal = await journals.read(id);
      if (journal === null) continue;
      const { path, act } = journal;
      const finding = await recoverOne(context, journals, journal, dryRun);
      if (finding !== null) found.push({ path, act, ...finding });
    } catch (error) {
      if (!isAuthorityError(error)) throw error;
      found.push({ path: '', act: 'archive', ...left('journal-invalid') });
    }
  }
  return found;
}

/** Null when somebody else came to the end of it meanwhile. */
async function recoverOne(
  context: ArchiveContext,
  journals: Records<WorktreeJournal>,
  journal: WorktreeJournal,
  dryRun: boolean,
): Promise<Finding | null> {
  try {
    await using main = await context.authority.authorizeRepository(journal.mainRoot);
    const inTurn = async (): Promise<Finding | null> => {
      if ((await journals.read(journal.id)) === null) return null;
      await main.assertCurrent();
      const step = { context, journals, journal, main, dryRun };
      return journal.act === 'archive' ? await recoverArchive(step) : await recoverRestore(step);
    };
    return await context.gate.run([familyKey(main)], inTurn, { waitMs: longestWaitMs });
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    const isBusy = error.code === 'deadline_exceeded' || error.code === 'queue_full';
    return left(isBusy ? 'transaction-owner-live' : error.code);
  }
}

interface Step {
  readonly context: ArchiveContext;
  readonly journals: Records<WorktreeJournal>;
  readonly journal: WorktreeJournal;
  readonly main: RepositoryCapability;
  readonly dryRun: boolean;
}

async function recoverArchive({ context, journals, journal, main, dryRun }: Step): Promise<Finding> {
  const { id, path, root, gitDirectory } = journal;
  if (root === null || gitDirectory === null) return left('journal-invalid');
  using parent = new WorktreeParent(await context.openRoot(dirname(path)).catch(refuse), path);
  const common = main.repository.commonDirectory;
  const row = await findRow(common, gitDirectory);
  try {
    const isAt = async (name: string) => {
      using directory = await openOrNull(parent.directory, name);
      return directory !== null && matchesStoredIdentity(directory.handle.identity(), root);
    };
    const [aside, leaving] = [stageName('aside', id), stageName('leaving', id)];
    const stands = await isAt(parent.leaf);
    const isAside = !stands && (await isAt(aside));
    if (stands || isAside) {
      if (isAside && !(await parent.isFree(parent.leaf))) return left('path-taken');
      if (dryRun) return { action: 'put-back', reason: 'nothing was removed' };
      if (isAside) {
        using directory = await parent.directory.openDirectory(aside).catch(refuse).then(disposable);
        if (!(await parent.move(aside, parent.leaf, directory.handle.place()))) return left('path-taken');
      }
      if (row !== null) await rowLock(row.handle, id).release();
      await context.archives.drop(journal.archive).catch(unlessUnknown);
      await journals.remove(id);
      return { action: 'put-back', reason: 'nothing was removed' };
    }
    // Whatever is gone by now must be in the archive, and what is still there only helps.
    if (!(await isWhole(context, journal.archive))) return left('archive-unreadable');
    if (dryRun) return { action: 'completed', reason: 'removal had begun' };
    const isLeaving = await isAt(leaving);
    if (isLeaving) {
      using directory = await parent.directory.openDirectory(leaving).catch(refuse).then(disposable);
      const { count } = await removeContents(directory.handle);
      if (count > 0) return left('not-removable');
      await parent.directory.removeDirectory(leaving, null).catch(refuse);
    }
    if (row !== null && (await removeRow(common, row.name, row.handle)).count > 0)
      return left('not-removable');
    await context.archives.finish(journal.archive);
    await endWorkspace(context, journal);
    await journals.remove(id);
    return { action: 'completed', reason: 'removal had begun' };
  } finally {
    row?.handle.close();
  }
}

async function recoverRestore({ context, journals, journal, main, dryRun }: Step): Promise<Finding> {
  using parent = new WorktreeParent(
    await context.openRoot(dirname(journal.path)).catch(refuse),
    journal.path,
  );
  const common = main.repository.commonDirectory;
  if (await hasArrived(common, parent, journal.id)) {
    if (!dryRun) await journals.remove(journal.id);
    return { action: 'completed', reason: 'the worktree stands' };
  }
  if (dryRun) return { action: 'removed', reason: 'it had not come to its end' };
  if ((await discardArrival(common, parent, journal.id)) > 0) return left('not-removable');
  await journals.remove(journal.id);
  return { action: 'removed', reason: 'it had not come to its end' };
}

async function findRow(
  common: DirectoryHandle,
  identity: StoredIdentity,
): Promise<{ readonly name: string; readonly handle: DirectoryHandle } | null> {
  for (const name of await rowNames(common)) {
    const opened = await openOrNull(common, `worktrees/${name}`);
    if (opened === null) continue;
    if (matchesStoredIdentity(opened.handle.identity(), identity)) return { name, handle: opened.handle };
    opened.handle.close();
  }
  return null;
}

async function isWhole({ archives }: ArchiveContext, id: string): Promise<boolean> {
  try {
    using archive = await archives.open(id);
    await archive.entries();
    return true;
  } catch (error) {
    if (isAuthorityError(error)) return false;
    throw error;
  }
}

function disposable(handle: DirectoryHandle): Disposable & { readonly handle: DirectoryHandle } {
  return { handle, [Symbol.dispose]: () => handle.close() };
}

async function openOrNull(directory: DirectoryHandle, latin1: string) {
  try {
    return disposable(await directory.openDirectory(Buffer.from(latin1, 'latin1')));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EXDEV'].includes(codeOf(error) ?? '')) return null;
    throw refusalOf(error);
  }
}

function unlessUnknown(error: unknown): void {
  if (!isAuthorityError(error) || error.code !== 'archive_not_found') throw error;
}

function left(reason: string): Finding {
  return { action: 'left', reason };
}

function refuse(error: unknown): never {
  throw refusalOf(error);
}
