import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessOwner } from '../../src/capability/process-owner.ts';
import { type BranchName, type CommitOid, parseBranchName, parseCommitOid } from '../../src/git/values.ts';
import { type Journal, journalName, printJournal } from '../../src/worktrees/journal.ts';

/** No process of this machine: its boot is over. */
export const deadOwner: ProcessOwner = { pid: '1', startTime: '1', pidNamespace: '1', boot: '00000000' };

/**
 * Writes the journal that a creation leaves which has only begun, in the directory of the worktrees of a repository, and answers with the path
 * that its worktree would have. `said` wins over everything.
 */
export async function leaveCreation(
  home: string,
  { branch, oid, txId }: { readonly branch: string; readonly oid: string; readonly txId: string },
  said: Partial<Journal> = {},
): Promise<string> {
  const commit = parseCommitOid(oid) as CommitOid;
  const plan: Journal['plan'] = {
    leaf: `left-${branch}`,
    branch: parseBranchName(branch) as BranchName,
    oid: commit,
    ownsBranch: true,
    intent: 'branch-off',
    baseOid: commit,
    baseName: null,
    copiedFrom: null,
    upstream: null,
    sourceTitle: null,
    pullNumber: null,
    createdAtMs: 1,
  };
  const journal: Journal = {
    txId,
    fingerprint: null,
    owner: deadOwner,
    phase: 'prepared',
    plan,
    root: null,
    gitDirectory: null,
    ...said,
  };
  await writeFile(join(home, journalName(txId)), printJournal(journal), { mode: 0o600 });
  return join(home, plan.leaf);
}
