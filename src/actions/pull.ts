import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { readRefTips } from '../git/ref-tips.ts';
import { parseRefName, type RefName } from '../git/values.ts';
import type { ActionContext } from './action-context.ts';
import { actionRefused } from './action-refusal.ts';
import { refMoved } from './commit-index.ts';
import { fetchForUser } from './fetch.ts';
import { type FamilyTurn, inFamily } from './in-family.ts';
import { mergeIntoCheckout } from './merge-into-checkout.ts';
import { mergeMessage, shortName } from './merge-message.ts';
import { staleTarget } from './move-branch.ts';
import type { MergeOutcome } from './repository-actions.ts';
import { captureSettled, dirty, findSettled, readTrackedChanges } from './settled-checkout.ts';

const heads = 'refs/heads/';
const originRefs = 'refs/remotes/origin/';

/** What is pulled where. */
interface Upstream {
  readonly branch: RefName;
  /** Remembers the branch at `origin`. */
  readonly tracking: RefName;
}

/** See `RepositoryActions.pull`. The other machine is waited for outside the turn (W46). */
export async function pull(
  context: ActionContext,
  selector: string,
  signal?: AbortSignal,
): Promise<MergeOutcome> {
  await using asked = await context.authority.authorizeRepository(selector, signal);
  const upstream = await fetchUpstream(context, asked, signal);
  const task = async (turn: FamilyTurn) => {
    // Another repository that stands under the name by now is not the one that was fetched for.
    await asked.assertCurrent(signal);
    return pullInTurn(context, turn, upstream, signal);
  };
  return await inFamily(context, selector, task, signal);
}

/** Fetches once it is known that the checkout could take what comes: nobody waits for a network to be refused. */
async function fetchUpstream(
  context: ActionContext,
  capability: RepositoryCapability,
  signal?: AbortSignal,
): Promise<Upstream> {
  const { branch } = await findSettled(context, capability, signal);
  const changes = await readTrackedChanges(context, capability, signal);
  // What is staged only may be what a pull left that was killed before its last step; the merge will tell.
  if (changes.some(({ unstaged }) => unstaged !== '.')) throw dirty('current', changes);
  const tracking = await trackingOf(context, capability, branch, signal);
  await fetchForUser(context, capability, signal);
  return { branch, tracking };
}

/** The configured upstream, else the branch of the same name; at `origin`, since nothing else is fetched. */
async function trackingOf(
  { git }: ActionContext,
  capability: RepositoryCapability,
  branch: RefName,
  signal?: AbortSignal,
): Promise<RefName> {
  const configured = (await readRefTips(capability, git, [branch], signal)).get(branch)?.upstream ?? null;
  const tracking = configured ?? parseRefName(originRefs + branch.slice(heads.length));
  if (tracking?.startsWith(originRefs)) return tracking;
  throw actionRefused('actions.pull.noRemote', { reason: 'upstream-elsewhere' });
}

async function pullInTurn(
  context: ActionContext,
  turn: FamilyTurn,
  { branch, tracking }: Upstream,
  signal?: AbortSignal,
): Promise<MergeOutcome> {
  const head = await captureSettled(context, turn, signal);
  if (head.branch !== branch) throw refMoved(staleTarget);
  const tips = await readRefTips(turn.capability, context.git, [tracking], signal);
  const theirs = tips.get(tracking)?.commit ?? null;
  if (theirs === null) throw actionRefused('actions.pull.noRemote', { reason: 'upstream-gone' });
  const message = mergeMessage('remote-tracking branch', shortName(tracking), shortName(branch));
  const merge = { head, theirs, message, log: 'pull', side: 'current' } as const;
  const { kind, oid } = await mergeIntoCheckout(context, turn, merge, signal);
  return { kind, oid, previous: head.commit, mergedOid: theirs };
}
