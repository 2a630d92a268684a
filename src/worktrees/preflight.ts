import type { FileCapability } from '../capability/file-capability.ts';
import type { ManagedWorktreeCapability } from '../capability/managed-worktree-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import type { StandingOperation } from '../git/operation-state.ts';
import { directoryOf } from '../sessions/occupied-directory.ts';
import { findProcessesInside } from '../sessions/processes-inside.ts';
import type { Occupant } from '../sessions/session-survey.ts';
import type { ArchiveContext } from './archive-context.ts';
import type { UnsentCommits } from './preflight-commits.ts';
import { surveyWorktree, type WorktreeSurvey } from './preflight-survey.ts';

/** Some files: how many, and the first of them by Git's order. */
export interface FileNames {
  readonly count: number;
  /** At most 200; undecodable bytes are shown as U+FFFD. */
  readonly paths: readonly string[];
}

/** What no force covers. */
export type Blocker = 'session' | 'locked' | 'index-locked' | 'repositories' | 'mounts' | 'unborn';

/** What would be gone with a worktree, if it were archived now. */
export interface Preflight {
  /** Canonical path. */
  readonly path: string;
  /** Short name; null on a detached HEAD. */
  readonly branch: string | null;
  readonly head: string | null;
  /** Stands for exactly this state; an archive that is given it archives this state or nothing. */
  readonly token: string;
  /** Whether an archive needs neither force nor token: nothing of all below is there, but what is in the way. */
  readonly safe: boolean;
  readonly blockers: readonly Blocker[];
  readonly staged: FileNames;
  readonly unstaged: FileNames;
  readonly untracked: FileNames;
  readonly ignored: FileNames;
  /** Tracked files that Git was told not to look at. */
  readonly hidden: FileNames;
  /** Repositories of their own inside, which are never archived. */
  readonly repositories: FileNames;
  /** Other file systems mounted inside, which are never entered. */
  readonly mounts: FileNames;
  readonly unpushed: UnsentCommits['unpushed'];
  readonly unreachable: UnsentCommits['unreachable'];
  readonly operation: StandingOperation;
  readonly locks: WorktreeSurvey['locks'];
  readonly occupants: readonly Occupant[];
  /** Processes of this user whose working directory is inside. */
  readonly processes: { readonly inside: readonly number[]; readonly unreadable: number };
}

const namedAtMost = 200;

/**
 * Says what an archive of a managed worktree would destroy, and changes nothing.
 * @throws as `Authority.authorizeRepository` | `worktree_not_managed` | `session_guard_unavailable` | as `surveyWorktree`
 */
export async function preflight(
  context: ArchiveContext,
  selector: string,
  signal?: AbortSignal,
): Promise<Preflight> {
  await using capability = await context.authority.authorizeRepository(selector, signal);
  const managed = requireManaged(capability);
  const answer = await describeWorktree(context, managed, signal);
  await capability.assertCurrent(signal);
  return answer;
}

/** R33: what is only linked is never taken away. @throws `worktree_not_managed` */
export function requireManaged(capability: FileCapability): ManagedWorktreeCapability {
  if (capability.kind === 'managed-worktree') return capability as ManagedWorktreeCapability;
  throw new AuthorityError('worktree_not_managed', { details: { reason: 'not-managed' } });
}

async function describeWorktree(
  context: ArchiveContext,
  capability: ManagedWorktreeCapability,
  signal?: AbortSignal,
): Promise<Preflight> {
  const survey = await surveyWorktree(context, capability, { signal });
  const directory = directoryOf(capability);
  const occupants = await (await context.occupation.survey(signal)).occupants(directory);
  const processes = await findProcessesInside(directory);
  return describeSurvey(capability.root, survey, { occupants, processes });
}

/** Who is in a worktree. */
export type Inhabitants = Pick<Preflight, 'occupants' | 'processes'>;

export function describeSurvey(path: string, survey: WorktreeSurvey, inhabitants: Inhabitants): Preflight {
  const { head, records, hidden, repositories, mounts, commits, operation, locks, token } = survey;
  const of = (accepts: (record: (typeof records)[number]) => boolean): FileNames =>
    names(
      records.filter((record) => accepts(record) && !record.path.endsWith('/')).map((record) => record.path),
    );
  const isTracked = ({ kind }: (typeof records)[number]) => kind === 'changed' || kind === 'unmerged';
  return {
    path,
    branch: head.branch?.slice('refs/heads/'.length) ?? null,
    head: head.commit,
    token,
    safe: isSafe(survey, inhabitants),
    blockers: blockersOf(survey, inhabitants),
    staged: of((record) => isTracked(record) && record.staged !== '.'),
    unstaged: of((record) => isTracked(record) && record.unstaged !== '.'),
    untracked: of(({ kind }) => kind === 'untracked'),
    ignored: of(({ kind }) => kind === 'ignored'),
    hidden: names(hidden),
    repositories: names(repositories),
    mounts: names(mounts),
    unpushed: commits.unpushed,
    unreachable: commits.unreachable,
    operation,
    locks,
    ...inhabitants,
  };
}

/** Whether nothing would be lost and nobody disturbed. A detached HEAD needs a word of consent as well (wire contract 6). */
function isSafe(survey: WorktreeSurvey, { processes }: Inhabitants): boolean {
  const { head, commits } = survey;
  return (
    !isDirty(survey) &&
    head.branch !== null &&
    commits.unpushed.count === 0 &&
    commits.unreachable.count === 0 &&
    processes.inside.length + processes.unreadable === 0
  );
}

/** Whether there is anything that is in no commit. */
export function isDirty({ records, hidden, operation }: WorktreeSurvey): boolean {
  return records.length + hidden.length > 0 || operation !== null;
}

function blockersOf(
  { head, locks, repositories, mounts }: WorktreeSurvey,
  { occupants }: Inhabitants,
): readonly Blocker[] {
  const found: readonly (readonly [Blocker, boolean])[] = [
    ['session', occupants.length > 0],
    ['locked', locks.worktree],
    ['index-locked', locks.index],
    ['repositories', repositories.length > 0],
    ['mounts', mounts.length > 0],
    ['unborn', head.commit === null],
  ];
  return found.flatMap(([blocker, holds]) => (holds ? [blocker] : []));
}

function names(latin1Paths: readonly string[]): FileNames {
  const paths = latin1Paths.slice(0, namedAtMost).map((path) => Buffer.from(path, 'latin1').toString('utf8'));
  return { count: latin1Paths.length, paths };
}
