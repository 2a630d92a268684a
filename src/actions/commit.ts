import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { captureHead } from '../git/captured-head.ts';
import { findUnfinished } from '../git/operation-state.ts';
import { isReservedPath } from '../git/reserved-path.ts';
import { runWriting } from '../git/run-writing.ts';
import type { StatusRecord } from '../git/status-records.ts';
import type { UserIdentity } from '../git/user-configuration.ts';
import { type CommitMessage, parseCommitMessage } from '../git/values.ts';
import { writeCommands } from '../git/write-commands.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused, leftAt } from './action-refusal.ts';
import { commitIndex } from './commit-index.ts';
import { type FamilyTurn, inFamily } from './in-family.ts';
import { whileLocked } from './index-lock.ts';
import { openMergeHeads } from './open-merge-heads.ts';
import { readChanges, unmergedIndex } from './read-changes.ts';
import type { ActionWarning, CommitOutcome, CommitRequest } from './repository-actions.ts';
import { requireIdentity } from './require-identity.ts';
import { tidyMessage } from './tidy-message.ts';
import type { TrustedHooks } from './trusted-hooks.ts';

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
    using hooks = await context.hooks(capability);
    await hooks.run('pre-commit', identity);
    const said = await hooks.message(message, mergeHeads.length === 0 ? 'message' : 'merge', identity);
    const outcome = await commitIndex(context, turn, { head, mergeHeads, message: said, identity });
    return { ...outcome, warnings: [...outcome.warnings, ...(await tellCommitted(hooks, identity))] };
  } catch (error) {
    throw paths.length > 0 ? leftAt(error, { partial: true, stage: 'commit', staged: true }) : error;
  }
}

/** The commit stands, whatever becomes of the hook that is told of it. */
async function tellCommitted(hooks: TrustedHooks, identity: UserIdentity): Promise<readonly ActionWarning[]> {
  try {
    await hooks.run('post-commit', identity);
    return [];
  } catch (error) {
    if (!isAuthorityError(error)) throw error;
    return [{ stage: 'post-commit', code: error.code }];
  }
}

/** A directory among untracked files is a repository of its own; it is nobody's content here (W31), and neither is a leftover of ours (W11). */
function isStageable({ kind, unstaged, path }: StatusRecord): boolean {
  return kind === 'untracked' ? !path.endsWith('/') && !isReservedPath(path) : unstaged !== '.';
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
