import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { type BaseRevision, parseBaseRevision, resolveBase } from './base-revision.ts';
import { readBranchFacts } from './branch-facts.ts';
import type { ClearedPlace } from './cleared-place.ts';
import type { ConfigurationGate } from './configuration-gate.ts';
import { DiffBudget, type DiffFile, type DiffLimits, diffLimits } from './diff-file.ts';
import { inDiffOrder } from './diff-order.ts';
import { type DiffMode, type DiffQuery, type DiffRequest, parseDiffQuery } from './diff-query.ts';
import { readDiffOutput } from './diff-reader.ts';
import { type EmptyTree, emptyTreeOf, readEmptyTree } from './empty-tree.ts';
import { malformedOutput, runExpecting, unexpectedStatus } from './expect-success.ts';
import { findCommit } from './find-commit.ts';
import { readHeadCommit } from './head-commit.ts';
import { findMergeBase } from './merge-base.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import { readUntrackedFile } from './untracked-files.ts';
import { UntrackedReader } from './untracked-names.ts';
import type { UserConfiguration } from './user-configuration.ts';
import { type CommitOid, parseCommitOid } from './values.ts';

export interface ComparedRefs {
  /** The commit that is compared with, or the empty tree. */
  readonly baseRef: string;
  /** The commit that is compared; null for the files as they are. */
  readonly targetRef: string | null;
  /** `uncommitted`, `task:<base>`, `base:<name>`, or `base:?` when nothing tells what the base is. */
  readonly label: string;
}

export interface ModeDiff {
  readonly mode: DiffMode;
  readonly refs: ComparedRefs;
  /** Directories before files on each level, then by name. */
  readonly files: readonly DiffFile[];
  /** Whether files that would be shown by themselves are `too_large` because the whole diff is. */
  readonly tooLarge: boolean;
  /** Untracked files and repositories that are not listed. */
  readonly untrackedOmitted: number;
  /** Repositories of their own that lie untracked in the work tree; nothing in them is shown. */
  readonly nestedRepositories: readonly string[];
}

/** What one commit changed: against its first parent, or against nothing. */
export interface CommitDiff {
  readonly sha: string;
  readonly isMerge: boolean;
  readonly isRoot: boolean;
  readonly files: readonly DiffFile[];
  readonly tooLarge: boolean;
}

/** What a managed worktree was created from. */
export interface TaskOrigin {
  readonly baseOid: string | null;
  readonly baseName: string | null;
}

export interface DiffContext {
  readonly git: GitRunner;
  readonly configuration: ConfigurationGate;
  /** What the server's user has set; without it no ignore file of a user counts. */
  readonly user?: (signal?: AbortSignal) => Promise<Pick<UserConfiguration, 'excludesFile'>>;
  /** Null for what is not a managed worktree. */
  readonly origin: TaskOrigin | null;
  readonly limits?: DiffLimits;
}

type Compared = Omit<ModeDiff, 'mode' | 'refs'>;

interface Prepared {
  readonly place: ClearedPlace<'work-tree'>;
  readonly excludes: { readonly excludesFile?: string };
}

/**
 * Compares without taking a lock or running a program. Refs are followed once, to commits. The files are read while it compares: who writes
 * them meanwhile may be seen in some and not in others.
 * @throws `invalid_diff_mode` | `invalid_base_revision` | `invalid_commit_oid` | `invalid_diff_path` | `commit_not_found` | `task_base_missing` |
 *   `invalid_stored_base_revision` | `untrusted_repository_config` | `git_failed` | `aborted` | `shutting_down`
 */
export async function readDiff(
  capability: RepositoryCapability,
  context: DiffContext,
  query: DiffQuery,
  signal?: AbortSignal,
): Promise<ModeDiff | CommitDiff> {
  return new Comparison(capability, context, parseDiffQuery(query), signal).answer();
}

