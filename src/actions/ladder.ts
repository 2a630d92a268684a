import type { StandingOperation } from '../git/operation-state.ts';

/** One action, and whether it fits the state of the repository (wire contract, 1.6). */
export interface LadderEntry {
  readonly id: ActionId;
  readonly disabled: boolean;
  /** By which existing clients choose their text; null when the action is enabled. */
  readonly reasonKey: ReasonKey | null;
  readonly params?: Readonly<Record<string, number>>;
  /** Of an action that changes neither files nor branches. */
  readonly readOnly?: true;
  /** Of archive: something would be lost that is nowhere else. */
  readonly warn?: boolean;
}

export type ActionId =
  | 'commit'
  | 'pull'
  | 'push'
  | 'createPr'
  | 'mergeToBase'
  | 'updateFromBase'
  | 'discard'
  | 'fetch'
  | 'archive';

export type ReasonKey = `actions.${string}`;

/** What the ladder goes by; null: not known. As snapshots name it. */
export interface LadderFacts {
  readonly branch: string | null;
  readonly detached: boolean;
  readonly unborn: boolean;
  readonly baseRefName: string | null;
  readonly baseRef: string | null;
  readonly changedFileCount: number | null;
  readonly untrackedCount: number | null;
  readonly aheadBehind: Delta | null;
  readonly upstream: (Delta & { readonly ref: string }) | null;
  readonly originDelta: Delta | null;
  readonly github: object | null;
  readonly managed: boolean;
  readonly gitKnown: {
    readonly head: boolean;
    readonly status: boolean;
    readonly aheadBehind: boolean;
    readonly originDelta: boolean;
  };
  readonly degraded: readonly { readonly stage: string }[];
  readonly unmerged: number | null;
  readonly untrackedRepositories: number | null;
  readonly hasOrigin: boolean | null;
  readonly standing: StandingOperation;
  readonly isPullRequest: boolean;
}

interface Delta {
  readonly ahead: number;
  readonly behind: number;
}

/** What is not known for certain is never offered (R04). */
const unknown = 'actions.failed';
const clean = 'actions.commit.clean';
const inProgress = 'actions.merge.inProgress';

/**
 * The actions in the order of the contract; the first that is enabled is what a person would do next. It judges by the facts alone: the
 * action judges anew. `running`: somebody works in the checkout, so that nothing may change it.
 */
export function ladderOf(facts: LadderFacts, running: boolean): readonly LadderEntry[] {
  const { branch, baseRefName, aheadBehind, github, isPullRequest, gitKnown } = facts;
  const isNew = github !== null && !isPullRequest && branch !== null && (aheadBehind?.ahead ?? 0) > 0;
  const isBase = gitKnown.head && branch !== null && branch === baseRefName;
  const pulled = pullDelta(facts);
  const pushed = pushAhead(facts);
  const entries: LadderEntry[] = [
    entry('commit', commitReason(facts)),
    {
      ...entry('pull', pullReason(facts)),
      ...(pulled === null ? {} : { params: { behind: pulled.behind } }),
    },
    { ...entry('push', pushReason(facts)), ...(pushed === null ? {} : { params: { ahead: pushed } }) },
    // No forge is asked: whether there is a pull request already is not known.
    ...(isNew ? [entry('createPr', unknown)] : []),
    ...(isBase ? [] : [entry('mergeToBase', mergeToBaseReason(facts))]),
    entry('updateFromBase', updateReason(facts)),
    entry('discard', discardReason(facts)),
    { ...entry('fetch', fetchReason(facts)), readOnly: true },
    { ...entry('archive', archiveReason(facts)), warn: losesWork(facts) },
  ];
  return running ? entries.map(whileRunning) : entries;
}

function entry(id: ActionId, reasonKey: ReasonKey | null): LadderEntry {
  return { id, disabled: reasonKey !== null, reasonKey };
}

function whileRunning(entry: LadderEntry): LadderEntry {
  if (entry.readOnly) return entry;
  return { ...entry, disabled: true, reasonKey: 'actions.disabled.agentRunning' };
}

function commitReason(facts: LadderFacts): ReasonKey | null {
  const { standing, unmerged } = facts;
  const changes = ownChanges(facts);
  if (!facts.gitKnown.head || changes === null || unmerged === null || standing === 'unknown') return unknown;
  if (standing !== null && standing !== 'merge') return inProgress;
  if (unmerged > 0) return 'actions.merge.conflict';
  return changes === 0 && standing === null ? clean : null;
}

function discardReason(facts: LadderFacts): ReasonKey | null {
  const { standing, unmerged } = facts;
  const changes = ownChanges(facts);
  if (!facts.gitKnown.head || changes === null || unmerged === null || standing === 'unknown') return unknown;
  if (standing !== null) return inProgress;
  if (unmerged > 0) return 'actions.merge.conflict';
  return changes === 0 ? clean : null;
}

