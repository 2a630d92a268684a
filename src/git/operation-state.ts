import { type DirectoryHandle, fileFacts } from '../capability/handles.ts';
import { codeOf, refusalOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { type CommitOid, parseCommitOid } from './values.ts';

/** A command of several steps that somebody has begun and that stands in the middle. */
export type UnfinishedOperation = 'rebase' | 'cherry-pick' | 'revert' | 'bisect';

/** What Git keeps in its directory meanwhile; see wt_status_get_state of Git and gitrepository-layout(5). */
const traces: readonly (readonly [name: string, operation: UnfinishedOperation])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry-pick'],
  ['BISECT_LOG', 'bisect'],
];

/** Heads of an octopus merge that is written by hand; more is no merge. */
const mergeHeadLimitBytes = 64 * 1024;

/** The operation that stands in the middle, a merge apart; null without one. @throws `storage_failed` | `too_many_open_files` */
export async function findUnfinished({
  repository,
}: RepositoryCapability): Promise<UnfinishedOperation | null> {
  for (const [name, operation] of traces) {
    if (await exists(repository.gitDirectory, name)) return operation;
  }
  return null;
}

/** What stands in the middle, a merge included; `unknown` where its traces cannot be read. */
export type StandingOperation = UnfinishedOperation | 'merge' | 'unknown' | null;

/** As `findUnfinished` and `readMergeHeads`, for who only tells of it. @throws as `findUnfinished` */
export async function findStanding(capability: RepositoryCapability): Promise<StandingOperation> {
  const unfinished = await findUnfinished(capability);
  if (unfinished !== null) return unfinished;
  try {
    return (await readMergeHeads(capability)).length > 0 ? 'merge' : null;
  } catch (error) {
    if (isAuthorityError(error) && error.code === 'git_failed') return 'unknown';
    throw error;
  }
}

/**
 * Whether somebody writes the index now, or died over it. Git cannot tell the two apart, and neither can we: the lock has no owner.
 * @throws as `findUnfinished`
 */
export function isIndexLocked({ repository }: RepositoryCapability): Promise<boolean> {
  return exists(repository.gitDirectory, 'index.lock');
}

/** Whether history is cut off somewhere, so that what it does not show may exist all the same. @throws as `findUnfinished` */
export function isShallow({ repository }: RepositoryCapability): Promise<boolean> {
  return exists(repository.commonDirectory, 'shallow');
}

/** The commits that are being merged; empty without a merge. @throws `git_failed` (details.reason `merge-head`) | as `findUnfinished` */
export async function readMergeHeads({ repository }: RepositoryCapability): Promise<readonly CommitOid[]> {
  let bytes: Uint8Array;
  try {
    const facts = new BigInt64Array(fileFacts.count);
    bytes = await repository.gitDirectory.read('MERGE_HEAD', mergeHeadLimitBytes, facts, null);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw refusalOf(error);
  }
  const lines = Buffer.from(bytes).toString('latin1').split('\n');
  const heads = lines.slice(0, -1).map((line) => parseCommitOid(line.split('\t')[0] ?? ''));
  if (lines.at(-1) !== '' || heads.length === 0 || heads.includes(null)) {
    throw new AuthorityError('git_failed', { details: { command: 'merge', reason: 'merge-head' } });
  }
  return heads as CommitOid[];
}

async function exists(directory: DirectoryHandle, name: string): Promise<boolean> {
  try {
    await directory.stat(name, null);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw refusalOf(error);
  }
}
