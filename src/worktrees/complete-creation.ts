import { managedFactsOf } from '../authority/managed-facts.ts';
import { matchesStoredIdentity, sameLiveIdentity, toStoredIdentity } from '../capability/identity.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { contentDigest, Transactions } from '../capability/transaction-name.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { captureHead } from '../git/captured-head.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import type { GitProgress } from '../git/progress-lines.ts';
import { runWriting, runWritingTelling } from '../git/run-writing.ts';
import { writeCommands } from '../git/write-commands.ts';
import { metadataPaths, printOwnMetadata } from '../proof/managed-metadata.ts';
import { headOf, originOf } from './choose-branch.ts';
import type { CreateContext } from './create-context.ts';
import { type CreationPlan, type Journal, journalName } from './journal.ts';
import type { ManagedHome } from './managed-home.ts';
import { type CreationResult, ReceiptStore } from './receipts.ts';
import { ensureRegistered } from './registration.ts';

const transactions = new Transactions();

/**
 * Finishes a creation whose worktree Git knows: files, upstream, metadata, row of the registry, receipt, in this order. Each step looks first
 * whether it is done, so that it may be run again after a death anywhere in between. It deletes nothing but the journal.
 * @throws `creation_unproven` (details.reason) | as Git and the storage do; the journal stays then
 */
export async function completeCreation(
  context: CreateContext,
  main: RepositoryCapability,
  home: ManagedHome,
  journal: Journal,
  onProgress: (progress: GitProgress) => void = () => {},
): Promise<CreationResult> {
  const { plan, root, fingerprint, txId } = journal;
  const path = `${home.path}/${plan.leaf}`;
  {
    await using tree = await proveAdded(context, main, path, journal);
    await fill(context, tree, plan, onProgress);
    await writeMetadata(tree, main, plan);
  }
  const upstream = plan.upstream !== null && (await setUpstream(context, main, plan)) ? plan.upstream : null;
  const workspaceId = await ensureRegistered(context, path, titleOf(plan));
  await using managed = await context.authority.authorizeRepository(path);
  if (managedFactsOf(managed) === null) throw unproven('not-managed');
  const result = {
    path,
    branch: plan.branch,
    baseRef: plan.baseOid,
    baseRefName: plan.baseName,
    copiedFrom: plan.copiedFrom,
    upstream: upstream === null ? null : `origin/${upstream}`,
    pullNumber: plan.pullNumber,
    prHeadSha: plan.pullNumber === null ? null : plan.oid,
    workspaceId,
  };
  if (fingerprint !== null && root !== null)
    await new ReceiptStore(home).write({ txId, fingerprint, committedAtMs: Date.now(), root, result });
  const record = await home.records.read(journalName(txId));
  if (record !== null) await home.records.remove(record);
  return result;
}

/**
 * Proves that Git lists the worktree, that its pointers agree, and that it is the very one of the journal. The caller disposes it.
 * @throws `creation_unproven` | as `Authority.authorizeRepository`
 */
export async function proveAdded(
  { authority }: CreateContext,
  main: RepositoryCapability,
  path: string,
  { root, gitDirectory }: Pick<Journal, 'root' | 'gitDirectory'>,
): Promise<RepositoryCapability> {
  const tree = await authority.authorizeRepository(path);
  const { repository, held } = tree;
  const common = main.repository.commonDirectory.identity();
  const facts: readonly (readonly [reason: string, holds: boolean])[] = [
    ['other-repository', sameLiveIdentity(repository.commonDirectory.identity(), common)],
    ['path-not-ours', root !== null && matchesStoredIdentity(held.directory.identity(), root)],
    [
      'git-directory-not-ours',
      gitDirectory === null || matchesStoredIdentity(repository.gitDirectory.identity(), gitDirectory),
    ],
  ];
  const failed = facts.find(([, holds]) => !holds);
  if (failed === undefined) return tree;
  await tree[Symbol.asyncDispose]();
  throw unproven(failed[0]);
}

/** @throws `creation_unproven` unless the planned branch is checked out; gives its commit, which of a branch that was there may have moved */
export async function headOfAdded(
  { git }: CreateContext,
  tree: RepositoryCapability,
  plan: CreationPlan,
): Promise<CreationPlan['oid']> {
  const { branch, commit } = await captureHead(tree, git);
  if (branch !== headOf(plan.branch) || commit === null) throw unproven('head-changed');
  if (plan.ownsBranch && commit !== plan.oid) throw unproven('branch-changed');
  return commit;
}

/** An index says that the files were there once: what is missing since, somebody has taken away. */
async function fill(
  context: CreateContext,
  tree: RepositoryCapability,
  plan: CreationPlan,
  onProgress: (progress: GitProgress) => void,
): Promise<void> {
  const { gitDirectory } = tree.repository;
  if ((await statOrNull(gitDirectory, 'index')) !== null) return;
  const oid = await headOfAdded(context, tree, plan);
  // Git died while it filled this index, which nobody else knows.
  const lock = await statOrNull(gitDirectory, 'index.lock');
  if (lock !== null) await gitDirectory.unlinkIfSame('index.lock', lock.inode, lock.device);
  const place = await context.configuration.clear(tree, 'work-tree');
  await tree.assertCurrent();
  await runWritingTelling(context.git, writeCommands.fillWorktree(place, oid), onProgress);
  await headOfAdded(context, tree, plan);
}

async function setUpstream(
  { git }: CreateContext,
  main: RepositoryCapability,
  { branch, upstream }: CreationPlan,
): Promise<boolean> {
  if (upstream === null) return false;
  try {
    await runWriting(git, writeCommands.setUpstream(pinnedPlace(main), branch, originOf(upstream)));
    return true;
  } catch (error) {
    // The branch of origin may be gone meanwhile; the worktree is whole without it.
    if (isAuthorityError(error) && error.code === 'git_failed' && error.details['reason'] === 'exit-status')
      return false;
    throw error;
  }
}

async function writeMetadata(
  tree: RepositoryCapability,
  main: RepositoryCapability,
  plan: CreationPlan,
): Promise<void> {
  if (managedFactsOf(tree) !== null) return;
  const { gitDirectory } = tree.repository;
  const path = metadataPaths[2];
  const bytes = printOwnMetadata(plan, main.root, {
    root: toStoredIdentity(tree.held.directory.identity()),
    gitDirectory: toStoredIdentity(gitDirectory.identity()),
  });
  await tree.assertCurrent();
  try {
    await gitDirectory
      .makeDirectory(path.slice(0, path.indexOf('/')), 0o700, null)
      .catch((error: unknown) => {
        if (codeOf(error) !== 'EEXIST') throw error;
      });
    const content = { base: null, next: contentDigest(bytes) };
    await transactions.run('worktree.json', content, (temporaryName) =>
      gitDirectory.create(path, { bytes, mode: 0o600, temporaryName }, null),
    );
  } catch (error) {
    throw refusalOf(error);
  }
}

function titleOf({ sourceTitle, branch }: CreationPlan): string {
  return sourceTitle === null ? branch : `${sourceTitle} · ${branch}`;
}

async function statOrNull(directory: RepositoryCapability['repository']['gitDirectory'], name: string) {
  try {
    return await directory.stat(name, null);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw refusalOf(error);
  }
}

function unproven(reason: string): AuthorityError {
  return new AuthorityError('creation_unproven', { details: { reason } });
}
