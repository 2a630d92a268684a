import type { GitCommand } from './run-git.ts';

/** A lock that stands, and what a person may do about it. */
export interface StandingLock {
  /** Path below one of the two Git directories; the first is that of the checkout. */
  readonly remove: string;
  readonly below: 'git dir' | 'common dir';
  readonly once: 'no Git runs in the repository';
}

export function standingLock(remove: string, below: StandingLock['below']): StandingLock {
  return { remove, below, once: 'no Git runs in the repository' };
}

/** Which lock a command could not take, as lockfile.c of Git says it; null when that does not tell. */
export function findStandingLock(
  { environment }: Pick<GitCommand, 'environment'>,
  said: string,
): StandingLock | null {
  const path = /Unable to create '(.+\.lock)': File exists/.exec(said)?.[1];
  if (path === undefined) return null;
  const { GIT_DIR: own = '' } = environment;
  if (own !== '' && path.startsWith(`${own}/`)) return standingLock(path.slice(own.length + 1), 'git dir');
  // Git resolves the path of the common directory (setup.c), so that it is known by its end only.
  const ref = /cannot lock ref '(refs\/[^\n]+?)': /.exec(said)?.[1];
  const shared = [...(ref === undefined ? [] : [`${ref}.lock`]), 'packed-refs.lock'];
  const name = shared.find((candidate) => path.endsWith(`/${candidate}`));
  return name === undefined ? null : standingLock(name, 'common dir');
}
