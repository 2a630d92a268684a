import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { malformedOutput, runExpecting } from './expect-success.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import type { CommitOid, RefName } from './values.ts';

/** Commits that only one of two sides reaches. In a shallow clone those that it has. */
export interface Divergence {
  readonly ahead: number;
  readonly behind: number;
}

export interface DivergentPair {
  /** The local branch. */
  readonly ref: RefName;
  readonly local: CommitOid;
  readonly remote: CommitOid;
  /** Whether Git's configuration makes the remote side the upstream of the branch. */
  readonly tracked: boolean;
}

/** Of more pairs than this only the first are counted, which bounds the processes and their arguments. */
const mostPairs = 500;

/**
 * Counts for each pair, by the name of the local branch. All tracked pairs take one process together; then refs are looked at anew, so
 * that numbers may be those of a moment later than the names. Every other pair takes one of its own.
 * @throws `git_failed` | `aborted` | `shutting_down`
 */
export async function countDivergences(
  capability: RepositoryCapability,
  git: GitRunner,
  pairs: readonly DivergentPair[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<RefName, Divergence>> {
  const counted = pairs.slice(0, mostPairs);
  const tracked = counted.filter((pair) => pair.tracked).map((pair) => pair.ref);
  const counts = new Map(await countTracked(capability, git, tracked, signal));
  const others = counted.filter(({ ref }) => !counts.has(ref));
  await Promise.all(
    others.map(async ({ ref, local, remote }) => {
      counts.set(ref, await countDivergence(capability, git, local, remote, signal));
    }),
  );
  return counts;
}

/** Of one pair. @throws `git_failed` | `aborted` | `shutting_down` */
export async function countDivergence(
  capability: RepositoryCapability,
  git: GitRunner,
  left: CommitOid,
  right: CommitOid,
  signal?: AbortSignal,
): Promise<Divergence> {
  const command = readCommands.divergence(pinnedPlace(capability), left, right);
  const output = (await runExpecting(git, command, signal)).toString('latin1');
  const [, ahead, behind] = /^([0-9]+)\t([0-9]+)\n$/.exec(output) ?? [];
  if (ahead === undefined || behind === undefined) throw malformedOutput(command);
  return { ahead: Number(ahead), behind: Number(behind) };
}

async function countTracked(
  capability: RepositoryCapability,
  git: GitRunner,
  refs: readonly RefName[],
  signal?: AbortSignal,
): Promise<readonly (readonly [RefName, Divergence])[]> {
  if (refs.length === 0) return [];
  const command = readCommands.tracking(pinnedPlace(capability), refs);
  const output = (await runExpecting(git, command, signal)).toString('utf8');
  return output
    .split('\n')
    .slice(0, -1)
    .flatMap((line) => {
      const [ref = '', track = ''] = line.split('\0');
      const count = parseTracking(track);
      return count === null ? [] : [[ref as RefName, count] as const];
    });
}

/** Null for `gone` and for anything else that is no pair of numbers. */
export function parseTracking(text: string): Divergence | null {
  if (text === '') return { ahead: 0, behind: 0 };
  const match = /^(?:ahead (?<ahead>[0-9]+)(?:, behind (?<more>[0-9]+))?|behind (?<only>[0-9]+))$/.exec(text);
  if (match === null) return null;
  const { ahead = 0, more = 0, only = more } = match.groups ?? {};
  return { ahead: Number(ahead), behind: Number(only) };
}
