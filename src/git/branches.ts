import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { chooseDefaultBranch, readBranchPointers } from './branch-facts.ts';
import { countDivergences, type Divergence, type DivergentPair } from './divergence.ts';
import { malformedOutput, runExpecting } from './expect-success.ts';
import { shortNameBelow } from './head.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitCommand, GitRunner } from './run-git.ts';
import { type CommitOid, parseCommitOid, type RefName } from './values.ts';

/** A local branch and the copy of one on `origin`, together where they have the same short name (wire contract, route 2). */
export interface Branch {
  readonly name: string;
  /** Seconds since 1970; the later one of the two. */
  readonly committerDate: number;
  readonly hasLocal: boolean;
  readonly hasRemote: boolean;
  readonly localOid?: string;
  readonly remoteOid?: string;
  /** Commits that only the local branch has; where both exist and differ, save in a list of very many. */
  readonly localAhead?: number;
  readonly localBehind?: number;
  readonly current: boolean;
}

export interface BranchListing {
  /** Short name; `origin/<name>` when there is no local branch of that name; null when nothing tells. */
  readonly defaultBranch: string | null;
  /** The branch that is checked out, born or not; null when HEAD is detached. An unborn one is not listed. */
  readonly current: string | null;
  /** Latest first, then by the code units of the name. */
  readonly branches: readonly Branch[];
}

/**
 * Lists branches by their full names, so that no tag changes one (W39). Branches whose names are not UTF-8 are left out, since nobody could
 * name them; so is the symbolic ref that says which branch of `origin` is its default.
 * @throws `git_failed` | `identity_changed` when HEAD is gone or malformed | `aborted` | `shutting_down`
 */
export async function readBranches(
  capability: RepositoryCapability,
  git: GitRunner,
  signal?: AbortSignal,
): Promise<BranchListing> {
  const command = readCommands.branches(pinnedPlace(capability));
  const pointers = await readBranchPointers(capability);
  const pairs = pairUp(command, await runExpecting(git, command, signal));
  const latestFirst = [...pairs.values()].sort(byDateThenName);
  const counts = await countDivergences(capability, git, latestFirst.flatMap(divergenceOf), signal);
  const isCurrent = ({ name, local }: BranchPair) => local !== undefined && name === pointers.branch;
  return {
    defaultBranch: chooseDefaultBranch(pointers, {
      local: (name) => pairs.get(name)?.local !== undefined,
      remote: (name) => pairs.get(name)?.remote !== undefined,
    }),
    current: pointers.branch,
    branches: latestFirst.map((pair) => describe(pair, counts, isCurrent(pair))),
  };
}

interface Side {
  readonly ref: RefName;
  readonly oid: CommitOid;
  /** Seconds since 1970. */
  readonly date: number;
  /** Full name as Latin-1; empty when there is none. */
  readonly upstream: string;
}

interface BranchPair {
  readonly name: string;
  readonly local?: Side;
  readonly remote?: Side;
}

const sidePrefixes = { local: 'refs/heads/', remote: 'refs/remotes/origin/' } as const;

function pairUp(command: GitCommand, output: Buffer): ReadonlyMap<string, BranchPair> {
  const pairs = new Map<string, BranchPair>();
  for (const line of output.toString('latin1').split('\n').slice(0, -1)) {
    const [ref, oid, symbolic, date, upstream, ...rest] = line.split('\0');
    if (ref === undefined || oid === undefined || upstream === undefined || rest.length > 0) {
      throw malformedOutput(command);
    }
    const side = ref.startsWith(sidePrefixes.local) ? 'local' : 'remote';
    const name = shortNameBelow(sidePrefixes[side], ref);
    const commit = parseCommitOid(oid);
    const pointsElsewhere = side === 'remote' && (symbolic !== '' || name === 'HEAD');
    // Without a date it is no commit.
    if (name === null || commit === null || date === '' || pointsElsewhere) continue;
    const fullName = (sidePrefixes[side] + name) as string as RefName;
    const found: Side = { ref: fullName, oid: commit, date: Number(date), upstream };
    pairs.set(name, { ...pairs.get(name), name, [side]: found });
  }
  return pairs;
}

function describe(pair: BranchPair, counts: ReadonlyMap<RefName, Divergence>, current: boolean): Branch {
  const { name, local, remote } = pair;
  const count = local && counts.get(local.ref);
  return {
    name,
    committerDate: dateOf(pair),
    hasLocal: local !== undefined,
    hasRemote: remote !== undefined,
    ...(local && { localOid: local.oid }),
    ...(remote && { remoteOid: remote.oid }),
    ...(count && { localAhead: count.ahead, localBehind: count.behind }),
    current,
  };
}

function divergenceOf({ local, remote }: BranchPair): DivergentPair[] {
  if (local === undefined || remote === undefined || local.oid === remote.oid) return [];
  const tracked = Buffer.from(local.upstream, 'latin1').toString('utf8') === remote.ref;
  return [{ ref: local.ref, local: local.oid, remote: remote.oid, tracked }];
}

function dateOf({ local, remote }: BranchPair): number {
  return Math.max(local?.date ?? 0, remote?.date ?? 0);
}

function byDateThenName(one: BranchPair, other: BranchPair): number {
  return dateOf(other) - dateOf(one) || (one.name < other.name ? -1 : 1);
}
