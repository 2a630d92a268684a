import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { isAuthorityError } from '../errors/index.ts';
import { type BaseQuery, type ComparedHead, readComparedHead } from './compared-head.ts';
import { malformedOutput, runExpecting } from './expect-success.ts';
import { findMergeBase } from './merge-base.ts';
import { pinnedPlace } from './pinned-place.ts';
import { type CommitRange, readCommands } from './read-commands.ts';
import type { GitCommand, GitRunner } from './run-git.ts';
import { parseCommitOid } from './values.ts';

export interface Commit {
  readonly sha: string;
  /** The first seven digits; not promised to be unique. */
  readonly short: string;
  /** What is not UTF-8 in a name or subject, and not said to be something else, shows as replacement characters. */
  readonly author: string;
  /** Time of authorship, milliseconds since 1970. */
  readonly at: number;
  readonly subject: string;
  /** Whether the remote ref does not reach it, as far as was last fetched; true when that is not known. */
  readonly unpushed: boolean;
}

/** What a checkout has over its base (wire contract, 1.5). */
export interface CommitListing {
  /** What the base was called; null when there is none, and the whole history is listed. */
  readonly base: string | null;
  /** The best common ancestor; null on an unborn branch and where there is none, as in a shallow clone. */
  readonly baseRef: string | null;
  /** Full name of the ref that remembers what was pushed. */
  readonly remoteRef: string | null;
  /** Newest first. */
  readonly commits: readonly Commit[];
  /** There are more. */
  readonly truncated?: true;
  /** What could not be told: whether commits were pushed. */
  readonly degraded?: readonly ['unpushed'];
}

/** As many as are listed at most. */
const mostCommits = 200;

/**
 * Lists what HEAD reaches and the base does not, by immutable names that are looked up once (R20).
 * @throws `invalid_base_revision` (details.reason `not-found`) | `git_failed` | `identity_changed` when HEAD is gone or malformed |
 *   `aborted` | `shutting_down`
 */
export async function readCommits(
  capability: RepositoryCapability,
  git: GitRunner,
  query: BaseQuery,
  signal?: AbortSignal,
): Promise<CommitListing> {
  const compared = await readComparedHead(capability, git, query, signal);
  const { head, base, remote } = compared;
  const names = { base: base?.label ?? null, remoteRef: remote.ref };
  if (head === null) return { ...names, baseRef: null, commits: [] };
  const baseRef = base && (await findMergeBase(capability, git, base.oid, head, signal));
  const start = baseRef ?? base?.oid;
  if (start === head) return { ...names, baseRef, commits: [] };
  const range = { tip: head, excluded: start === undefined ? [] : [start], limit: mostCommits };
  const [found, unpushed] = await Promise.all([
    listCommits(capability, git, { ...range, limit: mostCommits + 1 }, signal),
    findUnpushed(capability, git, range, compared, signal),
  ]);
  return {
    ...names,
    baseRef,
    commits: found.slice(0, mostCommits).map((commit) => ({
      ...commit,
      unpushed: unpushed === 'unknown' || unpushed.has(commit.sha),
    })),
    ...(found.length > mostCommits ? { truncated: true } : {}),
    ...(unpushed === 'unknown' ? { degraded: ['unpushed'] } : {}),
  };
}

type Unmarked = Omit<Commit, 'unpushed'>;

async function listCommits(
  capability: RepositoryCapability,
  git: GitRunner,
  range: CommitRange,
  signal?: AbortSignal,
): Promise<readonly Unmarked[]> {
  const command = readCommands.commits(pinnedPlace(capability), range);
  return parseCommits(command, await runExpecting(git, command, signal));
}

const fieldsOfCommit = 5;

function parseCommits(command: GitCommand, output: Buffer): readonly Unmarked[] {
  const fields = output.toString('utf8').split('\0');
  if (fields.pop() !== '' || fields.length % fieldsOfCommit !== 0) throw malformedOutput(command);
  const commits: Unmarked[] = [];
  for (let index = 0; index < fields.length; index += fieldsOfCommit) {
    const [name = '', , author = '', seconds = '', subject = ''] = fields.slice(
      index,
      index + fieldsOfCommit,
    );
    const sha = parseCommitOid(name);
    if (sha === null) throw malformedOutput(command);
    commits.push({ sha, short: sha.slice(0, 7), author, at: Number(seconds) * 1000, subject });
  }
  return commits;
}

/**
 * Those of the range that the remote ref does not reach. To leave out more never changes the order of what is left, so that the first
 * ones of the range that are not pushed are among the first ones here.
 */
async function findUnpushed(
  capability: RepositoryCapability,
  git: GitRunner,
  range: CommitRange,
  { head, remote }: ComparedHead,
  signal?: AbortSignal,
): Promise<ReadonlySet<string> | Everything | 'unknown'> {
  if (remote.state === 'unknown') return 'unknown';
  if (remote.commit === null || range.excluded.includes(remote.commit)) return everything;
  if (remote.commit === head) return new Set();
  const command = readCommands.commitNames(pinnedPlace(capability), {
    ...range,
    excluded: [...range.excluded, remote.commit],
  });
  try {
    const output = await runExpecting(git, command, signal);
    return new Set(output.toString('latin1').split('\n'));
  } catch (error) {
    // A history with holes: the rest of the answer stands.
    if (isAuthorityError(error) && error.code === 'git_failed') return 'unknown';
    throw error;
  }
}

interface Everything {
  has(sha: string): boolean;
}

const everything: Everything = { has: () => true };
