import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError } from '../errors/index.ts';
import { malformedOutput, runSuccessfully } from './expect-success.ts';
import { pinnedPlace } from './pinned-place.ts';
import { readCommands } from './read-commands.ts';
import type { GitRunner } from './run-git.ts';
import { type CommitOid, parseCommitOid, parseRefName, type RefName } from './values.ts';

/** Where a ref leads. */
export interface RefTip {
  /** Through an annotated tag; null when it leads to something that is no commit. */
  readonly commit: CommitOid | null;
  /** Full name of the ref that remembers the configured upstream; null when there is none, or it is not UTF-8. It need not exist. */
  readonly upstream: RefName | null;
}

/**
 * Looks up refs by their full names, all in one process; those that do not exist are missing from the answer. No name is ever completed:
 * a tag of a branch's name is another ref (W39).
 * @throws `git_failed` (details.reason also `broken-ref`: one is there and cannot be read, which is not the same as absent) | `aborted` | `shutting_down`
 */
export async function readRefTips(
  capability: RepositoryCapability,
  git: GitRunner,
  refs: readonly RefName[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<RefName, RefTip>> {
  const tips = new Map<RefName, RefTip>();
  if (refs.length === 0) return tips;
  const command = readCommands.refTips(pinnedPlace(capability), refs);
  const { stdout, stderr } = await runSuccessfully(git, command, signal);
  const wanted = new Set<string>(refs);
  for (const broken of brokenRefs(stderr)) {
    if (!wanted.has(broken)) continue;
    const details = { command: command.name, reason: 'broken-ref' };
    throw new AuthorityError('git_failed', { details, cause: stderr.toString('utf8') });
  }
  for (const line of stdout.toString('utf8').split('\n').slice(0, -1)) {
    const [name, oid, type, peeledOid, peeledType, upstream, ...rest] = line.split('\0');
    if (upstream === undefined || rest.length > 0) throw malformedOutput(command);
    // Refs below the name are printed as well.
    if (!wanted.has(name ?? '')) continue;
    const commit = type === 'commit' ? oid : peeledType === 'commit' ? peeledOid : undefined;
    tips.set(name as RefName, { commit: parseCommitOid(commit ?? ''), upstream: parseRefName(upstream) });
  }
  return tips;
}

/** Refs that Git leaves out of its list with a warning, which is English by the environment of every command. */
function brokenRefs(stderr: Buffer): readonly string[] {
  return [...stderr.toString('utf8').matchAll(/^warning: ignoring broken ref (.*)$/gm)].flatMap(
    ([, ref]) => ref ?? [],
  );
}