function pullReason(facts: LadderFacts): ReasonKey | null {
  const { hasOrigin } = facts;
  if (hasOrigin === null || !facts.gitKnown.head) return unknown;
  if (!hasOrigin) return 'actions.pull.noRemote';
  if (isOffBranch(facts)) return 'actions.merge.detached';
  if (!facts.gitKnown.originDelta || facts.degraded.some(({ stage }) => stage === 'upstream')) return unknown;
  const delta = pullDelta(facts);
  if (delta === null) return 'actions.pull.noRemote';
  if (delta.behind === 0) return 'actions.pull.upToDate';
  return mergeReason(facts);
}

/** What of `origin` is pulled: the configured upstream, else the branch of the same name. */
function pullDelta({ upstream, originDelta }: LadderFacts): Delta | null {
  if (upstream === null) return originDelta;
  return upstream.ref.startsWith('origin/') ? upstream : null;
}

function pushReason(facts: LadderFacts): ReasonKey | null {
  const { hasOrigin, originDelta, gitKnown } = facts;
  if (hasOrigin === null || !gitKnown.head) return unknown;
  if (facts.isPullRequest) return 'actions.push.prCheckout';
  if (isOffBranch(facts)) return 'actions.push.noBranch';
  if (!hasOrigin) return 'actions.push.noRemote';
  if (!gitKnown.originDelta) return unknown;
  return originDelta?.ahead === 0 ? 'actions.push.nothing' : null;
}

/** Null also for a branch that `origin` does not have and that nothing tells the length of. */
function pushAhead({ originDelta, aheadBehind }: LadderFacts): number | null {
  return (originDelta ?? aheadBehind)?.ahead ?? null;
}

function mergeToBaseReason(facts: LadderFacts): ReasonKey | null {
  const { aheadBehind, gitKnown } = facts;
  if (!gitKnown.head) return unknown;
  if (isOffBranch(facts)) return 'actions.merge.detached';
  if (facts.baseRefName === null || facts.baseRef === null) return 'actions.mergeToBase.noOwner';
  if (!gitKnown.aheadBehind || aheadBehind === null) return unknown;
  return aheadBehind.ahead === 0 ? 'actions.mergeToBase.nothing' : mergeReason(facts);
}

function updateReason(facts: LadderFacts): ReasonKey | null {
  const { aheadBehind, gitKnown } = facts;
  if (!gitKnown.head) return unknown;
  if (isOffBranch(facts)) return 'actions.merge.detached';
  if (facts.baseRef === null) return 'actions.updateFromBase.noBase';
  if (!gitKnown.aheadBehind || aheadBehind === null) return unknown;
  return aheadBehind.behind === 0 ? 'actions.updateFromBase.upToDate' : mergeReason(facts);
}

function fetchReason({ hasOrigin }: LadderFacts): ReasonKey | null {
  if (hasOrigin === null) return unknown;
  return hasOrigin ? null : 'actions.pull.noRemote';
}

/** Why nothing can be merged into the checkout as it is. Untracked files are in nobody's way until one is to be made under their name. */
function mergeReason({
  standing,
  unmerged,
  changedFileCount,
  untrackedCount,
}: LadderFacts): ReasonKey | null {
  if (standing === 'unknown' || unmerged === null || changedFileCount === null || untrackedCount === null) {
    return unknown;
  }
  if (standing !== null) return inProgress;
  if (unmerged > 0) return 'actions.merge.conflict';
  return changedFileCount > untrackedCount ? 'actions.merge.dirtyCurrent' : null;
}

function isOffBranch({ branch, detached, unborn }: LadderFacts): boolean {
  return detached || unborn || branch === null;
}

/** Changed files but for repositories of their own, which no action touches. */
function ownChanges({ changedFileCount, untrackedRepositories }: LadderFacts): number | null {
  if (changedFileCount === null || untrackedRepositories === null) return null;
  return changedFileCount - untrackedRepositories;
}

/** Work that would be lost is no reason: it is warned of, and kept. A branch without a commit has nothing to come back to. */
function archiveReason({ managed, gitKnown, changedFileCount, unborn }: LadderFacts): ReasonKey | null {
  if (!managed) return 'actions.archive.notManaged';
  return gitKnown.head && changedFileCount !== null && !unborn ? null : unknown;
}

function losesWork(facts: LadderFacts): boolean {
  const { changedFileCount, originDelta, aheadBehind, gitKnown, unborn, detached, standing } = facts;
  if (changedFileCount !== 0 || !gitKnown.originDelta || detached || standing !== null) return true;
  if (unborn) return false;
  return (originDelta ?? aheadBehind)?.ahead !== 0;
}
