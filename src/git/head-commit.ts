import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { runExpecting, runExpectingOrNone } from './expect-success.ts';
import { pinnedPlace } from './pinned-place.ts';
import { proofCommands } from './proof-commands.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import { readSymbolicFile } from './symbolic-file.ts';
import { type CommitOid, parseCommitOid } from './values.ts';

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
  const place = pinnedPlace(capability);
  const command = readCommands.resolveCommit(place, 'HEAD');
  const oid = parseCommitOid(lineOf(await runExpectingOrNone(git, command, signal)));
  if (oid !== null) return oid;
  const head = await readSymbolicFile(capability.repository.gitDirectory, 'HEAD');
  const broken = new AuthorityError('git_failed', {
    details: { command: command.name, reason: 'broken-head' },
  });
  if (head?.kind !== 'symbolic') throw broken;
  const existing = await runExpecting(git, proofCommands.existingRefs(place, [head.ref]), signal);
  if (existing.toString('latin1').split('\n').includes(head.ref)) throw broken;
  return null;
}

/** The line that a command prints, without its end; empty when it printed nothing. */
export function lineOf(output: Buffer | null): string {
  return output?.toString('latin1').trimEnd() ?? '';
}
