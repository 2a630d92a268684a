import { managedFactsOf } from '../authority/managed-facts.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import type { ConfigurationGate } from '../git/configuration-gate.ts';
import { malformedOutput, runExpecting } from '../git/expect-success.ts';
import { brokenHead } from '../git/head-commit.ts';
import { originAddressIn } from '../git/origin-address.ts';
import { pinnedPlace } from '../git/pinned-place.ts';
import { readCommands } from '../git/read-commands.ts';
import { parseForgeIdentity, shownRemoteAddress } from '../git/remote-address.ts';
import type { GitRunner } from '../git/run-git.ts';
import { parseSettings, type Setting } from '../git/setting.ts';
import { countStatus, type StatusCounts } from '../git/status-counts.ts';
import type { UserConfiguration } from '../git/user-configuration.ts';
import { readDiffStat } from './diff-stat.ts';
import { type Comparison, type Differences, readDifferences } from './differences.ts';
import type { FileStamps } from './file-stamps.ts';
import { type HeadFacts, readHeadFacts } from './head-facts.ts';
import type { RepositoryFacts, UnshownFacts } from './snapshot.ts';
import { Stages } from './stages.ts';

export interface SnapshotTools {
  readonly git: GitRunner;
  readonly configuration: ConfigurationGate;
  /** What the server's user has set; without it no ignore file of a user counts. */
  readonly user?: (signal?: AbortSignal) => Promise<Pick<UserConfiguration, 'excludesFile'>>;
}

/** A snapshot, and what decides how long it holds. */
export interface SnapshotReading {
  readonly facts: RepositoryFacts;
  readonly unshown: UnshownFacts;
  /** Directories that Git ignores as a whole, in Latin-1; null when the status is not known. */
  readonly ignoredDirectories: readonly string[] | null;
  /** Whether the answer would be the same while files and work tree are the same. */
  readonly lasting: boolean;
}

/** Files that any answer depends on, beside the refs that are read. */
const checkoutFiles = ['HEAD', 'index', 'FETCH_HEAD', 'config.worktree', 'info/sparse-checkout'];
const commonFiles = ['config', 'packed-refs', 'shallow', 'info/exclude', 'info/attributes', 'info/grafts'];

/**
 * Asks Git about one checkout. Stages fail on their own. `stamps` learns each file before it is read.
 * @throws `identity_changed` | `aborted` | `shutting_down`
 */
export async function readSnapshot(
  capability: RepositoryCapability,
  tools: SnapshotTools,
  stamps: FileStamps,
  signal: AbortSignal,
): Promise<SnapshotReading> {
  const stages = new Stages();
  for (const path of checkoutFiles) await stamps.add('checkout', path);
  for (const path of commonFiles) await stamps.add('common', path);
  const settings = await stages.attempt('remote', () => readSettings(capability, tools.git, signal));
  const head = await stages.attempt('head', () => readHeadFacts(capability, tools.git, stamps, signal));
  const comparison: Comparison = { capability, git: tools.git, signal };
  const [differences, { status, diffStat }] = await Promise.all([
    readDifferences(comparison, head, stages),
    readWorkTree(comparison, tools, head, stages),
  ]);
  const facts = {
    ...describePlace(capability),
    ...describeHead(head),
    ...describeStatus(status),
    ...differences,
    diffStat,
    ...describeRemote(settings),
    forgeAuth: 'no_remote',
    prHeadRef: null,
    prNumber: null,
    prLookupSha: head?.sha ?? null,
    prRequireShaMatch: false,
    prPollingDisabled: true,
    pr: null,
    gitKnown: describeKnown(head, stages, differences),
    degraded: stages.degraded,
  } satisfies RepositoryFacts;
  const unshown = {
    unmerged: status?.unmerged ?? null,
    untrackedRepositories: status?.repositories ?? null,
    hasOrigin: settings === undefined ? null : originAddressIn(settings) !== null,
  };
  return { facts, unshown, ignoredDirectories: status?.ignoredDirectories ?? null, lasting: stages.lasting };
}

async function readSettings(
  capability: RepositoryCapability,
  git: GitRunner,
  signal: AbortSignal,
): Promise<readonly Setting[]> {
  const command = readCommands.configuration(pinnedPlace(capability));
  const settings = parseSettings(await runExpecting(git, command, signal));
  if (settings === null) throw malformedOutput(command);
  return settings;
}

async function readWorkTree(
  comparison: Comparison,
  { configuration, user }: SnapshotTools,
  head: HeadFacts | undefined,
  stages: Stages,
): Promise<{ status: StatusCounts | undefined; diffStat: RepositoryFacts['diffStat'] }> {
  const { capability, git, signal } = comparison;
  const status = await stages.attempt('status', async () => {
    // Git takes a HEAD that it cannot read for an unborn branch, and every file for a new one.
    if (head === undefined) throw brokenHead();
    const excludes = await user?.(signal);
    const place = await configuration.clear(capability, 'work-tree', signal);
    const command = readCommands.status(place, {
      ignored: 'matching',
      ...(excludes === undefined ? {} : { excludesFile: excludes.excludesFile }),
    });
    const counts = countStatus(await runExpecting(git, command, signal));
    if (counts === null) throw malformedOutput(command);
    return counts;
  });
  const diffStat = await stages.attempt('diff-stat', async () => {
    if (head === undefined) throw brokenHead();
    return readDiffStat(comparison, configuration, head, status?.tracked === 0);
  });
  return { status, diffStat: diffStat ?? null };
}

function describePlace(capability: RepositoryCapability) {
  const { mainRoot } = capability.repository;
  return {
    isGit: true,
    repoRoot: capability.root,
    mainRepoRoot: mainRoot,
    isLinkedWorktree: mainRoot !== capability.root,
    managed: managedFactsOf(capability) !== null,
  } as const;
}

function describeHead(head: HeadFacts | undefined) {
  return {
    baseRefName: head?.baseName ?? null,
    baseRef: head?.base ?? null,
    defaultBranch: head?.defaultBranch ?? null,
    branch: head?.branch ?? null,
    detached: head?.detached ?? false,
    detachedShort: head?.detached ? (head.sha?.slice(0, shortLength) ?? null) : null,
    sha: head?.sha ?? null,
    unborn: head?.unborn ?? false,
  };
}

const shortLength = 7;

function describeStatus(status: StatusCounts | undefined) {
  if (status === undefined) return { dirty: null, changedFileCount: null, untrackedCount: null };
  const changedFileCount = status.tracked + status.untracked;
  return { dirty: changedFileCount > 0, changedFileCount, untrackedCount: status.untracked };
}

function describeRemote(settings: readonly Setting[] | undefined) {
  const address = settings === undefined ? null : originAddressIn(settings);
  if (address === null) return { remote: null, github: null };
  return { remote: shownRemoteAddress(address), github: parseForgeIdentity(address) };
}

function describeKnown(head: HeadFacts | undefined, stages: Stages, differences: Differences) {
  const known = head !== undefined;
  return {
    head: known,
    status: !stages.has('status'),
    aheadBehind: known && (differences.aheadBehind !== null || !stages.has('ahead-behind')),
    originDelta: known && (differences.originDelta !== null || !stages.has('origin-delta')),
    diffStat: !stages.has('diff-stat'),
  };
}
