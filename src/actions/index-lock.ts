import type { RepositoryCapability } from '../capability/repository-capability.ts';
import { AuthorityError, isAuthorityError } from '../errors/index.ts';
import { standingLock } from '../git/lock-file.ts';
import { isIndexLocked } from '../git/operation-state.ts';

/** A person's own Git holds the index for milliseconds; a dead one for ever. */
const patienceMs = 2000;
const pauseMs = 20;

/**
 * Tries a command again while somebody holds the lock of the index, for some seconds at most. The lock is never broken: it has no owner
 * whose death could be proven.
 * @throws `repository_locked` (details.what `index`, details.recovery) | what the command throws
 */
export async function whileLocked<Result>(
  capability: RepositoryCapability,
  run: () => Promise<Result>,
): Promise<Result> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      if (await isIndexLocked(capability)) throw indexLocked();
      return await run();
    } catch (error) {
      if (!isLock(error) || performance.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

export function indexLocked(): AuthorityError {
  return new AuthorityError('repository_locked', {
    details: { what: 'index', recovery: standingLock('index.lock', 'git dir') },
  });
}

function isLock(error: unknown): boolean {
  return isAuthorityError(error) && error.code === 'repository_locked' && error.details['what'] === 'index';
}
