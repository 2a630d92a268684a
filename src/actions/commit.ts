import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { captureHead } from '../git/captured-head.ts';
import { malformedOutput, runExpecting } from '../git/expect-success.ts';
import { findUnfinished, readMergeHeads } from '../git/operation-state.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import { runWriting } from '../git/run-writing.ts';
import { parseStatusRecords, type StatusRecord } from '../git/status-records.ts';
import type { UserConfiguration, UserIdentity } from '../git/user-configuration.ts';
import { type CommitMessage, type CommitOid, parseCommitMessage } from '../git/values.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused, leftAt } from './action-refusal.ts';
import { commitIndex } from './commit-index.ts';
import { type FamilyTurn, inFamily } from './in-family.ts';
import { whileLocked } from './index-lock.ts';
import type { CommitOutcome, CommitRequest } from './repository-actions.ts';
import { tidyMessage } from './tidy-message.ts';

/** Paths that a refusal names at most. */
const namedPaths = 20;

/** See `RepositoryActions.commit`. */
export async function commit(
  context: ActionContext,
  selector: string,
  { message, addAll = true }: CommitRequest,
  signal?: AbortSignal,
): Promise<CommitOutcome> {
  const parsed = requireMessage(message);
  const task = (turn: FamilyTurn) => commitInTurn(context, turn, parsed, addAll, signal);
  return await inFamily(context, selector, task, signal);
}

async function commitInTurn(
  context: ActionContext,
  turn: FamilyTurn,
  message: CommitMessage,
  addAll: boolean,
  signal?: AbortSignal,
): Promise<CommitOutcome> {
  const { capability } = turn;
  const { git, configuration } = context;
  const user = await context.user(signal);
  const identity = requireIdentity(user);
  const operation = await findUnfinished(capability);
  if (operation !== null) throw actionRefused('actions.merge.inProgress', { operation });
  const head = await captureHead(capability, git, signal);
  const mergeHeads = await openMergeHeads(context, turn, head.commit, signal);
  const records = await readChanges(context, capability, user, signal);
  const unmerged = records.filter(({ kind }) => kind === 'unmerged');
  if (unmerged.length > 0) throw unmergedIndex(unmerged);
  const paths = addAll ? records.filter(isStageable).map(({ path }) => path) : [];
  const isStaged = records.some(({ kind, staged }) => kind === 'changed' && staged !== '.');
  if (paths.length === 0 && !isStaged && mergeHeads.length === 0) throw actionRefused('actions.commit.clean');
  if (paths.length > 0) {
    const place = await configuration.clear(capability, 'work-tree', signal);
    await turn.assertCurrent();
    // From here on the action goes to its end, whoever waits for it.
    await whileLocked(capability, () => runWriting(git, writeCommands.stage(place, paths)));
  }
  try {
    return await commitIndex(context, turn, { head, mergeHeads, message, identity });
  } catch (error) {
    throw paths.length > 0 ? leftAt(error, { partial: true, stage: 'commit', staged: true }) : error;
  }
}

/** The commits of a merge that is still to be concluded. A merge whose commit stands already, as a killed server leaves it, is forgotten. */
async function openMergeHeads(
  { git }: ActionContext,
  turn: FamilyTurn,
  head: CommitOid | null,
  signal?: AbortSignal,
): Promise<readonly CommitOid[]> {
  const place = pinnedPlace(turn.capability);
  const found = await readMergeHeads(turn.capability);
  for (const oid of found) {
    if (head === null) return found;
    const { exitCode } = await git.run(readCommands.isAncestor(place, oid, head), signal);
    if (exitCode !== 0) return found;
  }
  if (found.length > 0) {
    await turn.assertCurrent();
    await runWriting(git, writeCommands.endMerge(place));
  }
  return [];
}

async function readChanges(
  { git, configuration }: ActionContext,
  capability: RepositoryCapability,
  { excludesFile }: UserConfiguration,
  signal?: AbortSignal,
): Promise<readonly StatusRecord[]> {
  const place = await configuration.clear(capability, 'work-tree', signal);
  const command = readCommands.status(place, { ignored: false, excludesFile });
  const records = parseStatusRecords(await runExpecting(git, command, signal));
  if (records === null) throw malformedOutput(command);
  return records;
}

/** A directory among untracked files is a repository of its own; it is nobody's content here (W31). */
function isStageable({ kind, unstaged, path }: StatusRecord): boolean {
  return kind === 'untracked' ? !path.endsWith('/') : unstaged !== '.';
}

function requireMessage(text: string | undefined): CommitMessage {
  if (text === undefined || text.trim() === '') {
    throw new AuthorityError('commit_message_required', {
      details: { reasonKey: 'actions.commit.noMessage' },
    });
  }
  const message = parseCommitMessage(text);
  if (message !== null) return tidyMessage(message);
  throw new AuthorityError('invalid_request', { details: { field: 'message', reason: 'invalid' } });
}

function requireIdentity({ name, email }: UserConfiguration): UserIdentity {
  if (name !== null && email !== null) return { name, email };
  const missing = [...(name === null ? ['user.name'] : []), ...(email === null ? ['user.email'] : [])];
  throw new AuthorityError('identity_missing', { details: { missing } });
}

function unmergedIndex(records: readonly StatusRecord[]): AuthorityError {
  const paths = records.slice(0, namedPaths).map(({ path }) => Buffer.from(path, 'latin1').toString('utf8'));
  return new AuthorityError('unmerged_index', { details: { reasonKey: 'actions.merge.conflict', paths } });
}