/** One request, and what each of its steps needs. */
class Comparison {
  readonly #capability: RepositoryCapability;
  readonly #context: DiffContext;
  readonly #request: DiffRequest;
  readonly #signal: AbortSignal | undefined;
  readonly #limits: DiffLimits;
  readonly #budget: DiffBudget;

  constructor(
    capability: RepositoryCapability,
    context: DiffContext,
    request: DiffRequest,
    signal: AbortSignal | undefined,
  ) {
    this.#capability = capability;
    this.#context = context;
    this.#request = request;
    this.#signal = signal;
    this.#limits = context.limits ?? diffLimits;
    this.#budget = new DiffBudget(this.#limits);
  }

  async answer(): Promise<ModeDiff | CommitDiff> {
    const { commit, mode } = this.#request;
    if (commit !== null) return this.#commit(commit);
    if (mode === 'base') return { mode, ...(await this.#base()) };
    if (mode === 'task') return { mode, ...(await this.#task()) };
    const [baseRef, prepared] = await bothEnded([this.#headOrNothing(), this.#prepare()]);
    const refs = { baseRef, targetRef: null, label: 'uncommitted' };
    return { mode, refs, ...(await this.#workTree(baseRef, prepared)) };
  }

  async #commit(sha: CommitOid): Promise<CommitDiff> {
    const command = readCommands.commits(pinnedPlace(this.#capability), { tip: sha, excluded: [], limit: 1 });
    const [found, said] = await Promise.allSettled([
      this.#existing(sha),
      runExpecting(this.#context.git, command, this.#signal),
    ]);
    if (found.status === 'rejected') throw found.reason;
    // A tag leads to a commit and is none.
    if (found.value !== sha) throw new AuthorityError('commit_not_found');
    if (said.status === 'rejected') throw said.reason;
    const fields = said.value.toString('utf8').split('\0');
    const parents = (fields[1] ?? '')
      .split(' ')
      .filter((text) => text !== '')
      .map(parseCommitOid);
    if (fields[0] !== sha || parents.includes(null)) throw malformedOutput(command);
    const files = await this.#commits(parents[0] ?? emptyTreeOf(sha), sha);
    const isRoot = parents.length === 0;
    return { sha, isMerge: parents.length > 1, isRoot, files, tooLarge: this.#budget.exceeded };
  }

  async #base(): Promise<Omit<ModeDiff, 'mode'>> {
    const base = this.#request.base ?? (await this.#usualBase());
    const resolved = base && (await resolveBase(this.#capability, this.#context.git, base, this.#signal));
    const head = await this.#head();
    const label = `base:${resolved?.label ?? '?'}`;
    if (head === null) {
      const baseRef = await this.#emptyTree();
      return { refs: { baseRef, targetRef: null, label }, ...this.#compared([]) };
    }
    const baseRef = resolved === null ? emptyTreeOf(head) : await this.#mergeBase(resolved.oid, head);
    if (baseRef === null) {
      throw new AuthorityError('invalid_base_revision', { details: { reason: 'no-common-ancestor' } });
    }
    const files = await this.#commits(baseRef, head);
    return { refs: { baseRef, targetRef: head, label }, ...this.#compared(files) };
  }

  /** What is compared with when nobody says. */
  async #usualBase(): Promise<BaseRevision | null> {
    const { origin, git } = this.#context;
    const name =
      origin?.baseName ?? (await readBranchFacts(this.#capability, git, this.#signal)).defaultBranch;
    return name === null ? null : parseBaseRevision(name);
  }

  async #task(): Promise<Omit<ModeDiff, 'mode'>> {
    const { baseOid = null, baseName = null } = this.#context.origin ?? {};
    if (baseOid === null) throw taskBaseMissing('not-recorded');
    const stored = parseCommitOid(baseOid);
    if (stored === null) throw new AuthorityError('invalid_stored_base_revision');
    const [base, head] = await bothEnded([this.#existing(stored), this.#head()]);
    if (base === null) throw taskBaseMissing('not-found');
    const baseRef = head === null ? null : await this.#mergeBase(base, head);
    if (baseRef === null) throw taskBaseMissing('no-common-ancestor');
    const refs = { baseRef, targetRef: null, label: `task:${baseName ?? base}` };
    return { refs, ...(await this.#workTree(baseRef, await this.#prepare())) };
  }

  #head(): Promise<CommitOid | null> {
    return readHeadCommit(this.#capability, this.#context.git, this.#signal);
  }

  async #headOrNothing(): Promise<CommitOid | EmptyTree> {
    return (await this.#head()) ?? (await this.#emptyTree());
  }

  #existing(oid: CommitOid): Promise<CommitOid | null> {
    return findCommit(this.#capability, this.#context.git, oid, this.#signal);
  }

  #mergeBase(base: CommitOid, head: CommitOid): Promise<CommitOid | null> {
    return findMergeBase(this.#capability, this.#context.git, base, head, this.#signal);
  }

  #emptyTree(): Promise<EmptyTree> {
    return readEmptyTree(this.#capability, this.#context.git, this.#signal);
  }

  async #commits(from: CommitOid | EmptyTree, to: CommitOid): Promise<DiffFile[]> {
    const command = readCommands.diffCommits(pinnedPlace(this.#capability), from, to, this.#request.options);
    const files = await readDiffOutput(this.#context.git, command, this.#budget, this.#signal);
    return inDiffOrder(files);
  }

  /** What tells how the files as they are may be compared. */
  async #prepare(): Promise<Prepared> {
    const { configuration, user } = this.#context;
    const [ofUser, place] = await bothEnded([
      Promise.resolve(user?.(this.#signal)),
      configuration.clear(this.#capability, 'work-tree', this.#signal),
    ]);
    return { place, excludes: ofUser === undefined ? {} : { excludesFile: ofUser.excludesFile } };
  }

  /** The files as they are. Tracked ones come first where not all can be shown. */
  async #workTree(from: CommitOid | EmptyTree, { place, excludes }: Prepared): Promise<Compared> {
    const { git } = this.#context;
    const { options } = this.#request;
    const names = new UntrackedReader(this.#limits.untrackedFiles);
    const listing = readCommands.untracked(place, { ...options, ...excludes });
    const [tracked, listed] = await bothEnded([
      readDiffOutput(git, readCommands.diffWorkTree(place, from, options), this.#budget, this.#signal),
      git.stream(listing, (chunk) => names.push(chunk), this.#signal),
    ]);
    if (listed.exitCode !== 0) throw unexpectedStatus(listing, listed.exitCode, listed.stderr);
    const untracked = names.finish();
    if (untracked === null) throw malformedOutput(listing);
    const added: DiffFile[] = [];
    for (const name of untracked.files) {
      if (this.#signal?.aborted) throw new AuthorityError('aborted', { cause: this.#signal.reason });
      const file = await readUntrackedFile(this.#capability.held, name, this.#budget);
      if (file !== null) added.push(file);
    }
    return {
      ...this.#compared(inDiffOrder([...tracked, ...added])),
      untrackedOmitted: untracked.omitted,
      nestedRepositories: untracked.repositories.map((name) => Buffer.from(name, 'latin1').toString('utf8')),
    };
  }

  #compared(files: readonly DiffFile[]): Compared {
    return { files, tooLarge: this.#budget.exceeded, untrackedOmitted: 0, nestedRepositories: [] };
  }
}

function taskBaseMissing(reason: string): AuthorityError {
  return new AuthorityError('task_base_missing', { details: { reason } });
}

/** A process never outlives the capability whose handles it was started on, so the second one is waited for when the first fails. */
async function bothEnded<One, Other>(work: readonly [Promise<One>, Promise<Other>]): Promise<[One, Other]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
