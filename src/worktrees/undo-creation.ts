import { emptyFacts } from '../capability/file-facts.ts';
import { matchesStoredIdentity } from '../capability/identity.ts';
import { codeOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { findBranchHolders } from '../git/branch-holders.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readRefTips } from '../git/ref-tips.ts';
import { runWriting } from '../git/run-writing.ts';
import { writeCommands } from '../git/write-commands.ts';
import { headOf } from './choose-branch.ts';
import type { CreateContext } from './create-context.ts';
import { type Journal, journalName } from './journal.ts';
import { readListed } from './listed-worktrees.ts';
import type { ManagedHome } from './managed-home.ts';

/** What had to be left, and why; null when nothing was. */
export type Left =
  | 'path-not-ours'
  | 'path-not-empty'
  | 'row-not-ours'
  | 'branch-checked-out'
  | 'branch-changed'
  | null;

/**
 * Takes back a creation that Git has not completed: the directory while it is empty but for Git's own pointer, the row while its directory is
 * gone, the branch while it is the one that was made for it and has not moved (decisions 1.3). No file of anybody is removed. The journal goes
 * when nothing of the worktree is left; a branch that has to stay is somebody's by then.
 * @throws as the Git commands and the storage do; the journal stays then
 */
export async function undoCreation(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  journal: Journal,
): Promise<Left> {
  const left = (await removeDirectory(home, journal)) ?? (await forgetRow(context, main, home, journal));
  if (left !== null) return left;
  const branchLeft = journal.plan.ownsBranch ? await removeBranch(context, main, journal) : null;
  const record = await home.records.read(journalName(journal.txId));
  if (record !== null) await home.records.remove(record);
  return branchLeft;
}

async function removeDirectory({ directory }: ManagedHome, { plan, root }: Journal): Promise<Left> {
  const { leaf } = plan;
  try {
    if (root !== null) {
      const held = await directory.openDirectory(leaf);
      try {
        if (!matchesStoredIdentity(held.identity(), root)) return 'path-not-ours';
        const { names } = await held.list('.', { rootPath: '/', limit: 2 }, null);
        const isBare = Buffer.from(names).toString('latin1') === '.git\0';
        const pointer = isBare ? await held.stat('.git', null) : null;
        if (pointer?.type === 'file') await held.unlinkIfSame('.git', pointer.inode, pointer.device);
      } finally {
        held.close();
      }
    }
    await directory.removeDirectory(leaf, null);
    return null;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return null;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return 'path-not-empty';
    if (code === 'ENOTDIR' || code === 'ELOOP') return 'path-not-ours';
    throw error;
  }
}

async function forgetRow(
  { git }: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  { plan }: Journal,
): Promise<Left> {
  const path = `${home.path}/${plan.leaf}`;
  const row = (await readListed(main, git)).find((listed) => listed.path === path);
  if (row === undefined) return null;
  if (row.ref !== Buffer.from(headOf(plan.branch)).toString('latin1')) return 'row-not-ours';
  await runWriting(git, writeCommands.forgetWorktree(pinnedPlace(main), path));
  return null;
}

async function removeBranch(
  { git }: CreateContext,
  main: RepositoryCapability,
  { plan, txId }: Journal,
): Promise<Left> {
  const ref = headOf(plan.branch);
  const tip = (await readRefTips(main, git, [ref])).get(ref);
  if (tip === undefined) return null;
  if (tip.commit !== plan.oid || !(await wasMadeBy(main, ref, txId))) return 'branch-changed';
  if ((await findBranchHolders(main, ref)).length > 0) return 'branch-checked-out';
  await runWriting(git, writeCommands.deleteBranch(pinnedPlace(main), ref, plan.oid));
  return null;
}

const logLimitBytes = 64 * 1024;

/** Whether the log of a branch is one line, and it says that this transaction made it: then nobody has touched it since. */
async function wasMadeBy({ repository }: RepositoryCapability, ref: string, txId: string): Promise<boolean> {
  try {
    const bytes = await repository.commonDirectory.read(`logs/${ref}`, logLimitBytes, emptyFacts(), null);
    const lines = Buffer.from(bytes).toString('utf8').split('\n').slice(0, -1);
    return lines.length === 1 && lines[0]?.endsWith(`\t${branchReason(txId)}`) === true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** What the log of a branch says that was made for a worktree. */
export function branchReason(txId: string): string {
  return `workspace-authority: created for ${txId}`;
}
