import { AuthorityError } from '../errors/index.ts';
import { type CommitMessage, parseCommitMessage } from '../git/values.ts';

/** What a merge commit says, as `git merge` puts it. Names of refs hold no newline. */
export function mergeMessage(
  kind: 'branch' | 'remote-tracking branch' | 'commit',
  theirs: string,
  into: string,
): CommitMessage {
  const message = parseCommitMessage(`Merge ${kind} '${theirs}' into ${into}\n`);
  if (message === null) throw new AuthorityError('internal_error');
  return message;
}

/** `refs/heads/x` as people call it; other refs lose only `refs/remotes/`. */
export function shortName(ref: string): string {
  return ref.replace(/^refs\/(?:heads|remotes)\//, '');
}
