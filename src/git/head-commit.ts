import { codeOf } from '../capability/refusal.ts';
import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { lineOf, runExpectingOrNone } from './expect-success.ts';
import type { Head } from './head.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import { type RefTip, readRefTips } from './ref-tips.ts';
import type { GitRunner } from './run-git.ts';
import { readSymbolicFile } from './symbolic-file.ts';
import { type CommitOid, parseCommitOid, parseRefName, type RefName } from './values.ts';

/**
 * The commit that is checked out. Null only on a branch that is not born: HEAD names it, and there is no ref of that name. A HEAD that
 * leads to no commit for another reason is broken, and no answer.
 * @throws `git_failed` (details.reason also: `broken-head`) | `aborted` | `shutting_down`
 */
export async function readHeadCommit(
  capability: RepositoryCapability,
  git: GitRunner,
  signal?: AbortSignal,
): Promise<CommitOid | null> {
  const command = readCommands.resolveCommit(pinnedPlace(capability), 'HEAD');
  const oid = parseCommitOid(lineOf(await runExpectingOrNone(git, command, signal)));
  if (oid !== null) return oid;
  const ref = refOf(await readSymbolicFile(capability.repository.gitDirectory, 'HEAD'));
  if (ref === null) throw brokenHead();
  return commitOrUnborn(capability, git, ref, signal);
}

/**
 * Where the branch leads that HEAD names; null when nothing is there, neither a ref nor a file in its place that Git cannot read.
 * @throws as `readHeadCommit`
 */
export async function commitOrUnborn(
  capability: RepositoryCapability,
  git: GitRunner,
  ref: RefName,
  signal?: AbortSignal,
): Promise<CommitOid | null> {
  // Before Git looks: a branch that is born meanwhile is then seen by Git, too.
  const isInPlace = await hasFile(capability, ref);
  const tip = await readTip(capability, git, ref, signal);
  if (tip === undefined && !isInPlace) return null;
  if (tip === undefined || tip.commit === null) throw brokenHead();
  return tip.commit;
}

/** HEAD leads to no commit, and not because its branch is still to be born. */
export function brokenHead(cause?: unknown): AuthorityError {
  return new AuthorityError('git_failed', { details: { command: 'head', reason: 'broken-head' }, cause });
}

/** Null as well for a name that is not UTF-8: Git cannot be asked about it by name. */
function refOf(head: Head | null): RefName | null {
  if (head?.kind !== 'symbolic') return null;
  const bytes = Buffer.from(head.ref, 'latin1');
  const name = bytes.toString('utf8');
  return Buffer.from(name, 'utf8').equals(bytes) ? parseRefName(name) : null;
}

/** Whether anything but a directory has the name of the ref. Git passes over a link that leads nowhere without a word. */
async function hasFile({ repository }: RepositoryCapability, ref: RefName): Promise<boolean> {
  try {
    return (await repository.commonDirectory.stat(ref, null)).type !== 'directory';
  } catch (error) {
    return codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR';
  }
}

async function readTip(
  capability: RepositoryCapability,
  git: GitRunner,
  ref: RefName,
  signal?: AbortSignal,
): Promise<RefTip | undefined> {
  try {
    return (await readRefTips(capability, git, [ref], signal)).get(ref);
  } catch (error) {
    // Git cannot read the ref, or ends at an object that is not there.
    const reasons: readonly unknown[] = ['broken-ref', 'exit-status'];
    if (!isAuthorityError(error) || !reasons.includes(error.details['reason'])) throw error;
    throw brokenHead(error);
  }
}
